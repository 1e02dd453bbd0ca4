package hello;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import reactor.netty.ReactorNetty;
import reactor.netty.http.server.HttpServer;

/** Spring WebFlux on Reactor Netty. */
@SpringBootApplication
public class Application {

  public static void main(String[] args) {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.printf(
          "Spring Boot %s, Reactor Netty %s, Java %s%n",
          SpringBootVersion.getVersion(),
          HttpServer.class.getPackage().getImplementationVersion(),
          Runtime.version());
      return;
    }
    // Reactor Netty takes the size of its event loop group from this property alone.
    System.setProperty(ReactorNetty.IO_WORKER_COUNT, System.getenv("EVENT_LOOPS"));
    SpringApplication.run(Application.class, args);
  }
}
