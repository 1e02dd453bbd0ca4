package heroes;

import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.stereotype.Repository;
import reactor.core.publisher.Mono;

@Repository
class HeroRepository {
  private static final String SELECT = "SELECT " + Hero.COLUMNS + " FROM heroes WHERE id = $1";

  private final DatabaseClient database;

  HeroRepository(DatabaseClient database) {
    this.database = database;
  }

  Mono<Hero> find(int id) {
    return database.sql(SELECT).bind("$1", id).mapProperties(Hero.class).one();
  }
}
