package workflow.host;

import io.quarkus.runtime.annotations.RegisterForReflection;
import org.graalvm.polyglot.HostAccess.Export;
import org.jboss.logging.Logger;

/** The log of the scripts: each line goes where the server's own go. */
@RegisterForReflection
public final class ScriptLog {
  private static final Logger LOG = Logger.getLogger("script");

  @Export
  public void info(String line) {
    LOG.info(line);
  }
}
