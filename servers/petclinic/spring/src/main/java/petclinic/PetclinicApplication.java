package petclinic;

import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
public class PetclinicApplication {

    public static void main(String[] arguments) {
        if (List.of(arguments).contains("--version")) {
            System.out.printf("Spring Boot %s, Java %s%n", SpringBootVersion.getVersion(), Runtime.version());
            return;
        }
        SpringApplication.run(PetclinicApplication.class, arguments);
    }
}
