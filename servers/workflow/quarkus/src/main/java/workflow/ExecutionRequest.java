package workflow;

import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Positive;
import java.util.List;
import java.util.Map;
import org.hibernate.validator.constraints.UUID;

/**
 * What is asked for.
 *
 * @param scenesCodes the scenes of the workflow, in their order
 * @param timeout milliseconds within which the execution must be done, waiting included
 * @param bestEffort whether a scene's failure leaves the others' results standing
 * @param args handed to the scripts
 */
public record ExecutionRequest(
    @NotNull @UUID String requestId,
    @NotBlank String clientId,
    @NotBlank String clientSecret,
    @NotEmpty List<@NotNull @Pattern(regexp = "[A-Za-z0-9_]+") String> scenesCodes,
    @Positive long timeout,
    boolean bestEffort,
    Map<String, Object> args) {

  public ExecutionRequest {
    args = args == null ? Map.of() : args;
  }
}
