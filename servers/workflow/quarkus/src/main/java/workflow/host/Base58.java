package workflow.host;

import java.math.BigInteger;

/** Base58 with Bitcoin's alphabet: the bytes as one large number; leading zero bytes are leading ones. */
final class Base58 {
  private static final String ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  private static final BigInteger BASE = BigInteger.valueOf(ALPHABET.length());

  private Base58() {}

  static String encode(byte[] bytes) {
    var code = new StringBuilder();
    for (var rest = new BigInteger(1, bytes); rest.signum() > 0; ) {
      var parts = rest.divideAndRemainder(BASE);
      code.append(ALPHABET.charAt(parts[1].intValue()));
      rest = parts[0];
    }
    for (int i = 0; i < bytes.length && bytes[i] == 0; i++) {
      code.append(ALPHABET.charAt(0));
    }
    return code.reverse().toString();
  }

  static byte[] decode(String code) {
    var number = BigInteger.ZERO;
    int zeros = 0;
    for (int i = 0; i < code.length(); i++) {
      int digit = ALPHABET.indexOf(code.charAt(i));
      if (digit < 0) {
        throw new IllegalArgumentException("no base58 digit: " + code.charAt(i));
      }
      number = number.multiply(BASE).add(BigInteger.valueOf(digit));
      zeros += digit == 0 && zeros == i ? 1 : 0;
    }
    // BigInteger's bytes begin with a zero where the first bit is set, and are one zero for zero.
    var digits = number.toByteArray();
    int skip = digits[0] == 0 ? 1 : 0;
    var bytes = new byte[zeros + digits.length - skip];
    System.arraycopy(digits, skip, bytes, zeros, digits.length - skip);
    return bytes;
  }
}
