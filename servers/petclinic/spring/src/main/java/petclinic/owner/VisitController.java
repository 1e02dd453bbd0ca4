package petclinic.owner;

import jakarta.validation.Valid;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.validation.BindingResult;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.ModelAndView;

@Controller
@RequestMapping("/owners/{ownerId:\\d{1,9}}/pets/{petId:\\d{1,9}}/visits")
class VisitController {

    private static final String FORM = "visits/form";

    private final OwnerRepository owners;

    VisitController(OwnerRepository owners) {
        this.owners = owners;
    }

    /** The owner and the pet that the address names; 404 unless they belong together. */
    private record Subject(Owner owner, Pet pet) {

        Visit visit(int visitId) {
            return pet.visit(visitId).orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
        }
    }

    @GetMapping("/new")
    ModelAndView newVisit(@PathVariable int ownerId, @PathVariable int petId) {
        return form("New visit", subject(ownerId, petId), new VisitForm());
    }

    @PostMapping("/new")
    @Transactional
    public ModelAndView add(
            @PathVariable int ownerId,
            @PathVariable int petId,
            @Valid @ModelAttribute("form") VisitForm form,
            BindingResult result) {
        Subject subject = subject(ownerId, petId);
        if (result.hasErrors()) {
            return wrong("New visit", subject);
        }
        Visit visit = new Visit();
        visit.update(form);
        subject.pet().add(visit);
        return SeeOther.owner(ownerId);
    }

    @GetMapping("/{visitId:\\d{1,9}}/edit")
    ModelAndView edit(@PathVariable int ownerId, @PathVariable int petId, @PathVariable int visitId) {
        Subject subject = subject(ownerId, petId);
        return form("Edit visit", subject, VisitForm.of(subject.visit(visitId)));
    }

    @PostMapping("/{visitId:\\d{1,9}}/edit")
    @Transactional
    public ModelAndView change(
            @PathVariable int ownerId,
            @PathVariable int petId,
            @PathVariable int visitId,
            @Valid @ModelAttribute("form") VisitForm form,
            BindingResult result) {
        Subject subject = subject(ownerId, petId);
        Visit visit = subject.visit(visitId);
        if (result.hasErrors()) {
            return wrong("Edit visit", subject);
        }
        visit.update(form);
        return SeeOther.owner(ownerId);
    }

    private Subject subject(int ownerId, int petId) {
        return owners.findById(ownerId)
                .flatMap(owner -> owner.pet(petId).map(pet -> new Subject(owner, pet)))
                .orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
    }

    private static ModelAndView form(String heading, Subject subject, VisitForm form) {
        return about(new ModelAndView(FORM), heading, subject).addObject("form", form);
    }

    private static ModelAndView wrong(String heading, Subject subject) {
        return about(new ModelAndView(FORM, HttpStatus.UNPROCESSABLE_ENTITY), heading, subject);
    }

    private static ModelAndView about(ModelAndView page, String heading, Subject subject) {
        return page.addObject("heading", heading)
                .addObject("owner", subject.owner())
                .addObject("pet", subject.pet());
    }
}
