"""Words of `assay load` to values: forms, credentials, addresses, expected headers.

Each function takes the word after a flag and returns what the plan wants, or raises
`argparse.ArgumentTypeError` saying what would be right; the parser adds the flag's name.
"""

from __future__ import annotations

import argparse
import re
from typing import Any
from urllib.parse import unquote

from assay.cli.words import TOKEN, readable_file
from assay.core import urls
from assay.core.errors import InputError


def header_value(word: str) -> str:
    """Text that may stand in a header."""
    if re.search(r"[\r\n\0]", word):
        raise argparse.ArgumentTypeError("a header's value cannot hold a line break")
    return word.strip()


def expected_header(word: str) -> dict[str, str | None]:
    """A header of right answers: its name, and a regular expression found in its value."""
    name, colon, pattern = word.partition(":")
    if not TOKEN.fullmatch(name.strip()):
        raise argparse.ArgumentTypeError(f'{word!r} is not a header such as "Content-Type: ^text/"')
    return {"name": name.strip(), "pattern": pattern.strip() if colon else None}


def form_part(word: str) -> dict[str, str]:
    """One field of a form, as curl writes it: name=text, name=@path, name=@path;type=image/png."""
    name, equals, value = word.partition("=")
    if not (equals and name):
        raise argparse.ArgumentTypeError(f"{word!r} is not a field such as name=Ada or picture=@cat.png")
    if not value.startswith("@"):
        return {"name": name, "text": value}
    path, *settings = value[1:].split(";")
    part = {"name": name, "file": readable_file(path)}
    known = {"type": "content_type", "filename": "file_name"}
    for setting in settings:
        key, _, said = setting.strip().partition("=")
        if key not in known or not said:
            raise argparse.ArgumentTypeError(f"{setting!r} is neither type=… nor filename=…")
        part[known[key]] = header_value(said)
    return part


def basic(word: str) -> str:
    """Name and password as an Authorization header says them (RFC 7617)."""
    from base64 import b64encode

    name, colon, _ = word.partition(":")
    if not colon or not name:
        raise argparse.ArgumentTypeError("write it as NAME:PASSWORD")
    return f"Basic {b64encode(word.encode()).decode()}"


def bearer(word: str) -> str:
    """A token as an Authorization header says it (RFC 6750)."""
    if not re.fullmatch(r"[!-~]+", word):
        raise argparse.ArgumentTypeError("a token is letters, digits and punctuation, without spaces")
    return f"Bearer {word}"


def address(word: str) -> str:
    """An IP address with or without a port: 127.0.0.1, 127.0.0.1:8080, ::1, [::1]:8080."""
    found = re.fullmatch(r"\[([^\]]+)\](?::(\d+))?|([^:]+):(\d+)|(.+)", word)
    host = found and (found[1] or found[3] or found[5])
    port = found and (found[2] or found[4])
    if not host or not _is_ip(host) or (port and not 0 < int(port) < 65536):
        raise argparse.ArgumentTypeError(f"{word!r} is not an address such as 127.0.0.1:8080 or [::1]:8080")
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{port}" if port else host


def source(word: str) -> str:
    """An IP address without a port: the system chooses the ports to connect from."""
    if not _is_ip(word):
        raise argparse.ArgumentTypeError(f"{word!r} is not an address such as 127.0.0.2")
    return word


def resolution(word: str) -> dict[str, Any]:
    """The addresses of a host and port, as curl writes them: example.test:80:127.0.0.1,::1."""
    found = re.fullmatch(r"(\[[^\]]+\]|[^:]+):(\d{1,5}):(.+)", word)
    addresses = [part.strip("[]") for part in found[3].split(",")] if found else []
    if found is None or not all(map(_is_ip, addresses)):
        raise argparse.ArgumentTypeError(f"{word!r} is not like example.test:80:127.0.0.1")
    return {"host": found[1].strip("[]").lower(), "port": int(found[2]), "addresses": addresses}


def proxy(word: str) -> str:
    """The URL of a proxy, with the credentials that it is told, if any."""
    url = word if "://" in word else f"http://{word}"
    shown = re.sub(r"(?<=//)[^/]*@", "…@", url)
    wrong = argparse.ArgumentTypeError(
        f"{shown!r} is not a proxy such as http://127.0.0.1:3128 or http://NAME:PASSWORD@127.0.0.1:3128"
    )
    try:
        parts = urls.parse(url)
    except InputError:
        raise wrong from None
    if parts.scheme != "http" or parts.port is None or parts.target != "/":
        raise wrong
    told_proxy(parts.user)
    return url.rstrip("/")


def told_proxy(user: str) -> str:
    """What a proxy is told of who uses it, from what stands before the "@" of its URL; empty for nothing."""
    if not user:
        return ""
    return basic(unquote(user if ":" in user else f"{user}:"))


def alpn(word: str) -> tuple[str, ...]:
    """Protocols to offer; "none" for none."""
    return () if word == "none" else tuple(part.strip() for part in word.split(","))


def _is_ip(text: str) -> bool:
    from ipaddress import ip_address

    try:
        ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def requests_file(word: str) -> str:
    """The path of a file that can be read, or "-" for standard input."""
    return word if word == "-" else readable_file(word)
