package delay;

import com.linecorp.armeria.client.WebClient;
import com.linecorp.armeria.common.HttpRequest;
import com.linecorp.armeria.common.HttpResponse;
import com.linecorp.armeria.common.HttpStatus;
import com.linecorp.armeria.common.MediaType;
import com.linecorp.armeria.server.AbstractHttpService;
import com.linecorp.armeria.server.ServiceRequestContext;

/** Answers when the upstream has; no thread waits for it. */
final class AsyncProxy extends AbstractHttpService {
  private final WebClient upstream;
  private final String prefix;

  AsyncProxy(WebClient upstream, String prefix) {
    this.upstream = upstream;
    this.prefix = prefix;
  }

  @Override
  protected HttpResponse doGet(ServiceRequestContext context, HttpRequest request) {
    return HttpResponse.of(
        upstream
            .get("/delay")
            .aggregate()
            .thenApply(
                answer ->
                    HttpResponse.of(
                        HttpStatus.OK, MediaType.PLAIN_TEXT_UTF_8, prefix + answer.contentUtf8())));
  }

  @Override
  protected HttpResponse doHead(ServiceRequestContext context, HttpRequest request) {
    return doGet(context, request);
  }
}
