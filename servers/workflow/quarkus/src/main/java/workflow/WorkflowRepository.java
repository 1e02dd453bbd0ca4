package workflow;

import io.quarkus.redis.datasource.RedisDataSource;
import io.quarkus.redis.datasource.value.ValueCommands;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import workflow.host.HashingHolder;

/** Finds workflows in Redis; on a miss in the primary store, from where it fills the cache. */
@ApplicationScoped
class WorkflowRepository {
  private final ValueCommands<String, Workflow> cache;
  private final WorkflowStore store;
  private final HashingHolder hashing = new HashingHolder();
  private final String prefix;
  private final long ttlSeconds;

  WorkflowRepository(
      RedisDataSource redis,
      WorkflowStore store,
      @ConfigProperty(name = "workflow.cache.prefix") String prefix,
      @ConfigProperty(name = "workflow.cache.ttl") Duration ttl) {
    this.cache = redis.value(Workflow.class);
    this.store = store;
    this.prefix = prefix;
    this.ttlSeconds = ttl.toSeconds();
  }

  Optional<Workflow> find(List<String> scenesCodes) {
    var key = prefix + hashing.md5(String.join("-", scenesCodes));
    var cached = cache.get(key);
    if (cached != null) {
      return Optional.of(cached);
    }
    var stored = store.find(scenesCodes);
    stored.ifPresent(workflow -> cache.setex(key, ttlSeconds, workflow));
    return stored;
  }
}
