//! Signatures of handshakes under certificates of any kind, held to nothing but their key.
//!
//! The verifier of rustls reads a certificate by the rules for authorities first, and takes neither X.509 v1 nor fields
//! it does not know. Where nobody asks who a server is, or a file of the user's holds that very certificate, the key in
//! it is all that counts.

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::alg_id::RSA_ENCRYPTION;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// Ours verify no RSA key that is shorter.
const SHORTEST_RSA_BYTES: usize = 256;
const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
/// `[0]`, which only certificates of version 2 and 3 begin with.
const VERSION: u8 = 0xa0;

/// Kinds of signature that we ask for and cannot verify: a server with such a key has no other.
pub(super) const UNVERIFIED: [SignatureScheme; 2] = [
    SignatureScheme::ECDSA_NISTP521_SHA512,
    SignatureScheme::ED448,
];

/// Verifies a handshake's signature by the key of `certificate`. One of a kind that we cannot verify (P-521, RSA below
/// 2048 bits) is taken as it is.
pub(super) fn verify(
    algorithms: &WebPkiSupportedAlgorithms,
    message: &[u8],
    certificate: &[u8],
    signed: &DigitallySignedStruct,
) -> Result<HandshakeSignatureValid, Error> {
    let key = Key::of(certificate).ok_or(CertificateError::BadEncoding)?;
    let fits = |algorithm: &dyn rustls::pki_types::SignatureVerificationAlgorithm| {
        algorithm.public_key_alg_id().as_ref() == key.algorithm
    };
    let of_scheme = algorithms.mapping.iter();
    let is_right = of_scheme
        .filter(|(scheme, _)| *scheme == signed.scheme)
        .flat_map(|(_, algorithms)| *algorithms)
        .filter(|algorithm| fits(**algorithm))
        .any(|algorithm| {
            let checked = algorithm.verify_signature(key.bits, message, signed.signature());
            checked.is_ok()
        });
    let is_known = algorithms.all.iter().any(|algorithm| fits(*algorithm)) && !key.is_short_rsa();
    match is_right || !is_known {
        true => Ok(HandshakeSignatureValid::assertion()),
        false => Err(CertificateError::BadSignature.into()),
    }
}

/// A certificate's public key (RFC 5280, 4.1).
struct Key<'a> {
    /// All of it, as `SubjectPublicKeyInfo`.
    whole: &'a [u8],
    /// Inside its `AlgorithmIdentifier`.
    algorithm: &'a [u8],
    bits: &'a [u8],
}

impl<'a> Key<'a> {
    fn of(certificate: &'a [u8]) -> Option<Self> {
        let (_, inside, _) = element(certificate, SEQUENCE)?;
        let (_, mut fields, _) = element(inside, SEQUENCE)?;
        if let Some((_, _, rest)) = element(fields, VERSION) {
            fields = rest;
        }
        // Serial number, algorithm, issuer, validity, subject.
        for kind in [INTEGER, SEQUENCE, SEQUENCE, SEQUENCE, SEQUENCE] {
            fields = element(fields, kind)?.2;
        }
        let (whole, info, _) = element(fields, SEQUENCE)?;
        let (_, algorithm, rest) = element(info, SEQUENCE)?;
        let (_, bits, _) = element(rest, BIT_STRING)?;
        Some(Self {
            whole,
            algorithm,
            // The first byte says how many bits of the last one are none: no key has such.
            bits: bits.split_first()?.1,
        })
    }

    fn is_short_rsa(&self) -> bool {
        let modulus = || {
            let (_, numbers, _) = element(self.bits, SEQUENCE)?;
            let (_, modulus, _) = element(numbers, INTEGER)?;
            Some(modulus.iter().skip_while(|byte| **byte == 0).count())
        };
        self.algorithm == RSA_ENCRYPTION.as_ref()
            && modulus().is_none_or(|bytes| bytes < SHORTEST_RSA_BYTES)
    }
}

/// The `SubjectPublicKeyInfo` of a certificate.
pub(super) fn public_key(certificate: &[u8]) -> Option<&[u8]> {
    Key::of(certificate).map(|key| key.whole)
}

/// The element of DER that the input begins with, where it is of that kind: all of it, what is in it, and what follows.
fn element(input: &[u8], kind: u8) -> Option<(&[u8], &[u8], &[u8])> {
    let (&[tag, first], rest) = input.split_first_chunk()?;
    if tag != kind {
        return None;
    }
    let (length, rest) = match usize::from(first) {
        short @ 0..=0x7f => (short, rest),
        long @ 0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(long - 0x80)?;
            let add = |sum: usize, digit: &u8| sum << 8 | usize::from(*digit);
            (digits.iter().fold(0, add), rest)
        }
        _ => return None,
    };
    let (inside, after) = rest.split_at_checked(length)?;
    Some((&input[..input.len() - after.len()], inside, after))
}
