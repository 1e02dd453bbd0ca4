package petclinic.owner;

import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;
import java.time.LocalDate;
import org.springframework.format.annotation.DateTimeFormat;

/** What is typed into the form of a visit. */
public class VisitForm {

    @NotNull(message = "A date such as 2024-05-31")
    @DateTimeFormat(iso = DateTimeFormat.ISO.DATE)
    private LocalDate date = LocalDate.now();

    @NotBlank(message = "Required")
    @Size(max = 255, message = "At most {max} characters")
    private String description;

    static VisitForm of(Visit visit) {
        VisitForm form = new VisitForm();
        form.date = visit.getDate();
        form.description = visit.getDescription();
        return form;
    }

    public LocalDate getDate() {
        return date;
    }

    public void setDate(LocalDate date) {
        this.date = date;
    }

    public String getDescription() {
        return description;
    }

    public void setDescription(String description) {
        this.description = description;
    }
}
