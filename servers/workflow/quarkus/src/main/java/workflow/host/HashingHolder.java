package workflow.host;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.quarkus.runtime.annotations.RegisterForReflection;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.graalvm.polyglot.HostAccess.Export;

/** Digests and keyed digests of text, in hexadecimal. */
@RegisterForReflection
public final class HashingHolder {

  @Export
  public String md5(String text) {
    return digest("MD5", text);
  }

  @Export
  public String sha1(String text) {
    return digest("SHA-1", text);
  }

  @Export
  public String sha256(String text) {
    return digest("SHA-256", text);
  }

  @Export
  public String sha384(String text) {
    return digest("SHA-384", text);
  }

  @Export
  public String sha512(String text) {
    return digest("SHA-512", text);
  }

  @Export
  public String hmacSha1(String key, String text) {
    return mac("HmacSHA1", key, text);
  }

  @Export
  public String hmacSha256(String key, String text) {
    return mac("HmacSHA256", key, text);
  }

  @Export
  public String hmacSha512(String key, String text) {
    return mac("HmacSHA512", key, text);
  }

  private static String digest(String algorithm, String text) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(text.getBytes(UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String mac(String algorithm, String key, String text) {
    try {
      var mac = Mac.getInstance(algorithm);
      mac.init(new SecretKeySpec(key.getBytes(UTF_8), algorithm));
      return HexFormat.of().formatHex(mac.doFinal(text.getBytes(UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
