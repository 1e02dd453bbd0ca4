package workflow;

import jakarta.enterprise.context.ApplicationScoped;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Keeps the scenes of a folder in memory, each {@code <code>.js}. A database would stand here elsewhere. */
@ApplicationScoped
class EmbeddedWorkflowStore implements WorkflowStore {
  private static final String SUFFIX = ".js";

  private final Map<String, Workflow.Scene> scenes;

  EmbeddedWorkflowStore(@ConfigProperty(name = "workflow.scenes") Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      scenes =
          files
              .filter(file -> file.getFileName().toString().endsWith(SUFFIX))
              .map(EmbeddedWorkflowStore::read)
              .collect(Collectors.toUnmodifiableMap(Workflow.Scene::code, scene -> scene));
    }
  }

  @Override
  public Optional<Workflow> find(List<String> scenesCodes) {
    if (!scenes.keySet().containsAll(scenesCodes)) {
      return Optional.empty();
    }
    var found = scenesCodes.stream().map(scenes::get).toList();
    return Optional.of(new Workflow(String.join("-", scenesCodes), found));
  }

  private static Workflow.Scene read(Path file) {
    var name = file.getFileName().toString();
    try {
      return new Workflow.Scene(
          name.substring(0, name.length() - SUFFIX.length()), Files.readString(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
