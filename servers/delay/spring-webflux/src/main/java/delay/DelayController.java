package delay;

import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;

@RestController
class DelayController {
  private static final Duration DELAY = Duration.ofMillis(3);

  private final WebClient upstream;
  private final String prefix;

  DelayController(WebClient upstream, @Value("${delay.body-prefix}") String prefix) {
    this.upstream = upstream;
    this.prefix = prefix;
  }

  @GetMapping(path = "/test", produces = "text/plain;charset=utf-8")
  Mono<String> test() {
    return upstream.get().uri("/delay").retrieve().bodyToMono(String.class).map(prefix::concat);
  }

  /** An upstream within the same program: the published run's topology. */
  @GetMapping(path = "/delay", produces = "text/plain;charset=utf-8")
  Mono<String> delay() {
    return Mono.delay(DELAY).thenReturn("delay");
  }
}
