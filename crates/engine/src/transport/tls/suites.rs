//! The suites of TLS 1.3 for QUIC, which protects its packets itself. The keys of TLS's own records, 1,100 bytes and four
//! expansions of a connection's, would never be used there: they are not made.

use std::sync::LazyLock;

use rustls::crypto::CipherSuiteCommon;
use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, MessageDecrypter, MessageEncrypter,
    OutboundOpaqueMessage, OutboundPlainMessage, Tls13AeadAlgorithm, UnsupportedOperationError,
};
use rustls::crypto::ring::ALL_CIPHER_SUITES;
use rustls::{ConnectionTrafficSecrets, Error, SupportedCipherSuite, Tls13CipherSuite};

/// Those of our provider that QUIC knows.
pub(super) static OF_QUIC: LazyLock<Vec<SupportedCipherSuite>> = LazyLock::new(|| {
    let suites = ALL_CIPHER_SUITES.iter().filter_map(|suite| suite.tls13());
    suites
        .filter(|suite| suite.quic.is_some())
        .map(without_records)
        .collect()
});

fn without_records(suite: &'static Tls13CipherSuite) -> SupportedCipherSuite {
    let suite = Tls13CipherSuite {
        common: CipherSuiteCommon {
            suite: suite.common.suite,
            hash_provider: suite.common.hash_provider,
            confidentiality_limit: suite.common.confidentiality_limit,
        },
        hkdf_provider: suite.hkdf_provider,
        aead_alg: Box::leak(Box::new(NoRecords(suite.aead_alg))),
        quic: suite.quic,
    };
    SupportedCipherSuite::Tls13(Box::leak(Box::new(suite)))
}

/// Makes no keys for records.
struct NoRecords(&'static dyn Tls13AeadAlgorithm);

impl Tls13AeadAlgorithm for NoRecords {
    fn encrypter(&self, _: AeadKey, _: Iv) -> Box<dyn MessageEncrypter> {
        Box::new(NoKey)
    }

    fn decrypter(&self, _: AeadKey, _: Iv) -> Box<dyn MessageDecrypter> {
        Box::new(NoKey)
    }

    fn key_len(&self) -> usize {
        self.0.key_len()
    }

    fn extract_keys(
        &self,
        key: AeadKey,
        iv: Iv,
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        self.0.extract_keys(key, iv)
    }

    fn fips(&self) -> bool {
        self.0.fips()
    }
}

/// Nothing is ever encrypted with it.
struct NoKey;

impl MessageEncrypter for NoKey {
    fn encrypt(
        &mut self,
        _: OutboundPlainMessage<'_>,
        _: u64,
    ) -> Result<OutboundOpaqueMessage, Error> {
        Err(Error::EncryptError)
    }

    fn encrypted_payload_len(&self, payload_len: usize) -> usize {
        payload_len
    }
}

impl MessageDecrypter for NoKey {
    fn decrypt<'a>(
        &mut self,
        _: InboundOpaqueMessage<'a>,
        _: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        Err(Error::DecryptError)
    }
}

#[cfg(test)]
mod tests {
    use super::OF_QUIC;
    use rustls::crypto::cipher::{AeadKey, Iv};

    #[test]
    fn quic_has_its_three_suites_and_no_keys_for_records() {
        let names: Vec<String> = (OF_QUIC.iter())
            .map(|suite| format!("{:?}", suite.suite()))
            .collect();
        let known = [
            "TLS13_AES_256_GCM_SHA384",
            "TLS13_AES_128_GCM_SHA256",
            "TLS13_CHACHA20_POLY1305_SHA256",
        ];
        assert_eq!(names, known);
        for suite in OF_QUIC.iter().filter_map(|suite| suite.tls13()) {
            let key = AeadKey::from([0; 32]);
            let encrypter = suite.aead_alg.encrypter(key, Iv::copy(&[0; 12]));
            assert_eq!(size_of_val(&*encrypter), 0);
        }
    }
}
