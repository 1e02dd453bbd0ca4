package workflow;

import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.graalvm.polyglot.Context;
import org.graalvm.polyglot.Engine;
import org.graalvm.polyglot.HostAccess;
import org.graalvm.polyglot.PolyglotException;
import org.graalvm.polyglot.Source;
import org.graalvm.polyglot.TypeLiteral;
import org.graalvm.polyglot.proxy.ProxyObject;
import workflow.ExecutionAnswer.SceneResult;
import workflow.host.AesHolder;
import workflow.host.CodingHolder;
import workflow.host.DateHolder;
import workflow.host.HashingHolder;
import workflow.host.RandomHolder;
import workflow.host.RsaHolder;
import workflow.host.ScriptLog;
import workflow.host.UuidHolder;

/**
 * Runs scripts in pooled GraalJS contexts. A context may be used by one thread at a time and is costly to
 * make, so it is kept; there are never more than the executor has threads. They share an engine, and with
 * it the parsed scripts.
 */
@ApplicationScoped
class ScriptRunner {
  private static final String JS = "js";
  private static final TypeLiteral<Map<String, Object>> VALUE_MAP = new TypeLiteral<>() {};

  /** What a script sees of the host, stateless and shared by all contexts. */
  private static final Map<String, Object> HOST_OBJECTS =
      Map.of(
          "dateHolder", new DateHolder(),
          "codingHolder", new CodingHolder(),
          "hashingHolder", new HashingHolder(),
          "aesHolder", new AesHolder(),
          "rsaHolder", new RsaHolder(),
          "randomHolder", new RandomHolder(),
          "uuidHolder", new UuidHolder(),
          "log", new ScriptLog());

  // On a JVM without Graal's compiler scripts are interpreted; --version says so, no need to at each start.
  private final Engine engine =
      Engine.newBuilder().option("engine.WarnInterpreterOnly", "false").build();

  private final ConcurrentLinkedDeque<Context> idle = new ConcurrentLinkedDeque<>();

  /** One result a scene; a script that throws is a result without success, not an exception. */
  List<SceneResult> run(Workflow workflow, ExecutionRequest request) {
    var kept = idle.poll();
    var context = kept == null ? newContext() : kept;
    try {
      var results = new ArrayList<SceneResult>(workflow.scenes().size());
      for (var scene : workflow.scenes()) {
        results.add(run(context, scene, request));
      }
      return results;
    } finally {
      idle.push(context);
    }
  }

  private static SceneResult run(Context context, Workflow.Scene scene, ExecutionRequest request) {
    var source = Source.newBuilder(JS, scene.script(), scene.code() + ".js").buildLiteral();
    var input = Map.of("requestId", request.requestId(), "args", ProxyObject.fromMap(request.args()));
    context.enter();
    try {
      context.eval(source);
      var process = context.getBindings(JS).getMember("process");
      var values = process.execute(ProxyObject.fromMap(new LinkedHashMap<>(input)));
      // Copied, for a value of a context must not be read once another thread has it.
      return new SceneResult(scene.code(), true, new LinkedHashMap<>(values.as(VALUE_MAP)), "");
    } catch (PolyglotException e) {
      return new SceneResult(scene.code(), false, Map.of(), e.getMessage());
    } finally {
      context.leave();
    }
  }

  private Context newContext() {
    // Scripts reach what @HostAccess.Export marks, and nothing else of the host.
    var context = Context.newBuilder(JS).engine(engine).allowHostAccess(HostAccess.EXPLICIT).build();
    HOST_OBJECTS.forEach(context.getBindings(JS)::putMember);
    return context;
  }

  @PreDestroy
  void close() {
    engine.close(true);
  }
}
