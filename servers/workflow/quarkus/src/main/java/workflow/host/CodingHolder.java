package workflow.host;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.quarkus.runtime.annotations.RegisterForReflection;
import java.util.Base64;
import java.util.HexFormat;
import org.graalvm.polyglot.HostAccess.Export;

/** Text as base64, base58 and hexadecimal, and back. */
@RegisterForReflection
public final class CodingHolder {

  @Export
  public String base64Encode(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
  }

  @Export
  public String base64Decode(String code) {
    return new String(Base64.getDecoder().decode(code), UTF_8);
  }

  @Export
  public String base58Encode(String text) {
    return Base58.encode(text.getBytes(UTF_8));
  }

  @Export
  public String base58Decode(String code) {
    return new String(Base58.decode(code), UTF_8);
  }

  @Export
  public String hexEncode(String text) {
    return HexFormat.of().formatHex(text.getBytes(UTF_8));
  }

  @Export
  public String hexDecode(String code) {
    return new String(HexFormat.of().parseHex(code), UTF_8);
  }
}
