package workflow;

import static workflow.ExecutionAnswer.Status.FAILED;
import static workflow.ExecutionAnswer.Status.NOT_FOUND;
import static workflow.ExecutionAnswer.Status.REJECTED;
import static workflow.ExecutionAnswer.Status.SUCCESS;
import static workflow.ExecutionAnswer.Status.TIMEOUT;

import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jboss.logging.Logger;
import workflow.ExecutionAnswer.Data;
import workflow.ExecutionAnswer.SceneResult;

/**
 * Runs workflows on a fixed number of threads, with a bounded queue before them.
 *
 * <p>The places, of threads and queue together, are counted here and not by a bounded queue: a thread of the JDK's
 * pool hands over a result before it takes the next execution, so that a caller back at once could find the
 * queue still full. Here the place is free before the result can be seen.
 */
@ApplicationScoped
class Executions {
  private static final Logger LOG = Logger.getLogger(Executions.class);

  private final WorkflowRepository workflows;
  private final ScriptRunner scripts;
  private final ExecutorService executor;
  private final Semaphore places;

  Executions(
      WorkflowRepository workflows,
      ScriptRunner scripts,
      @ConfigProperty(name = "workflow.executor.threads") int threads,
      @ConfigProperty(name = "workflow.executor.queue") int queue) {
    this.workflows = workflows;
    this.scripts = scripts;
    this.executor = Executors.newFixedThreadPool(threads);
    this.places = new Semaphore(threads + queue);
  }

  ExecutionAnswer execute(ExecutionRequest request) {
    var id = request.requestId();
    var future = new CompletableFuture<List<SceneResult>>();
    try {
      var workflow = workflows.find(request.scenesCodes());
      if (workflow.isEmpty()) {
        return ExecutionAnswer.of(NOT_FOUND, id, "no such workflow", null);
      }
      if (!places.tryAcquire()) {
        return ExecutionAnswer.of(REJECTED, id, "too many executions wait already", null);
      }
      executor.execute(() -> run(workflow.get(), request, future));
      var results = future.get(request.timeout(), TimeUnit.MILLISECONDS);
      return answer(request, workflow.get(), results);
    } catch (TimeoutException e) {
      // One that still waits is never run; one that runs ends by itself, its answer unread.
      future.cancel(false);
      return ExecutionAnswer.of(TIMEOUT, id, "not done within the request's timeout", null);
    } catch (ExecutionException e) {
      LOG.errorf(e.getCause(), "execution %s failed", id);
      return ExecutionAnswer.of(FAILED, id, "the execution failed", null);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return ExecutionAnswer.of(FAILED, id, "the server is stopping", null);
    } catch (RuntimeException e) {
      // The cache: unreachable, too slow, or its pool exhausted.
      LOG.errorf(e, "workflow of execution %s not found", id);
      return ExecutionAnswer.of(FAILED, id, "the workflow could not be looked up", null);
    }
  }

  /** Frees the execution's place before anybody learns how it ended; one cancelled while it waited is not run. */
  private void run(
      Workflow workflow, ExecutionRequest request, CompletableFuture<List<SceneResult>> future) {
    List<SceneResult> results = null;
    Throwable failure = null;
    try {
      if (!future.isDone()) {
        results = scripts.run(workflow, request);
      }
    } catch (Throwable e) {
      failure = e;
    }
    places.release();
    if (failure == null) {
      future.complete(results);
    } else {
      future.completeExceptionally(failure);
    }
  }

  private static ExecutionAnswer answer(
      ExecutionRequest request, Workflow workflow, List<SceneResult> results) {
    var id = request.requestId();
    var data = new Data(id, results, "workflow " + workflow.name() + " executed");
    if (!request.bestEffort() && !results.stream().allMatch(SceneResult::success)) {
      return ExecutionAnswer.of(FAILED, id, "a scene failed", data);
    }
    return ExecutionAnswer.of(SUCCESS, id, "workflow executed", data);
  }

  @PreDestroy
  void close() {
    executor.shutdownNow();
  }
}
