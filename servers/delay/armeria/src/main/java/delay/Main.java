package delay;

import com.linecorp.armeria.client.ClientFactory;
import com.linecorp.armeria.client.WebClient;
import com.linecorp.armeria.common.util.EventLoopGroups;
import com.linecorp.armeria.common.util.Version;
import com.linecorp.armeria.server.Server;
import io.netty.channel.EventLoopGroup;
import java.net.InetSocketAddress;

/** Asks a slow upstream for each answer. */
public final class Main {
  private static final long STOP_TIMEOUT_MS = 2_000;

  private Main() {}

  public static void main(String[] args) {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.printf(
          "Armeria %s, Java %s%n", Version.get("armeria").artifactVersion(), Runtime.version());
      return;
    }
    var address =
        new InetSocketAddress(System.getenv("HOST"), Integer.parseInt(System.getenv("PORT")));
    var blocking = Boolean.parseBoolean(System.getenv("BLOCKING"));
    var eventLoops =
        EventLoopGroups.newEventLoopGroup(Integer.parseInt(System.getenv("EVENT_LOOPS")));
    var upstream = upstream(blocking, eventLoops);
    var prefix = System.getenv("BODY_PREFIX");
    var server =
        Server.builder()
            .http(address)
            .workerGroup(eventLoops, true)
            // No quiet period: whoever stops us allows five seconds and offers no load meanwhile.
            .gracefulShutdownTimeoutMillis(0, STOP_TIMEOUT_MS)
            // The fair profile asks for neither header.
            .disableServerHeader()
            .disableDateHeader()
            .service(
                "/test",
                blocking
                    ? new BlockingProxy(upstream, prefix)
                    : new AsyncProxy(upstream, prefix))
            .build();
    server.closeOnJvmShutdown();
    server.start().join();
  }

  /**
   * The client shares the server's event loops, so that a request stays on few threads, except
   * where those loops wait for it: an answer could then arrive at the very loop that waits.
   */
  private static WebClient upstream(boolean blocking, EventLoopGroup eventLoops) {
    var factory = ClientFactory.builder().preferHttp1(true);
    if (!blocking) {
      factory.workerGroup(eventLoops, false);
    }
    return WebClient.builder(System.getenv("UPSTREAM_URL")).factory(factory.build()).build();
  }
}
