package quotes;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

/** Reads the settings once and deploys one {@link QuotesVerticle} an event loop. */
public final class Main {
  private Main() {}

  public static void main(String[] args) throws IOException {
    if (args.length == 1 && args[0].equals("--version")) {
      var version = Vertx.class.getPackage().getImplementationVersion();
      System.out.printf("Vert.x %s, Java %s%n", version, Runtime.version());
      return;
    }
    var settings = Settings.from(System.getenv());
    List<String> quotes = Files.readAllLines(settings.quotes());
    var vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(settings.eventLoops()));
    // Closing Vert.x at SIGTERM lets requests in flight end before the JVM leaves.
    Runtime.getRuntime().addShutdownHook(new Thread(() -> vertx.close().await()));
    vertx
        .deployVerticle(
            () -> new QuotesVerticle(settings, quotes),
            new DeploymentOptions().setInstances(settings.eventLoops()))
        .await();
  }
}
