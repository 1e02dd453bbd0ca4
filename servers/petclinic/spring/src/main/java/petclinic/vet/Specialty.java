package petclinic.vet;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

@Entity
@Table(name = "specialties")
class Specialty {

    @Id
    private Integer id;

    private String name;

    String getName() {
        return name;
    }
}
