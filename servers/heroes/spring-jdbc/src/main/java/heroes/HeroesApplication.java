package heroes;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
public class HeroesApplication {

  public static void main(String[] args) {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.printf(
          "Spring Boot %s, Java %s%n", SpringBootVersion.getVersion(), Runtime.version());
      return;
    }
    SpringApplication.run(HeroesApplication.class, args);
  }
}
