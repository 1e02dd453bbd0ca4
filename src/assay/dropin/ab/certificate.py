"""How TLS was spoken, in the words of OpenSSL, which are ab's."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from assay.dropin.ab import x509
from assay.dropin.reports import cipher

_GROUPS = {
    "X25519": "X25519 253 bits",
    "secp256r1": "ECDH prime256v1 256 bits",
    "secp384r1": "ECDH secp384r1 384 bits",
    "secp521r1": "ECDH secp521r1 521 bits",
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
        str(x509.key_bits(certificate)),
        str(bits),
    )
    named = host if names_server and not _is_address(host) else ""
    return Security(",".join(parts), _GROUPS.get(group, group), named)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
