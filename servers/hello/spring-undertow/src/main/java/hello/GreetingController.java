package hello;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class GreetingController {
  private final String greeting;

  GreetingController(@Value("${hello.greeting}") String greeting) {
    this.greeting = greeting;
  }

  @GetMapping(path = "/", produces = "text/plain;charset=utf-8")
  String greet() {
    return greeting;
  }
}
