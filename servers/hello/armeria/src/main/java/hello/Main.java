package hello;

import com.linecorp.armeria.common.HttpResponse;
import com.linecorp.armeria.common.HttpStatus;
import com.linecorp.armeria.common.MediaType;
import com.linecorp.armeria.common.util.Version;
import com.linecorp.armeria.server.Server;
import java.net.InetSocketAddress;

/** One constant greeting from Armeria. */
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
    var greeting = System.getenv("GREETING");
    var server =
        Server.builder()
            .http(address)
            .workerGroup(Integer.parseInt(System.getenv("EVENT_LOOPS")))
            // No quiet period: whoever stops us allows five seconds and offers no load meanwhile.
            .gracefulShutdownTimeoutMillis(0, STOP_TIMEOUT_MS)
            // Neither header was in the published answers, nor does the fair profile ask for them.
            .disableServerHeader()
            .disableDateHeader()
            .service(
                "/",
                (context, request) ->
                    HttpResponse.of(HttpStatus.OK, MediaType.PLAIN_TEXT_UTF_8, greeting))
            .build();
    server.closeOnJvmShutdown();
    server.start().join();
  }
}
