package hello;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;

/** What is answered; made once and shared by all connections. */
final class Greeting {
  /** Unreleasable, so that each answer takes a view of the same bytes instead of a copy. */
  private final ByteBuf body;

  private final AsciiString length;
  private final AsciiString contentType;
  private final boolean connectionHeader;

  Greeting(Settings settings) {
    body =
        Unpooled.unreleasableBuffer(
            Unpooled.directBuffer()
                .writeBytes(settings.greeting().getBytes(StandardCharsets.UTF_8))
                .asReadOnly());
    length = AsciiString.cached(Integer.toString(body.readableBytes()));
    contentType = AsciiString.cached(settings.contentType());
    connectionHeader = settings.connectionHeader();
  }

  FullHttpResponse answer() {
    var answer =
        new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body.duplicate());
    answer
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, contentType)
        .set(HttpHeaderNames.CONTENT_LENGTH, length);
    if (connectionHeader) {
      answer.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
    }
    return answer;
  }

  static FullHttpResponse notFound() {
    var answer =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.NOT_FOUND, Unpooled.EMPTY_BUFFER);
    answer.headers().set(HttpHeaderNames.CONTENT_LENGTH, HttpHeaderValues.ZERO);
    return answer;
  }
}
