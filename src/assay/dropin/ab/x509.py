"""What a server's certificate (DER, RFC 5280) says, in OpenSSL's words, which are ab's.

The Python library opens certificates only after it has trusted them, and a library for all of X.509
is many times the size of the few fields that ab prints.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

_RSA = bytes.fromhex("2a864886f70d010101")
_CURVES = {
    bytes.fromhex("2a8648ce3d030107"): 256,
    bytes.fromhex("2b81040022"): 384,
    bytes.fromhex("2b81040023"): 521,
}
_ED25519_BITS = 253
_NAMES = {
    "2.5.4.3": "CN", "2.5.4.4": "SN", "2.5.4.5": "serialNumber", "2.5.4.6": "C", "2.5.4.7": "L",
    "2.5.4.8": "ST", "2.5.4.9": "street", "2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.12": "title",
    "2.5.4.42": "GN", "0.9.2342.19200300.100.1.1": "UID", "0.9.2342.19200300.100.1.25": "DC",
    "1.2.840.113549.1.9.1": "emailAddress",
}  # fmt: skip
_UTC_TIME = 0x17
_VERSION, _EXTENSIONS = 0xA0, 0xA3


@dataclass(frozen=True)
class Certificate:
    """The fields that ab prints. Names are OpenSSL's lines of one; times are texts."""

    version: int
    begins: str
    ends: str
    key_bits: int
    issuer: str
    subject: str
    extensions: int


def read(certificate: bytes) -> Certificate | None:
    """Read a certificate; None where it is none."""
    try:
        return _read(certificate)
    except (IndexError, ValueError):
        return None


def key_bits(certificate: bytes) -> int:
    """The length of the public key; 0 where it cannot be read."""
    found = read(certificate)
    return 0 if found is None else found.key_bits


def _read(certificate: bytes) -> Certificate:
    _, body, _ = _element(certificate)
    _, to_be_signed, _ = _element(body)
    fields = _elements(to_be_signed)
    version = 1
    if fields[0][0] == _VERSION:
        version += int.from_bytes(_element(fields.pop(0)[1])[1])
    _serial, _signature, issuer, validity, subject, key, *rest = fields
    begins, ends = (_time(tag, text) for tag, text in _elements(validity[1]))
    extensions = [_elements(_element(content)[1]) for tag, content in rest if tag == _EXTENSIONS]
    return Certificate(
        version=version,
        begins=begins,
        ends=ends,
        key_bits=_key_bits(key[1]),
        issuer=_name(issuer[1]),
        subject=_name(subject[1]),
        extensions=sum(map(len, extensions)),
    )


def _key_bits(key: bytes) -> int:
    algorithm, bits = _elements(key)
    names = _elements(algorithm[1])
    if names[0][1] == _RSA:
        _, numbers, _ = _element(bits[1][1:])
        return int.from_bytes(_elements(numbers)[0][1]).bit_length()
    return _CURVES.get(names[1][1], 0) if len(names) > 1 else _ED25519_BITS


def _time(tag: int, text: bytes) -> str:
    """A time as "Nov 22 07:44:07 2026 GMT". Years of two digits begin in 1950 (RFC 5280, 4.1.2.5.1)."""
    digits = text.decode("ascii")
    if tag == _UTC_TIME:
        digits = ("20" if int(digits[:2]) < 50 else "19") + digits
    moment = time.strptime(digits, "%Y%m%d%H%M%SZ")
    return f"{time.strftime('%b', moment)} {moment.tm_mday:2d} {time.strftime('%H:%M:%S %Y', moment)} GMT"


def _name(content: bytes) -> str:
    """A distinguished name as "/O=Example/CN=host"; what cannot be printed as "\\xE4"."""
    parts = []
    for _, group in _elements(content):
        for _, pair in _elements(group):
            (_, identifier), (_, value) = _elements(pair)
            dotted = _dotted(identifier)
            printed = "".join(chr(byte) if 0x20 <= byte <= 0x7E else f"\\x{byte:02X}" for byte in value)
            parts.append(f"/{_NAMES.get(dotted, dotted)}={printed}")
    return "".join(parts)


def _dotted(identifier: bytes) -> str:
    """An object identifier's numbers: each of 7 bits a byte, the first two in one (X.690, 8.19)."""
    numbers, number = [], 0
    for byte in identifier:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, [first, numbers[0] - 40 * first, *numbers[1:]]))


def _elements(content: bytes) -> list[tuple[int, bytes]]:
    elements = []
    while content:
        tag, value, content = _element(content)
        elements.append((tag, value))
    return elements


def _element(data: bytes) -> tuple[int, bytes, bytes]:
    """The first element of DER: its tag, its content, and what follows it."""
    tag, length, start = data[0], data[1], 2
    if length >= 0x80:
        start += length & 0x7F
        length = int.from_bytes(data[2:start])
    if start + length > len(data):
        raise ValueError("an element is longer than what holds it")
    return tag, data[start : start + length], data[start + length :]
