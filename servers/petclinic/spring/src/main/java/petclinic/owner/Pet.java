package petclinic.owner;

import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OrderBy;
import jakarta.persistence.Table;
import java.time.LocalDate;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

@Entity
@Table(name = "pets")
public class Pet {

    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    private Integer id;

    private String name;

    private LocalDate birthDate;

    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "type_id")
    private PetType type;

    @OneToMany(cascade = CascadeType.ALL)
    @JoinColumn(name = "pet_id", nullable = false)
    @OrderBy("date, id")
    private Set<Visit> visits = new LinkedHashSet<>();

    public Integer getId() {
        return id;
    }

    public String getName() {
        return name;
    }

    public LocalDate getBirthDate() {
        return birthDate;
    }

    public PetType getType() {
        return type;
    }

    public Set<Visit> getVisits() {
        return visits;
    }

    Optional<Visit> visit(int visitId) {
        return visits.stream().filter(visit -> visit.getId() == visitId).findFirst();
    }

    void update(PetForm form, PetType newType) {
        name = form.getName();
        birthDate = form.getBirthDate();
        type = newType;
    }

    void add(Visit visit) {
        visits.add(visit);
    }
}
