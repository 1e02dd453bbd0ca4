package workflow;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.quarkus.runtime.QuarkusApplication;
import java.nio.file.Path;

/**
 * Executes one request (a file) without the cache, prints the answer and ends. The JVM archives the
 * classes that it took, so that the next start need not load them one by one.
 */
class Rehearsal implements QuarkusApplication {
  private final ObjectMapper json;
  private final WorkflowStore store;
  private final ScriptRunner scripts;

  Rehearsal(ObjectMapper json, WorkflowStore store, ScriptRunner scripts) {
    this.json = json;
    this.store = store;
    this.scripts = scripts;
  }

  @Override
  public int run(String... args) throws Exception {
    var request = json.readValue(Path.of(args[1]).toFile(), ExecutionRequest.class);
    var workflow = store.find(request.scenesCodes()).orElseThrow();
    System.out.println(json.writeValueAsString(scripts.run(workflow, request)));
    return 0;
  }
}
