package delay;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.netty.ReactorNetty;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;

/** Spring WebFlux that asks a slow upstream for each answer through its WebClient. */
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
    // Reactor Netty takes the size of its event loop group, which server and client share, from
    // this property alone.
    System.setProperty(ReactorNetty.IO_WORKER_COUNT, System.getenv("EVENT_LOOPS"));
    SpringApplication.run(Application.class, args);
  }

  /** A client with as many connections as requests may be under way, where the default is 500. */
  @Bean
  WebClient upstream(
      WebClient.Builder builder,
      @Value("${delay.upstream-url}") String url,
      @Value("${delay.upstream-connections}") int connections) {
    var provider =
        ConnectionProvider.builder("upstream")
            .maxConnections(connections)
            .pendingAcquireMaxCount(-1)
            .build();
    return builder
        .baseUrl(url)
        .clientConnector(new ReactorClientHttpConnector(HttpClient.create(provider)))
        .build();
  }
}
