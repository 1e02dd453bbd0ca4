package hello;

import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;

/** Answers when a request is complete; writes all answers of one read in one go. */
final class GreetingHandler extends SimpleChannelInboundHandler<HttpObject> {
  private final Greeting greeting;
  private boolean found;
  private boolean keepAlive;

  GreetingHandler(Greeting greeting) {
    this.greeting = greeting;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
    if (part instanceof HttpRequest request) {
      found = request.uri().equals("/");
      keepAlive = HttpUtil.isKeepAlive(request) && request.decoderResult().isSuccess();
    }
    if (part instanceof LastHttpContent) {
      var answer = found ? greeting.answer() : Greeting.notFound();
      if (keepAlive) {
        context.write(answer);
      } else {
        answer.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        context.write(answer).addListener(ChannelFutureListener.CLOSE);
      }
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    context.flush();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    // A reset is the peer's way of leaving; anything else is worth a line in the log.
    if (!(cause instanceof IOException)) {
      cause.printStackTrace();
    }
    context.close();
  }
}
