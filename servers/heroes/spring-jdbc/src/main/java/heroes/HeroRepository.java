package heroes;

import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.support.TransactionOperations;

@Repository
class HeroRepository {
  private static final String SELECT = "SELECT " + Hero.COLUMNS + " FROM heroes WHERE id = ?";

  private final JdbcClient jdbc;
  private final TransactionOperations transaction;

  HeroRepository(JdbcClient jdbc, TransactionOperations transaction) {
    this.jdbc = jdbc;
    this.transaction = transaction;
  }

  Optional<Hero> find(int id) {
    return transaction.execute(
        status -> jdbc.sql(SELECT).param(id).query(Hero.class).optional());
  }
}
