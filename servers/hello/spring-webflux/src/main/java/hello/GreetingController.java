package hello;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

@RestController
class GreetingController {
  private final Mono<String> greeting;

  GreetingController(@Value("${hello.greeting}") String greeting) {
    this.greeting = Mono.just(greeting);
  }

  @GetMapping(path = "/", produces = "text/plain;charset=utf-8")
  Mono<String> greet() {
    return greeting;
  }
}
