package workflow.host;

import io.quarkus.runtime.annotations.RegisterForReflection;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import org.graalvm.polyglot.HostAccess.Export;

/** Dates for scripts: milliseconds since 1970 and text, both UTC. */
@RegisterForReflection
public final class DateHolder {

  @Export
  public long now() {
    return System.currentTimeMillis();
  }

  @Export
  public String format(long millis, String pattern) {
    return DateTimeFormatter.ofPattern(pattern).withZone(ZoneOffset.UTC).format(Instant.ofEpochMilli(millis));
  }

  @Export
  public long parse(String text, String pattern) {
    return LocalDateTime.parse(text, DateTimeFormatter.ofPattern(pattern))
        .toInstant(ZoneOffset.UTC)
        .toEpochMilli();
  }

  @Export
  public long plusDays(long millis, int days) {
    return Instant.ofEpochMilli(millis).plus(days, ChronoUnit.DAYS).toEpochMilli();
  }

  @Export
  public int daysBetween(long from, long to) {
    return (int) ChronoUnit.DAYS.between(Instant.ofEpochMilli(from), Instant.ofEpochMilli(to));
  }
}
