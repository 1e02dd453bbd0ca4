package petclinic.vet;

import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;

@Controller
class VetController {

    private final VetRepository vets;

    VetController(VetRepository vets) {
        this.vets = vets;
    }

    @GetMapping("/vets")
    String list(Model model) {
        model.addAttribute("vets", vets.findAllByOrderByLastNameAscFirstNameAscIdAsc());
        return "vets";
    }
}
