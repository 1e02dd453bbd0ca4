package quotes;

import java.nio.file.Path;
import java.util.Map;

/**
 * What the environment asks for.
 *
 * @param eventLoops verticle instances, each on an event loop of its own
 * @param contentType value of the Content-Type header
 * @param newline whether a quote ends with a newline
 * @param date whether answers carry a Date header, which Vert.x leaves to the application
 */
record Settings(
    String host,
    int port,
    Path quotes,
    int eventLoops,
    String contentType,
    boolean newline,
    boolean date) {

  static Settings from(Map<String, String> env) {
    return new Settings(
        env.get("HOST"),
        Integer.parseInt(env.get("PORT")),
        Path.of(env.get("CONTRACT_DIR"), "quotes.txt"),
        Integer.parseInt(env.get("EVENT_LOOPS")),
        env.get("CONTENT_TYPE"),
        Boolean.parseBoolean(env.get("NEWLINE")),
        Boolean.parseBoolean(env.get("DATE")));
  }
}
