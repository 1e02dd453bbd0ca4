package workflow;

import java.util.List;
import java.util.Optional;

/** The primary store of workflows: what is asked when the cache does not know one. */
public interface WorkflowStore {

  /** The workflow of these scenes, or empty if one of them is unknown. */
  Optional<Workflow> find(List<String> scenesCodes);
}
