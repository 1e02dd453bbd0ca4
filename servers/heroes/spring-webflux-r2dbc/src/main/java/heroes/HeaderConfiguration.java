package heroes;

import static org.springframework.http.MediaType.APPLICATION_JSON;

import java.nio.charset.StandardCharsets;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/**
 * What others of this contract send with an answer and Reactor Netty leaves out: the Date of RFC
 * 9110, 6.6.1, and the charset that Gin names.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty("heroes.all-headers")
class HeaderConfiguration {
  private static final MediaType JSON_UTF_8 =
      new MediaType(APPLICATION_JSON, StandardCharsets.UTF_8);

  @Bean
  WebFilter allHeaders() {
    return (exchange, chain) -> {
      var headers = exchange.getResponse().getHeaders();
      exchange.getResponse().beforeCommit(() -> Mono.fromRunnable(() -> complete(headers)));
      return chain.filter(exchange);
    };
  }

  private static void complete(HttpHeaders headers) {
    headers.setDate(System.currentTimeMillis());
    if (APPLICATION_JSON.equals(headers.getContentType())) {
      headers.setContentType(JSON_UTF_8);
    }
  }
}
