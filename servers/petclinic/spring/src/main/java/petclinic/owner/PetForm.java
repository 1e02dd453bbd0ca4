package petclinic.owner;

import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.PastOrPresent;
import jakarta.validation.constraints.Size;
import java.time.LocalDate;
import org.springframework.format.annotation.DateTimeFormat;

/** What is typed into the form of a pet; `type` is the id of its type. */
public class PetForm {

    @NotBlank(message = "Required")
    @Size(max = 64, message = "At most {max} characters")
    private String name;

    @NotNull(message = "A date such as 2024-05-31")
    @PastOrPresent(message = "Not in the future")
    @DateTimeFormat(iso = DateTimeFormat.ISO.DATE)
    private LocalDate birthDate;

    @NotNull(message = "Choose one")
    private Integer type;

    static PetForm of(Pet pet) {
        PetForm form = new PetForm();
        form.name = pet.getName();
        form.birthDate = pet.getBirthDate();
        form.type = pet.getType().getId();
        return form;
    }

    public String getName() {
        return name;
    }

    public void setName(String name) {
        this.name = name;
    }

    public LocalDate getBirthDate() {
        return birthDate;
    }

    public void setBirthDate(LocalDate birthDate) {
        this.birthDate = birthDate;
    }

    public Integer getType() {
        return type;
    }

    public void setType(Integer type) {
        this.type = type;
    }
}
