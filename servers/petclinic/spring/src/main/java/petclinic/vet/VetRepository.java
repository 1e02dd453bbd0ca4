package petclinic.vet;

import java.util.List;
import org.springframework.data.jpa.repository.EntityGraph;
import org.springframework.data.repository.Repository;

interface VetRepository extends Repository<Vet, Integer> {

    /** All vets by name, their specialties with them. Not cached: the other stacks ask their database each time too. */
    @EntityGraph(attributePaths = "specialties")
    List<Vet> findAllByOrderByLastNameAscFirstNameAscIdAsc();
}
