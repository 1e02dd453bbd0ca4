package petclinic.owner;

import jakarta.validation.Valid;
import java.util.List;
import java.util.Optional;
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
@RequestMapping("/owners/{ownerId:\\d{1,9}}/pets")
class PetController {

    private static final String FORM = "pets/form";

    private final OwnerRepository owners;

    PetController(OwnerRepository owners) {
        this.owners = owners;
    }

    @ModelAttribute("types")
    List<PetType> types() {
        return owners.findPetTypes();
    }

    @GetMapping("/new")
    ModelAndView newPet(@PathVariable int ownerId) {
        return form("New pet", owner(ownerId), new PetForm());
    }

    @PostMapping("/new")
    @Transactional
    public ModelAndView add(
            @PathVariable int ownerId,
            @ModelAttribute("types") List<PetType> types,
            @Valid @ModelAttribute("form") PetForm form,
            BindingResult result) {
        Owner owner = owner(ownerId);
        Optional<PetType> type = check(form, result, owner, null, types);
        if (result.hasErrors()) {
            return wrong("New pet", owner);
        }
        Pet pet = new Pet();
        pet.update(form, type.orElseThrow());
        owner.add(pet);
        return SeeOther.owner(ownerId);
    }

    @GetMapping("/{petId:\\d{1,9}}/edit")
    ModelAndView edit(@PathVariable int ownerId, @PathVariable int petId) {
        Owner owner = owner(ownerId);
        return form("Edit pet", owner, PetForm.of(pet(owner, petId)));
    }

    @PostMapping("/{petId:\\d{1,9}}/edit")
    @Transactional
    public ModelAndView change(
            @PathVariable int ownerId,
            @PathVariable int petId,
            @ModelAttribute("types") List<PetType> types,
            @Valid @ModelAttribute("form") PetForm form,
            BindingResult result) {
        Owner owner = owner(ownerId);
        Pet pet = pet(owner, petId);
        Optional<PetType> type = check(form, result, owner, pet, types);
        if (result.hasErrors()) {
            return wrong("Edit pet", owner);
        }
        pet.update(form, type.orElseThrow());
        return SeeOther.owner(ownerId);
    }

    /** The rules that need the records: the type is one of the types, an owner's pets have different names. */
    private static Optional<PetType> check(
            PetForm form, BindingResult result, Owner owner, Pet pet, List<PetType> types) {
        if (!result.hasFieldErrors("name") && owner.hasPetNamed(form.getName(), pet)) {
            result.rejectValue("name", "taken", "This owner already has a pet of that name");
        }
        Optional<PetType> type = types.stream().filter(each -> each.getId().equals(form.getType())).findFirst();
        if (type.isEmpty() && !result.hasFieldErrors("type")) {
            result.rejectValue("type", "unknown", "Choose one");
        }
        return type;
    }

    private Owner owner(int ownerId) {
        return owners.findById(ownerId).orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
    }

    private static Pet pet(Owner owner, int petId) {
        return owner.pet(petId).orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
    }

    private static ModelAndView form(String heading, Owner owner, PetForm form) {
        return new ModelAndView(FORM, "heading", heading).addObject("owner", owner).addObject("form", form);
    }

    private static ModelAndView wrong(String heading, Owner owner) {
        return new ModelAndView(FORM, HttpStatus.UNPROCESSABLE_ENTITY)
                .addObject("heading", heading)
                .addObject("owner", owner);
    }
}
