//! What a script sees of the host: the same objects as in the other servers of this contract.

use chrono::{DateTime, NaiveDateTime, Utc};
use openssl::base64::{decode_block, encode_block};
use openssl::error::ErrorStack;
use openssl::hash::{MessageDigest, hash};
use openssl::pkey::PKey;
use openssl::rand::rand_bytes;
use openssl::rsa::{Padding, Rsa};
use openssl::sign::Signer;
use openssl::symm::{Cipher, decrypt, encrypt};
use rquickjs::prelude::Func;
use rquickjs::{Ctx, Error, Object, Result};
use uuid::Uuid;

const AES_KEY_BYTES: usize = 32;
const AES_BLOCK_BYTES: usize = 16;
/// As the study used them; too short to protect anything.
const RSA_BITS: u32 = 1024;
const DAY_MS: f64 = 86_400_000.0;
const DIGITS: &str = "0123456789";
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// An error of the host as an exception of the script.
pub fn thrown(error: &impl ToString) -> Error {
    Error::new_from_js_message("host", "script", error.to_string())
}

fn told<T, E: ToString>(result: std::result::Result<T, E>) -> Result<T> {
    result.map_err(|error| thrown(&error))
}

/// Puts the host's objects into a context's globals.
pub fn install(ctx: &Ctx<'_>) -> Result<()> {
    let globals = ctx.globals();
    globals.set("dateHolder", dates(ctx)?)?;
    globals.set("codingHolder", codings(ctx)?)?;
    globals.set("hashingHolder", hashings(ctx)?)?;
    globals.set("aesHolder", aes(ctx)?)?;
    globals.set("rsaHolder", rsa(ctx)?)?;
    globals.set("randomHolder", randoms(ctx)?)?;
    let uuids = Object::new(ctx.clone())?;
    uuids.set("random", Func::from(|| Uuid::new_v4().to_string()))?;
    globals.set("uuidHolder", uuids)?;
    let log = Object::new(ctx.clone())?;
    log.set(
        "info",
        Func::from(|line: String| log::info!(target: "script", "{line}")),
    )?;
    globals.set("log", log)
}

/// Milliseconds since 1970 and text, both UTC.
fn dates<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let holder = Object::new(ctx.clone())?;
    holder.set("now", Func::from(|| Utc::now().timestamp_millis() as f64))?;
    holder.set(
        "format",
        Func::from(|millis: f64, pattern: String| -> Result<String> {
            let time =
                DateTime::from_timestamp_millis(millis as i64).ok_or_else(|| thrown(&"no date"))?;
            Ok(time.format(&strftime(&pattern)).to_string())
        }),
    )?;
    holder.set(
        "parse",
        Func::from(|text: String, pattern: String| -> Result<f64> {
            let time = told(NaiveDateTime::parse_from_str(&text, &strftime(&pattern)))?;
            Ok(time.and_utc().timestamp_millis() as f64)
        }),
    )?;
    holder.set(
        "plusDays",
        Func::from(|millis: f64, days: i32| millis + f64::from(days) * DAY_MS),
    )?;
    holder.set(
        "daysBetween",
        Func::from(|from: f64, to: f64| ((to - from) / DAY_MS) as i32),
    )?;
    Ok(holder)
}

/// The scripts write patterns as Java does.
fn strftime(pattern: &str) -> String {
    let letters = [
        ("yyyy", "%Y"),
        ("MM", "%m"),
        ("dd", "%d"),
        ("HH", "%H"),
        ("mm", "%M"),
        ("ss", "%S"),
    ];
    letters
        .iter()
        .fold(pattern.to_owned(), |text, (java, ours)| {
            text.replace(java, ours)
        })
}

fn codings<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let holder = Object::new(ctx.clone())?;
    holder.set(
        "base64Encode",
        Func::from(|text: String| encode_block(text.as_bytes())),
    )?;
    holder.set(
        "base64Decode",
        Func::from(|code: String| text_of(decode_block(&code))),
    )?;
    holder.set(
        "base58Encode",
        Func::from(|text: String| bs58::encode(text).into_string()),
    )?;
    holder.set(
        "base58Decode",
        Func::from(|code: String| text_of(bs58::decode(code).into_vec())),
    )?;
    holder.set("hexEncode", Func::from(|text: String| hex::encode(text)))?;
    holder.set(
        "hexDecode",
        Func::from(|code: String| text_of(hex::decode(code))),
    )?;
    Ok(holder)
}

fn text_of<E: ToString>(bytes: std::result::Result<Vec<u8>, E>) -> Result<String> {
    told(String::from_utf8(told(bytes)?))
}

