// The benchmark's scene: one of everything that a rules engine lends its scripts. It looks at what it
// gets back, and throws where a round trip does not come home, so that a success means work done.
// The host lends: dateHolder, codingHolder, hashingHolder, aesHolder, rsaHolder, randomHolder, uuidHolder, log.

function process(context) {
  const text = context.args.userId + "/" + context.args.foo;
  log.info("request " + context.requestId + " begins");
  log.info("user: " + context.args.userId);
  log.info("foo: " + context.args.foo);
  const values = {
    dateHolderResult: dates(),
    codingResult: codings(text),
    hashingResult: hashes(text),
    aesResult: aes(text),
    rsaResult: rsa(text),
    randomHolderResult: randoms(),
    uuidResult: uuid(),
  };
  log.info("request " + context.requestId + " ends");
  return values;
}

function same(what, expected, actual) {
  if (expected !== actual) {
    throw new Error(what + ": expected " + expected + ", got " + actual);
  }
  log.info(what + " came home");
}

function dates() {
  const pattern = "yyyy-MM-dd HH:mm:ss";
  const now = dateHolder.now();
  log.info("now: " + now);
  const written = dateHolder.format(now, pattern);
  log.info("written: " + written);
  const read = dateHolder.parse(written, pattern);
  log.info("read: " + read);
  same("date", now - (now % 1000), read);
  const later = dateHolder.plusDays(read, 30);
  log.info("thirty days later: " + dateHolder.format(later, pattern));
  same("days between", 30, dateHolder.daysBetween(read, later));
  return written + " UTC";
}

function codings(text) {
  const base64 = codingHolder.base64Encode(text);
  log.info("base64: " + base64);
  same("base64", text, codingHolder.base64Decode(base64));
  const base58 = codingHolder.base58Encode(text);
  log.info("base58: " + base58);
  same("base58", text, codingHolder.base58Decode(base58));
  const hex = codingHolder.hexEncode(text);
  log.info("hex: " + hex);
  same("hex", text, codingHolder.hexDecode(hex));
  return base58;
}

function hashes(text) {
  const key = "key of " + text;
  log.info("md5: " + hashingHolder.md5(text));
  log.info("sha1: " + hashingHolder.sha1(text));
  const sha256 = hashingHolder.sha256(text);
  log.info("sha256: " + sha256);
  log.info("sha384: " + hashingHolder.sha384(text));
  log.info("sha512: " + hashingHolder.sha512(text));
  log.info("hmac of sha1: " + hashingHolder.hmacSha1(key, text));
  log.info("hmac of sha256: " + hashingHolder.hmacSha256(key, text));
  log.info("hmac of sha512: " + hashingHolder.hmacSha512(key, text));
  return sha256;
}

function aes(text) {
  const key = aesHolder.generateKey();
  log.info("aes key of " + key.length + " letters");
  const code = aesHolder.encrypt(key, text);
  log.info("aes of " + text.length + " letters: " + code);
  log.info("aes takes " + (code.length - text.length) + " letters more");
  same("aes", text, aesHolder.decrypt(key, code));
  return code;
}

function rsa(text) {
  const keys = rsaHolder.generateKeys();
  log.info("rsa public key: " + keys.publicKey);
  log.info("rsa private key of " + keys.privateKey.length + " letters");
  const code = rsaHolder.encrypt(keys.publicKey, text);
  log.info("rsa of " + text.length + " letters: " + code);
  log.info("rsa takes " + (code.length - text.length) + " letters more");
  const plain = rsaHolder.decrypt(keys.privateKey, code);
  same("rsa", text, plain);
  return plain;
}

function randoms() {
  const values = [
    randomHolder.integer(0, 10),
    randomHolder.integer(0, 1000),
    randomHolder.integer(-1000, 1000),
    randomHolder.integer(0, 2147483647),
    randomHolder.fraction(),
    randomHolder.fraction() * 100,
    randomHolder.gaussian(),
    randomHolder.gaussian() * 15 + 100,
    randomHolder.coin(),
    randomHolder.digits(6),
    randomHolder.digits(12),
    randomHolder.letters(8),
    randomHolder.letters(16),
    randomHolder.alphanumeric(16),
    randomHolder.alphanumeric(32),
  ];
  values.forEach((value, index) => log.info("random value " + (index + 1) + ": " + value));
  return values[14];
}

function uuid() {
  const value = uuidHolder.random();
  log.info("uuid: " + value);
  return value;
}
