package workflow.host;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.quarkus.runtime.annotations.RegisterForReflection;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.KeyGenerator;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.graalvm.polyglot.HostAccess.Export;

/** AES-256-CBC. Keys are base64; ciphertexts are the base64 of a fresh initialisation vector and the blocks. */
@RegisterForReflection
public final class AesHolder {
  private static final String CIPHER = "AES/CBC/PKCS5Padding";
  private static final int KEY_BITS = 256;
  private static final int BLOCK_BYTES = 16;

  @Export
  public String generateKey() {
    try {
      var generator = KeyGenerator.getInstance("AES");
      generator.init(KEY_BITS);
      return Base64.getEncoder().encodeToString(generator.generateKey().getEncoded());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  @Export
  public String encrypt(String key, String text) {
    try {
      // Made where it is used: a native image must not carry a generator seeded when it was built.
      var vector = new byte[BLOCK_BYTES];
      new SecureRandom().nextBytes(vector);
      var cipher = Cipher.getInstance(CIPHER);
      cipher.init(Cipher.ENCRYPT_MODE, secret(key), new IvParameterSpec(vector));
      var blocks = cipher.doFinal(text.getBytes(UTF_8));
      var code = new byte[BLOCK_BYTES + blocks.length];
      System.arraycopy(vector, 0, code, 0, BLOCK_BYTES);
      System.arraycopy(blocks, 0, code, BLOCK_BYTES, blocks.length);
      return Base64.getEncoder().encodeToString(code);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  @Export
  public String decrypt(String key, String code) {
    try {
      var bytes = Base64.getDecoder().decode(code);
      var cipher = Cipher.getInstance(CIPHER);
      cipher.init(Cipher.DECRYPT_MODE, secret(key), new IvParameterSpec(bytes, 0, BLOCK_BYTES));
      return new String(cipher.doFinal(bytes, BLOCK_BYTES, bytes.length - BLOCK_BYTES), UTF_8);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static SecretKeySpec secret(String key) {
    return new SecretKeySpec(Base64.getDecoder().decode(key), "AES");
  }
}
