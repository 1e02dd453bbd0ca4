"""How TLS was spoken, in the words of OpenSSL, which are ab's."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from assay.dropin.reports import cipher

_GROUPS = {
    "X25519": "X25519 253 bits",
    "secp256r1": "ECDH prime256v1 256 bits",
    "secp384r1": "ECDH secp384r1 384 bits",
    "secp521r1": "ECDH secp521r1 521 bits",
}
_LENGTH = rb"(?:[\x00-\x7f]|\x81.|\x82..)"
_RSA_KEY = re.compile(
    rb"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00\x03%b\x00\x30%b\x02(%b)" % ((_LENGTH,) * 3),
    re.DOTALL,
)
"""rsaEncryption, which stands before a key alone (RFC 3279), up to the length of its modulus."""
_CURVES = {
    bytes.fromhex("2a8648ce3d030107"): 256,
    bytes.fromhex("2b81040022"): 384,
    bytes.fromhex("2b81040023"): 521,
    bytes.fromhex("06032b6570032100"): 253,  # Ed25519's, before a key
}


@dataclass(frozen=True)
class Security:
    """Version, cipher, bits of the server's key and of the cipher; the key exchange; the name asked for."""

    protocol: str
    temporary_key: str
    server_name: str


def security(session: tuple[str, str, str, bytes], host: str, names_server: bool) -> Security:
    """What a session's version, suite, group and certificate (DER) are called in the report."""
    version, suite, group, certificate = session
    bits = 256 if "256_GCM" in suite or "CHACHA20" in suite else 128
    parts = (
        version.replace("TLS ", "TLSv"),
        cipher(suite),
        str(key_bits(certificate)),
        str(bits),
    )
    named = host if names_server and not _is_address(host) else ""
    return Security(",".join(parts), _GROUPS.get(group, group), named)


def key_bits(certificate: bytes) -> int:
    """The length of a certificate's public key (DER); 0 where it is neither RSA nor of a known curve."""
    if found := _RSA_KEY.search(certificate):
        length = found[1][0] if len(found[1]) == 1 else int.from_bytes(found[1][1:])
        return int.from_bytes(certificate[found.end() :][:length]).bit_length()
    return next((bits for curve, bits in _CURVES.items() if curve in certificate), 0)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
