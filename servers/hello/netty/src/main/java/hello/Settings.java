package hello;

import java.util.Map;

/**
 * What the environment asks for.
 *
 * @param eventLoops threads that serve connections; 0 is Netty's own default, two a core
 * @param backlog connections the kernel holds before they are accepted
 * @param nativeTransport whether to poll through Linux's own epoll instead of the JDK's selector
 * @param connectionHeader whether answers say keep-alive, which HTTP/1.1 does without
 */
record Settings(
    String host,
    int port,
    String greeting,
    String contentType,
    int eventLoops,
    int backlog,
    boolean nativeTransport,
    boolean connectionHeader) {

  static Settings from(Map<String, String> env) {
    return new Settings(
        env.get("HOST"),
        Integer.parseInt(env.get("PORT")),
        env.get("GREETING"),
        env.get("CONTENT_TYPE"),
        Integer.parseInt(env.get("EVENT_LOOPS")),
        Integer.parseInt(env.get("BACKLOG")),
        Boolean.parseBoolean(env.get("NATIVE_TRANSPORT")),
        Boolean.parseBoolean(env.get("CONNECTION")));
  }
}
