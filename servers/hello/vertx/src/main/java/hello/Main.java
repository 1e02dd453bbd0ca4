package hello;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;

/** Reads the settings once and deploys one {@link GreetingVerticle} an event loop. */
public final class Main {
  private Main() {}

  public static void main(String[] args) {
    if (args.length == 1 && args[0].equals("--version")) {
      var version = Vertx.class.getPackage().getImplementationVersion();
      System.out.printf("Vert.x %s, Java %s%n", version, Runtime.version());
      return;
    }
    var settings = Settings.from(System.getenv());
    var vertx =
        Vertx.vertx(
            new VertxOptions()
                .setEventLoopPoolSize(settings.eventLoops())
                .setPreferNativeTransport(settings.nativeTransport()));
    Runtime.getRuntime().addShutdownHook(new Thread(() -> vertx.close().await()));
    vertx
        .deployVerticle(
            () -> new GreetingVerticle(settings),
            new DeploymentOptions().setInstances(settings.eventLoops()))
        .await();
  }
}
