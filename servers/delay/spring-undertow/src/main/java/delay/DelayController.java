package delay;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class DelayController {
  private final HttpClient client;
  private final HttpRequest question;
  private final String prefix;

  DelayController(
      @Value("${delay.upstream-url}") URI upstream,
      @Value("${delay.client-threads}") int threads,
      @Value("${delay.body-prefix}") String prefix) {
    // By itself the client takes a thread for every answer that arrives meanwhile.
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .executor(Executors.newFixedThreadPool(threads))
            .build();
    this.question = HttpRequest.newBuilder(upstream.resolve("/delay")).build();
    this.prefix = prefix;
  }

  /** The worker thread goes back to its pool; the answer is sent when the upstream has answered. */
  @GetMapping(path = "/test", produces = "text/plain;charset=utf-8")
  CompletableFuture<String> test() {
    return client
        .sendAsync(question, BodyHandlers.ofString())
        .thenApply(HttpResponse::body)
        .thenApply(prefix::concat);
  }
}
