package workflow;

import io.smallrye.common.annotation.Blocking;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotNull;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;

@Path("/execute/internal/workflow")
class ExecutionResource {
  private final Executions executions;

  ExecutionResource(Executions executions) {
    this.executions = executions;
  }

  /** Runs the workflow; a request that does not validate is answered with 400 by the framework. */
  @POST
  @Blocking
  public ExecutionAnswer execute(@NotNull @Valid ExecutionRequest request) {
    return executions.execute(request);
  }
}
