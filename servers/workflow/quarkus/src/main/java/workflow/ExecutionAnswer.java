package workflow;

import java.util.List;
import java.util.Map;

/** The answer of every execution; the HTTP status speaks of the request, {@code code} of the execution. */
public record ExecutionAnswer(
    int code, Status status, String requestId, long timestamp, String message, Data data) {

  /** How an execution ended. */
  public enum Status {
    SUCCESS(200),
    NOT_FOUND(404),
    FAILED(500),
    REJECTED(503),
    TIMEOUT(504);

    private final int code;

    Status(int code) {
      this.code = code;
    }
  }

  /** What the scenes had to say. */
  public record Data(String requestId, List<SceneResult> results, String description) {}

  /** What one scene's script returned, or why it returned nothing. */
  public record SceneResult(
      String scenesCode, boolean success, Map<String, Object> valueMap, String reason) {}

  static ExecutionAnswer of(Status status, String requestId, String message, Data data) {
    return new ExecutionAnswer(
        status.code, status, requestId, System.currentTimeMillis(), message, data);
  }
}
