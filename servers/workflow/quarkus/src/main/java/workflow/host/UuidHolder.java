package workflow.host;

import io.quarkus.runtime.annotations.RegisterForReflection;
import java.util.UUID;
import org.graalvm.polyglot.HostAccess.Export;

/** Random UUIDs (version 4). */
@RegisterForReflection
public final class UuidHolder {

  @Export
  public String random() {
    return UUID.randomUUID().toString();
  }
}
