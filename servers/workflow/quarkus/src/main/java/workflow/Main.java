package workflow;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;
import java.io.IOException;
import org.graalvm.polyglot.Engine;

@QuarkusMain
public class Main {

  public static void main(String[] args) throws IOException {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.println(version());
      return;
    }
    if (args.length == 2 && args[0].equals("--rehearse")) {
      Quarkus.run(Rehearsal.class, args);
      return;
    }
    Quarkus.run(args);
  }

  /** The versions, and who runs JavaScript: an interpreter, or a compiler where the JVM has Graal's. */
  private static String version() throws IOException {
    try (var engine = Engine.newBuilder().option("engine.WarnInterpreterOnly", "false").build()) {
      return "Quarkus %s, GraalJS %s (%s), Java %s"
          .formatted(
              Quarkus.class.getPackage().getImplementationVersion(),
              graalVersion(),
              engine.getImplementationName(),
              Runtime.version());
    }
  }

  /** As written in GraalVM's jars: Engine.getVersion() knows it only for jars on the module path. */
  private static String graalVersion() throws IOException {
    var resource = "/META-INF/graalvm/org.graalvm.polyglot/version";
    try (var version = Engine.class.getResourceAsStream(resource)) {
      return new String(version.readAllBytes(), UTF_8).strip();
    }
  }
}
