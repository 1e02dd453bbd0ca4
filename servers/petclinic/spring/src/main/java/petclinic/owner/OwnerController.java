package petclinic.owner;

import jakarta.validation.Valid;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.ui.Model;
import org.springframework.validation.BindingResult;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.ModelAndView;

@Controller
class OwnerController {

    private static final String FORM = "owners/form";

    private final OwnerRepository owners;

    OwnerController(OwnerRepository owners) {
        this.owners = owners;
    }

    @GetMapping("/owners/find")
    String find(Model model) {
        model.addAttribute("lastName", "");
        return "owners/find";
    }

    @GetMapping("/owners")
    ModelAndView list(@RequestParam(defaultValue = "") String lastName) {
        List<Owner> found = owners.findByLastNameStartingWithIgnoreCaseOrderByLastNameAscFirstNameAscIdAsc(lastName);
        return switch (found.size()) {
            case 0 -> new ModelAndView("owners/find").addObject("lastName", lastName).addObject("notFound", true);
            case 1 -> SeeOther.owner(found.get(0).getId());
            default -> new ModelAndView("owners/list", "owners", found);
        };
    }

    @GetMapping("/owners/{ownerId:\\d{1,9}}")
    String show(@PathVariable int ownerId, Model model) {
        model.addAttribute("owner", owner(ownerId));
        return "owners/detail";
    }

    @GetMapping("/owners/new")
    ModelAndView newOwner() {
        return form("New owner", "/owners/find", new OwnerForm());
    }

    @PostMapping("/owners/new")
    ModelAndView add(@Valid @ModelAttribute("form") OwnerForm form, BindingResult result) {
        if (result.hasErrors()) {
            return wrong("New owner", "/owners/find");
        }
        Owner owner = new Owner();
        owner.update(form);
        return SeeOther.owner(owners.save(owner).getId());
    }

    @GetMapping("/owners/{ownerId:\\d{1,9}}/edit")
    ModelAndView edit(@PathVariable int ownerId) {
        return form("Edit owner", "/owners/" + ownerId, OwnerForm.of(owner(ownerId)));
    }

    @PostMapping("/owners/{ownerId:\\d{1,9}}/edit")
    @Transactional
    public ModelAndView change(
            @PathVariable int ownerId, @Valid @ModelAttribute("form") OwnerForm form, BindingResult result) {
        Owner owner = owner(ownerId);
        if (result.hasErrors()) {
            return wrong("Edit owner", "/owners/" + ownerId);
        }
        owner.update(form);
        return SeeOther.owner(ownerId);
    }

    private Owner owner(int ownerId) {
        return owners.findById(ownerId).orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
    }

    private static ModelAndView form(String heading, String back, OwnerForm form) {
        return new ModelAndView(FORM, "heading", heading).addObject("back", back).addObject("form", form);
    }

    private static ModelAndView wrong(String heading, String back) {
        return new ModelAndView(FORM, HttpStatus.UNPROCESSABLE_ENTITY)
                .addObject("heading", heading)
                .addObject("back", back);
    }
}
