package delay;

import com.linecorp.armeria.client.WebClient;
import com.linecorp.armeria.common.HttpRequest;
import com.linecorp.armeria.common.HttpResponse;
import com.linecorp.armeria.common.HttpStatus;
import com.linecorp.armeria.common.MediaType;
import com.linecorp.armeria.server.AbstractHttpService;
import com.linecorp.armeria.server.ServiceRequestContext;

/**
 * The published study's mistake, kept to be measured: it waits on the event loop itself, so that a
 * loop serves one request at a time.
 */
final class BlockingProxy extends AbstractHttpService {
  private final WebClient upstream;
  private final String prefix;

  BlockingProxy(WebClient upstream, String prefix) {
    this.upstream = upstream;
    this.prefix = prefix;
  }

  @Override
  protected HttpResponse doGet(ServiceRequestContext context, HttpRequest request) {
    var answer = upstream.get("/delay").aggregate().join();
    return HttpResponse.of(
        HttpStatus.OK, MediaType.PLAIN_TEXT_UTF_8, prefix + answer.contentUtf8());
  }

  @Override
  protected HttpResponse doHead(ServiceRequestContext context, HttpRequest request) {
    return doGet(context, request);
  }
}
