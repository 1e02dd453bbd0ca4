package workflow.host;

import io.quarkus.runtime.annotations.RegisterForReflection;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.graalvm.polyglot.HostAccess.Export;

/** Random numbers and text; not for secrets. */
@RegisterForReflection
public final class RandomHolder {
  private static final String DIGITS = "0123456789";
  private static final String LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

  /** A whole number in [from, to). */
  @Export
  public int integer(int from, int to) {
    return ThreadLocalRandom.current().nextInt(from, to);
  }

  /** A fraction in [0, 1). */
  @Export
  public double fraction() {
    return ThreadLocalRandom.current().nextDouble();
  }

  /** A number of the normal distribution of mean 0 and deviation 1. */
  @Export
  public double gaussian() {
    return ThreadLocalRandom.current().nextGaussian();
  }

  @Export
  public boolean coin() {
    return ThreadLocalRandom.current().nextBoolean();
  }

  @Export
  public String digits(int length) {
    return text(DIGITS, length);
  }

  @Export
  public String letters(int length) {
    return text(LETTERS, length);
  }

  @Export
  public String alphanumeric(int length) {
    return text(DIGITS + LETTERS, length);
  }

  private static String text(String alphabet, int length) {
    return ThreadLocalRandom.current()
        .ints(length, 0, alphabet.length())
        .mapToObj(i -> String.valueOf(alphabet.charAt(i)))
        .collect(Collectors.joining());
  }
}
