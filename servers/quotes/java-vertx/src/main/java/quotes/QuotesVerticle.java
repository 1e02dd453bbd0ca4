package quotes;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

/** One HTTP server on one event loop; the instances share the listening port. */
final class QuotesVerticle extends VerticleBase {
  /** RFC 9110 asks for two digits of the day; RFC_1123_DATE_TIME of the library writes one. */
  private static final DateTimeFormatter HTTP_DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH);

  private static final long DATE_PERIOD_MS = 1_000;

  private final Settings settings;
  private final CharSequence contentType;
  private final List<Buffer> quotes;

  /** The Date header's value, written anew each second, as it says nothing finer. */
  private CharSequence date;

  QuotesVerticle(Settings settings, List<String> quotes) {
    this.settings = settings;
    this.contentType = HttpHeaders.createOptimized(settings.contentType());
    var end = settings.newline() ? "\n" : "";
    this.quotes = quotes.stream().map(quote -> Buffer.buffer(quote + end)).toList();
  }

  @Override
  public Future<?> start() {
    if (settings.date()) {
      tellDate();
      vertx.setPeriodic(DATE_PERIOD_MS, timer -> tellDate());
    }
    var router = Router.router(vertx);
    router.get("/franklin-says").handler(context -> franklinSays(context).end(anyQuote()));
    // Vert.x counts the bytes it writes, and for HEAD it writes none: GET's length is said here.
    router
        .head("/franklin-says")
        .handler(
            context ->
                franklinSays(context)
                    .putHeader(HttpHeaders.CONTENT_LENGTH, Integer.toString(anyQuote().length()))
                    .end());
    return vertx
        .createHttpServer()
        .requestHandler(router)
        .listen(settings.port(), settings.host());
  }

  private HttpServerResponse franklinSays(RoutingContext context) {
    var response = context.response().putHeader(HttpHeaders.CONTENT_TYPE, contentType);
    if (settings.date()) {
      response.putHeader(HttpHeaders.DATE, date);
    }
    return response;
  }

  private Buffer anyQuote() {
    return quotes.get(ThreadLocalRandom.current().nextInt(quotes.size()));
  }

  private void tellDate() {
    date = HttpHeaders.createOptimized(HTTP_DATE.format(ZonedDateTime.now(ZoneOffset.UTC)));
  }
}
