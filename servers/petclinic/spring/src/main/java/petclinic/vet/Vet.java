package petclinic.vet;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.JoinTable;
import jakarta.persistence.ManyToMany;
import jakarta.persistence.OrderBy;
import jakarta.persistence.Table;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Collectors;

@Entity
@Table(name = "vets")
public class Vet {

    @Id
    private Integer id;

    private String firstName;

    private String lastName;

    @ManyToMany
    @JoinTable(
            name = "vet_specialties",
            joinColumns = @JoinColumn(name = "vet_id"),
            inverseJoinColumns = @JoinColumn(name = "specialty_id"))
    @OrderBy("name")
    private Set<Specialty> specialties = new LinkedHashSet<>();

    public String getName() {
        return firstName + " " + lastName;
    }

    /** The names of the specialties as one text; "none" where there are none. */
    public String getSpecialtyNames() {
        return specialties.isEmpty()
                ? "none"
                : specialties.stream().map(Specialty::getName).collect(Collectors.joining(", "));
    }
}
