package workflow;

import io.quarkus.runtime.annotations.RegisterForReflection;
import java.util.List;

/** A workflow as it is stored and cached: its scenes, in the order in which they run. */
@RegisterForReflection
public record Workflow(String name, List<Scene> scenes) {

  /** A script that defines {@code process(context)}. */
  @RegisterForReflection
  public record Scene(String code, String script) {}
}
