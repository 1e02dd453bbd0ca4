package workflow.host;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.quarkus.runtime.annotations.RegisterForReflection;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import javax.crypto.Cipher;
import org.graalvm.polyglot.HostAccess.Export;

/** RSA with keys of 1024 bits, as the study used them; too short to protect anything. All text is base64. */
@RegisterForReflection
public final class RsaHolder {
  private static final String ALGORITHM = "RSA";
  private static final String CIPHER = "RSA/ECB/PKCS1Padding";
  private static final int KEY_BITS = 1024;

  /** A pair of keys: SubjectPublicKeyInfo and PKCS#8. */
  @RegisterForReflection
  public static final class Keys {
    @Export public final String publicKey;
    @Export public final String privateKey;

    Keys(byte[] publicKey, byte[] privateKey) {
      this.publicKey = Base64.getEncoder().encodeToString(publicKey);
      this.privateKey = Base64.getEncoder().encodeToString(privateKey);
    }
  }

  @Export
  public Keys generateKeys() {
    try {
      var generator = KeyPairGenerator.getInstance(ALGORITHM);
      generator.initialize(KEY_BITS);
      var pair = generator.generateKeyPair();
      return new Keys(pair.getPublic().getEncoded(), pair.getPrivate().getEncoded());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  @Export
  public String encrypt(String publicKey, String text) {
    try {
      var spec = new X509EncodedKeySpec(Base64.getDecoder().decode(publicKey));
      var key = KeyFactory.getInstance(ALGORITHM).generatePublic(spec);
      return Base64.getEncoder().encodeToString(apply(Cipher.ENCRYPT_MODE, key, text.getBytes(UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  @Export
  public String decrypt(String privateKey, String code) {
    try {
      var spec = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(privateKey));
      var key = KeyFactory.getInstance(ALGORITHM).generatePrivate(spec);
      return new String(apply(Cipher.DECRYPT_MODE, key, Base64.getDecoder().decode(code)), UTF_8);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static byte[] apply(int mode, Key key, byte[] bytes) throws GeneralSecurityException {
    var cipher = Cipher.getInstance(CIPHER);
    cipher.init(mode, key);
    return cipher.doFinal(bytes);
  }
}
