package petclinic.owner;

import java.util.List;
import java.util.Optional;
import org.springframework.data.jpa.repository.EntityGraph;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

interface OwnerRepository extends Repository<Owner, Integer> {

    /** The owners whose last name begins so (any case), by name, their pets with them: one query. */
    @EntityGraph(attributePaths = "pets")
    List<Owner> findByLastNameStartingWithIgnoreCaseOrderByLastNameAscFirstNameAscIdAsc(String prefix);

    /** One owner with its pets, their types and their visits: one query. */
    @EntityGraph(attributePaths = {"pets.type", "pets.visits"})
    Optional<Owner> findById(int id);

    Owner save(Owner owner);

    @Query("from PetType order by name")
    List<PetType> findPetTypes();
}
