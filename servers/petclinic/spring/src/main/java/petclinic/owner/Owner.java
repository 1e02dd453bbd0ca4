package petclinic.owner;

import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OrderBy;
import jakarta.persistence.Table;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

@Entity
@Table(name = "owners")
public class Owner {

    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    private Integer id;

    private String firstName;

    private String lastName;

    private String address;

    private String city;

    private String telephone;

    @OneToMany(cascade = CascadeType.ALL)
    @JoinColumn(name = "owner_id", nullable = false)
    @OrderBy("name, id")
    private Set<Pet> pets = new LinkedHashSet<>();

    public Integer getId() {
        return id;
    }

    public String getFirstName() {
        return firstName;
    }

    public String getLastName() {
        return lastName;
    }

    public String getName() {
        return firstName + " " + lastName;
    }

    public String getAddress() {
        return address;
    }

    public String getCity() {
        return city;
    }

    public String getTelephone() {
        return telephone;
    }

    public Set<Pet> getPets() {
        return pets;
    }

    /** The names of the pets as one text. */
    public String getPetNames() {
        return pets.stream().map(Pet::getName).collect(Collectors.joining(", "));
    }

    Optional<Pet> pet(int petId) {
        return pets.stream().filter(pet -> pet.getId() == petId).findFirst();
    }

    /** Whether a pet other than `except` (null for none) has that name, in any case. */
    boolean hasPetNamed(String name, Pet except) {
        return pets.stream().anyMatch(pet -> pet != except && pet.getName().equalsIgnoreCase(name));
    }

    void update(OwnerForm form) {
        firstName = form.getFirstName();
        lastName = form.getLastName();
        address = form.getAddress();
        city = form.getCity();
        telephone = form.getTelephone();
    }

    void add(Pet pet) {
        pets.add(pet);
    }
}
