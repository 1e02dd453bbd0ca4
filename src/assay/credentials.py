"""Command lines and plans without their credentials: what may be kept, in a record or in a log, or shown."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.values.plan import LoadPlan

HIDDEN = "…"
_HIDDEN_VALUE = "(hidden)"
_SECRET_HEADERS = {"authorization", "proxy-authorization", "cookie"}
_FLAGS = {
    "ab": ("A", "P", "H", "C"),
    "wrk": ("H", "--header"),
    "h2load": ("H", "--header"),
    "bombardier": ("H", "--header", "b", "--body"),
}
"""By drop-in, the flags whose values may hold credentials."""
_FLAGS_OF_VERBS = ("H", "--header", "b", "--body", "F", "--form", "u", "--user", "--bearer")
_NAMED = re.compile(r"(?i)(\w*(?:password|passwd|secret|token|api_?key)\w*=)[^\s&'\"]+")
_IN_A_URL = re.compile(r"(?<=//)[^/?#\s'\"]*@")
_WITHOUT_SCHEME = re.compile(r"^[^/?#\s@]+:[^/?#\s@]*@(?=[^/\s])")
_SHORTEST = 4
"""What is shorter would be found in words that have nothing to do with it."""


def shown(words: Sequence[str]) -> tuple[str, ...]:
    """The words after the program's name, with "…" for what may be a secret.

    Those are the values of flags for credentials, headers and bodies, what stands before the "@" of a
    URL, and what follows "password=", "token=" and their like in any word. A letter of a bundle counts
    wherever it may be a flag: rather a harmless value is hidden than a password kept.
    """
    return tuple(shown for shown, _ in _pairs(words))


def command() -> tuple[str, ...]:
    """The command line that runs now, as a record may keep it."""
    return ("assay", *shown(sys.argv[1:]))


def without_secrets(plan: LoadPlan) -> LoadPlan:
    """The plan without what its headers and URLs hold of credentials."""
    from msgspec import structs

    requests = tuple(
        structs.replace(
            request,
            target=shown((request.target,))[0],
            headers=tuple(
                (name, _HIDDEN_VALUE if name.lower() in _SECRET_HEADERS else value)
                for name, value in request.headers
            ),
        )
        for request in plan.requests
    )
    return structs.replace(plan, url=shown((plan.url,))[0], requests=requests)


def without(text: str, words: Sequence[str]) -> str:
    """A text with "…" in place of every secret that the words hold, and of its parts."""
    secrets = [secret for _, secret in _pairs(words)]
    parts = {part for secret in secrets for part in (secret, *re.split(r"[:\s@=]+", secret))}
    for part in sorted(parts, key=len, reverse=True):
        if len(part) >= _SHORTEST:
            text = text.replace(part, HIDDEN)
    return text


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each word as it may be shown, and the secret that it holds, or ""."""
    if not words:
        return
    flags = _FLAGS.get(words[0], _FLAGS_OF_VERBS)
    letters = "".join(flag for flag in flags if len(flag) == 1)
    bundle = re.compile(rf"(-[A-Za-z0-9]*?[{letters}])(=?)(.*)", re.DOTALL)
    is_value = False
    for word in words:
        if is_value:
            is_value = False
            yield HIDDEN, word
            continue
        name, equals, value = word.partition("=")
        if word.startswith("--"):
            is_value = word in flags
            hides = bool(equals) and name in flags
            yield (f"{name}={HIDDEN}", value) if hides else _without_credentials(word)
        elif found := bundle.fullmatch(word):
            is_value = not found[3]
            yield (f"{found[1]}{found[2]}{HIDDEN}", found[3]) if found[3] else (word, "")
        else:
            yield _without_credentials(word)


def _without_credentials(word: str) -> tuple[str, str]:
    """A word without the credentials of a URL and without named secrets; what was hidden of the URL."""
    found = _IN_A_URL.search(word) or _WITHOUT_SCHEME.search(word)
    shown = _WITHOUT_SCHEME.sub(f"{HIDDEN}@", _IN_A_URL.sub(f"{HIDDEN}@", word))
    return _NAMED.sub(rf"\1{HIDDEN}", shown), found[0] if found else ""
