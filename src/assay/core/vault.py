"""The secrets of this process, and the token that stands for each in everything that is kept or shown.

A token is "hidden-" and eight digits of a keyed hash: the same secret has the same token in every run of one
user, so that runs can be compared, and a record alone tells nothing of it. What is sent to a server, or
started, is `revealed` in the last moment; nothing else ever holds a secret.
"""

from __future__ import annotations

import contextlib
import os
import re
from base64 import b64encode
from functools import cache
from pathlib import Path

from assay.core import settings

TOKEN = re.compile(r"hidden-[0-9a-f]{8}")
_SHORTEST = 4
"""What is shorter would be found in words that have nothing to do with it."""
_held: dict[str, str] = {}


def token(secret: str) -> str:
    """The token of a secret, which this process knows from now on; a token is its own."""
    if TOKEN.fullmatch(secret):
        return secret
    from hashlib import blake2s

    whole = revealed(secret)
    content = whole.encode("utf-8", "surrogateescape")
    made = f"hidden-{blake2s(content, key=_key(), digest_size=4).hexdigest()}"
    _held[made] = whole
    return made


def give(secret: str) -> None:
    """Learn a secret again that a record does not hold: as it is, or as NAME:PASSWORD of `--user`."""
    token(secret)
    token(b64encode(secret.encode("utf-8", "surrogateescape")).decode())


def revealed(text: str) -> str:
    """A text with each secret in the place of its token; unknown tokens stay."""
    return TOKEN.sub(lambda found: _held.get(found[0], found[0]), text) if _held else text


def revealed_json(content: bytes) -> bytes:
    """The same for JSON, in whose strings the tokens are."""
    if not _held:
        return content
    import msgspec

    def of(found: re.Match[bytes]) -> bytes:
        secret = _held.get(found[0].decode())
        return found[0] if secret is None else msgspec.json.encode(secret)[1:-1]

    return re.sub(TOKEN.pattern.encode(), of, content)


def scrubbed(text: str, *, parts: bool = False) -> str:
    """A text of somebody else with a token in place of each secret that is found in it; with `parts` also in
    place of what stands between blanks, colons, "@" and "=" of one."""
    found = {secret: made for made, secret in _held.items()}
    if parts:
        for secret, made in tuple(found.items()):
            found |= dict.fromkeys(re.split(r"[:\s@=]+", secret), made)
    for secret in sorted(found, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, found[secret])
    return text


def unknown(text: str) -> tuple[str, ...]:
    """The tokens in a text whose secrets this process does not know, each once."""
    return tuple(dict.fromkeys(one for one in TOKEN.findall(text) if one not in _held))


@cache
def _key() -> bytes:
    """The user's own key, made once. Where no file can be kept, what tells this user of this machine apart:
    tokens then stay the same, and a guess at a short secret could be tried."""
    with contextlib.suppress(OSError, RuntimeError):
        return _kept(settings.folder() / "key")
    return f"{os.getuid()} {os.uname().nodename}".encode()[:32]


def _kept(path: Path) -> bytes:
    """What the file holds; made whole, so that of two processes both read the same."""
    import secrets

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        beside = path.with_name(f"key-{os.getpid()}")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, secrets.token_hex(16).encode())
            os.fsync(descriptor)
            with contextlib.suppress(FileExistsError):
                path.hardlink_to(beside)
        finally:
            os.close(descriptor)
            beside.unlink()
    return path.read_bytes()[:32]
