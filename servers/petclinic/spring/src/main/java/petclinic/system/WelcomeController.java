package petclinic.system;

import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;

@Controller
class WelcomeController {

    @GetMapping("/")
    String welcome() {
        return "welcome";
    }

    @GetMapping("/oops")
    String oops() {
        throw new IllegalStateException("thrown on purpose, to show what the clinic does then");
    }
}