fn hashings<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let digests = [
        ("md5", MessageDigest::md5()),
        ("sha1", MessageDigest::sha1()),
        ("sha256", MessageDigest::sha256()),
        ("sha384", MessageDigest::sha384()),
        ("sha512", MessageDigest::sha512()),
    ];
    let keyed = [
        ("hmacSha1", MessageDigest::sha1()),
        ("hmacSha256", MessageDigest::sha256()),
        ("hmacSha512", MessageDigest::sha512()),
    ];
    let holder = Object::new(ctx.clone())?;
    for (name, digest) in digests {
        let of = move |text: String| told(hash(digest, text.as_bytes()).map(hex::encode));
        holder.set(name, Func::from(of))?;
    }
    for (name, digest) in keyed {
        let of = move |key: String, text: String| told(hmac(digest, &key, &text));
        holder.set(name, Func::from(of))?;
    }
    Ok(holder)
}

fn hmac(digest: MessageDigest, key: &str, text: &str) -> std::result::Result<String, ErrorStack> {
    let key = PKey::hmac(key.as_bytes())?;
    Ok(hex::encode(
        Signer::new(digest, &key)?.sign_oneshot_to_vec(text.as_bytes())?,
    ))
}

/// AES-256-CBC: keys in base64; ciphertexts are the base64 of a fresh vector and the blocks.
fn aes<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let holder = Object::new(ctx.clone())?;
    holder.set(
        "generateKey",
        Func::from(|| -> Result<String> {
            let mut key = [0; AES_KEY_BYTES];
            told(rand_bytes(&mut key))?;
            Ok(encode_block(&key))
        }),
    )?;
    holder.set(
        "encrypt",
        Func::from(|key: String, text: String| -> Result<String> {
            let mut code = vec![0; AES_BLOCK_BYTES];
            told(rand_bytes(&mut code))?;
            let (key, cipher) = (told(decode_block(&key))?, Cipher::aes_256_cbc());
            let blocks = told(encrypt(cipher, &key, Some(&code), text.as_bytes()))?;
            code.extend(blocks);
            Ok(encode_block(&code))
        }),
    )?;
    holder.set(
        "decrypt",
        Func::from(|key: String, code: String| -> Result<String> {
            let (key, code) = (told(decode_block(&key))?, told(decode_block(&code))?);
            let parts = code.split_at_checked(AES_BLOCK_BYTES);
            let (vector, blocks) = parts.ok_or_else(|| thrown(&"the ciphertext is too short"))?;
            text_of(decrypt(Cipher::aes_256_cbc(), &key, Some(vector), blocks))
        }),
    )?;
    Ok(holder)
}

/// Keys are the base64 of SubjectPublicKeyInfo and PKCS#8.
fn rsa<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let holder = Object::new(ctx.clone())?;
    holder.set(
        "generateKeys",
        Func::from(|ctx: Ctx<'js>| -> Result<Object<'js>> {
            let pair = told(Rsa::generate(RSA_BITS).and_then(PKey::from_rsa))?;
            let keys = Object::new(ctx)?;
            keys.set("publicKey", encode_block(&told(pair.public_key_to_der())?))?;
            keys.set(
                "privateKey",
                encode_block(&told(pair.private_key_to_pkcs8())?),
            )?;
            Ok(keys)
        }),
    )?;
    holder.set(
        "encrypt",
        Func::from(|key: String, text: String| -> Result<String> {
            let key = told(Rsa::public_key_from_der(&told(decode_block(&key))?))?;
            let mut code = vec![0; key.size() as usize];
            told(key.public_encrypt(text.as_bytes(), &mut code, Padding::PKCS1))?;
            Ok(encode_block(&code))
        }),
    )?;
    holder.set(
        "decrypt",
        Func::from(|key: String, code: String| -> Result<String> {
            let key = told(
                PKey::private_key_from_pkcs8(&told(decode_block(&key))?).and_then(|key| key.rsa()),
            )?;
            let mut text = vec![0; key.size() as usize];
            let length =
                told(key.private_decrypt(&told(decode_block(&code))?, &mut text, Padding::PKCS1))?;
            text.truncate(length);
            told(String::from_utf8(text))
        }),
    )?;
    Ok(holder)
}

fn randoms<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let holder = Object::new(ctx.clone())?;
    holder.set(
        "integer",
        Func::from(|from: i32, to: i32| fastrand::i32(from..to)),
    )?;
    holder.set("fraction", Func::from(fastrand::f64))?;
    holder.set("gaussian", Func::from(gaussian))?;
    holder.set("coin", Func::from(fastrand::bool))?;
    holder.set("digits", Func::from(|length: usize| text(DIGITS, length)))?;
    holder.set("letters", Func::from(|length: usize| text(LETTERS, length)))?;
    holder.set(
        "alphanumeric",
        Func::from(|length: usize| text(&[DIGITS, LETTERS].concat(), length)),
    )?;
    Ok(holder)
}

/// Of mean 0 and deviation 1, by the Box–Muller transform.
fn gaussian() -> f64 {
    let (radius, angle) = (1.0 - fastrand::f64(), fastrand::f64());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

fn text(alphabet: &str, length: usize) -> String {
    (0..length)
        .map(|_| alphabet.as_bytes()[fastrand::usize(..alphabet.len())] as char)
        .collect()
}
