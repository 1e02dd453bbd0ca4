package hello;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.Version;
import java.util.concurrent.TimeUnit;

/** One constant greeting from Netty's HTTP codec. */
public final class Main {
  private static final long STOP_TIMEOUT_MS = 2_000;

  private Main() {}

  public static void main(String[] args) throws InterruptedException {
    if (args.length == 1 && args[0].equals("--version")) {
      var version = Version.identify().get("netty-codec-http").artifactVersion();
      System.out.printf("Netty %s, Java %s%n", version, Runtime.version());
      return;
    }
    serve(Settings.from(System.getenv()));
  }

  private static void serve(Settings settings) throws InterruptedException {
    IoHandlerFactory poller =
        settings.nativeTransport() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    Class<? extends ServerChannel> channel =
        settings.nativeTransport() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    var boss = new MultiThreadIoEventLoopGroup(1, poller);
    var workers = new MultiThreadIoEventLoopGroup(settings.eventLoops(), poller);
    var greeting = new Greeting(settings);
    new ServerBootstrap()
        .group(boss, workers)
        .channel(channel)
        .option(ChannelOption.SO_BACKLOG, settings.backlog())
        .childHandler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel connection) {
                connection.pipeline().addLast(new HttpServerCodec(), new GreetingHandler(greeting));
              }
            })
        .bind(settings.host(), settings.port())
        .sync();
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  boss.shutdownGracefully(0, STOP_TIMEOUT_MS, TimeUnit.MILLISECONDS);
                  workers
                      .shutdownGracefully(0, STOP_TIMEOUT_MS, TimeUnit.MILLISECONDS)
                      .awaitUninterruptibly();
                }));
  }
}
