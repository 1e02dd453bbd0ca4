"""How TLS was spoken, in the words of OpenSSL, which are ab's."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

_GROUPS = {
    "X25519": "X25519 253 bits",
    "secp256r1": "ECDH prime256v1 256 bits",
    "secp384r1": "ECDH secp384r1 384 bits",
    "secp521r1": "ECDH secp521r1 521 bits",
}
_RSA = bytes.fromhex("2a864886f70d010101")
_CURVES = {
    bytes.fromhex("2a8648ce3d030107"): 256,
    bytes.fromhex("2b81040022"): 384,
    bytes.fromhex("2b81040023"): 521,
}
_ED25519_BITS = 253


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
    parts = (version.replace("TLS ", "TLSv"), cipher(suite), str(key_bits(certificate)), str(bits))
    named = host if names_server and not _is_address(host) else ""
    return Security(",".join(parts), _GROUPS.get(group, group), named)


def cipher(suite: str) -> str:
    """The registry's name of a suite in OpenSSL's spelling."""
    if suite.startswith("TLS13_"):
        return suite.replace("TLS13_", "TLS_")
    text = suite.removeprefix("TLS_").replace("_WITH_", "-")
    text = re.sub(r"AES_(\d+)_", r"AES\1-", text).replace("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305")
    return text.replace("_", "-")


def key_bits(certificate: bytes) -> int:
    """The length of the public key in a certificate (RFC 5280, 4.1); 0 where it cannot be read."""
    try:
        _, body, _ = _element(certificate)
        _, to_be_signed, _ = _element(body)
        fields = _elements(to_be_signed)
        key = fields[6 if fields[0][0] == 0xA0 else 5][1]
        algorithm, bits = _elements(key)
        names = _elements(algorithm[1])
    except (IndexError, ValueError):
        return 0
    if names[0][1] == _RSA:
        _, numbers, _ = _element(bits[1][1:])
        return int.from_bytes(_elements(numbers)[0][1]).bit_length()
    return _CURVES.get(names[1][1], 0) if len(names) > 1 else _ED25519_BITS


def _elements(content: bytes) -> list[tuple[int, bytes]]:
    found = []
    while content:
        tag, value, content = _element(content)
        found.append((tag, value))
    return found


def _element(data: bytes) -> tuple[int, bytes, bytes]:
    """The first element of DER: its tag, its content, and what follows it."""
    tag, length, start = data[0], data[1], 2
    if length >= 0x80:
        start += length & 0x7F
        length = int.from_bytes(data[2:start])
    if start + length > len(data):
        raise ValueError("an element is longer than what holds it")
    return tag, data[start : start + length], data[start + length :]


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
