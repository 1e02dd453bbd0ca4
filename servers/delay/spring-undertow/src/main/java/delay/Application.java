package delay;

import io.undertow.Version;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Spring MVC on Undertow that asks a slow upstream for each answer. */
@SpringBootApplication
public class Application {

  public static void main(String[] args) {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.printf(
          "Spring Boot %s, Undertow %s, Java %s%n",
          SpringBootVersion.getVersion(), Version.getVersionString(), Runtime.version());
      return;
    }
    SpringApplication.run(Application.class, args);
  }
}
