package hello;

import java.util.Map;

/**
 * What the environment asks for.
 *
 * @param eventLoops verticle instances, each on an event loop of its own
 * @param nativeTransport whether to poll through Linux's own epoll instead of the JDK's selector
 */
record Settings(
    String host,
    int port,
    String greeting,
    String contentType,
    int eventLoops,
    boolean nativeTransport) {

  static Settings from(Map<String, String> env) {
    return new Settings(
        env.get("HOST"),
        Integer.parseInt(env.get("PORT")),
        env.get("GREETING"),
        env.get("CONTENT_TYPE"),
        Integer.parseInt(env.get("EVENT_LOOPS")),
        Boolean.parseBoolean(env.get("NATIVE_TRANSPORT")));
  }
}
