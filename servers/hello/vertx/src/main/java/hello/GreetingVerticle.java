package hello;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;

/** One HTTP server on one event loop; the instances share the listening port. */
final class GreetingVerticle extends VerticleBase {
  private final Settings settings;
  private final Buffer greeting;
  private final CharSequence greetingLength;
  private final CharSequence contentType;

  GreetingVerticle(Settings settings) {
    this.settings = settings;
    this.greeting = Buffer.buffer(settings.greeting());
    this.greetingLength = HttpHeaders.createOptimized(Integer.toString(greeting.length()));
    this.contentType = HttpHeaders.createOptimized(settings.contentType());
  }

  @Override
  public Future<?> start() {
    return vertx
        .createHttpServer()
        .requestHandler(this::greet)
        .listen(settings.port(), settings.host());
  }

  private void greet(HttpServerRequest request) {
    var response = request.response();
    if (!request.path().equals("/")) {
      response.setStatusCode(404).end();
      return;
    }
    response.putHeader(HttpHeaders.CONTENT_TYPE, contentType);
    if (request.method() == HttpMethod.HEAD) {
      // Vert.x counts the bytes it writes, and for HEAD it writes none: GET's length is said here.
      response.putHeader(HttpHeaders.CONTENT_LENGTH, greetingLength).end();
    } else {
      response.end(greeting);
    }
  }
}
