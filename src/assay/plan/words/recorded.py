"""Requests that other programs recorded: a HAR file of a browser, or a command for curl."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from assay.core import urls
from assay.core.errors import InputError, cure_of, reason_of
from assay.core.units import counted
from assay.plan.words import curl
from assay.plan.words.address import full_url
from assay.plan.words.load_requests import RecordedLines, RecordedLoad, server_of


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OF_CONNECTION = _listed(
    """
    connection content-length expect host http2-settings keep-alive proxy-authorization proxy-connection te
    trailer transfer-encoding upgrade
    """
)
"""Header fields of one connection: the engine says its own."""


def expanded(url: str, given: Mapping[str, Any]) -> RecordedLoad:
    """The URL and the values, with those of a recording in place of `har` or `curl`. Flags that are given
    beside it replace what it says. InputError where it is not understood."""
    if "all_hosts" in given and "har" not in given:
        raise InputError("--all-hosts needs a recording", "add --har FILE")
    if "curl" in given and "har" in given:
        raise InputError("--curl and --har exclude each other", "give one of them")
    for recording, read in (("har", _of_har), ("curl", curl.read)):
        if recording in given:
            rest = {name: value for name, value in given.items() if name != recording}
            return read(url, given[recording], rest)
    if not url:
        raise InputError("URL is missing", "write it like `assay load http://127.0.0.1:8080/`")
    return RecordedLoad(url, given)


class _HarPair(msgspec.Struct):
    name: str = ""
    value: str = ""


class _HarBody(msgspec.Struct, rename="camel"):
    text: str | None = None
    params: list[_HarPair] | None = None
    encoding: str | None = None
    mime_type: str | None = None


class _HarRequest(msgspec.Struct, rename="camel"):
    method: str
    url: str
    headers: list[_HarPair] = []
    post_data: _HarBody | None = None
    body_size: int = 0


class _HarAnswer(msgspec.Struct):
    status: int = 0


class _HarEntry(msgspec.Struct):
    request: _HarRequest
    response: _HarAnswer = msgspec.field(default_factory=_HarAnswer)


class _HarLog(msgspec.Struct):
    entries: list[_HarEntry]


class _Har(msgspec.Struct):
    """What is read of the file; bodies of answers are passed over."""

    log: _HarLog


def _of_har(url: str, path: str, given: Mapping[str, Any]) -> RecordedLoad:
    """The requests of a HAR in their order. They go to the URL, else to the server of the first; requests of
    other servers are left out, but with `all_hosts`, where each goes to its own."""
    if "requests" in given:
        raise InputError("--har and --requests exclude each other", "give one of them")
    try:
        entries = msgspec.json.decode(Path(path).read_bytes(), type=_Har).log.entries
    except OSError as problem:
        raise InputError(f"{path}: {reason_of(problem)}", cure_of(problem)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise InputError(f"{path} is not a HAR: {problem}", "save it as HAR in a browser's tools") from None
    origins = [_origin(entry.request.url) for entry in entries]
    origin = _origin(url) if url and _origin(url) in origins else next(filter(None, origins), "")
    everywhere = given.get("all_hosts", False)
    left, lines = Counter[str](), []
    for entry, of in zip(entries, origins, strict=True):
        reason = _left_out(entry, of, origin, everywhere=everywhere)
        left[reason] += bool(reason)
        server = "" if of == origin else of
        lines.append(b"" if reason else msgspec.json.encode(_line(entry.request, server)))
    told = [f"{counted(count, 'request')} {reason}" for reason, count in left.items() if reason]
    if not any(lines):
        raise InputError(f"{path} holds no request that can be sent{f': {told[0]}' if told else ''}")
    notes = [f"left out of {path}: {', '.join(told)}"] if told else []
    target = f"{url.partition('://')[0]}://{urls.parse(url).authority}" if "://" in url else url
    if target and _origin(url) != origin:
        notes.append(f"requests of {origin} are sent to {target}")
    if url and urls.parse(full_url(url)).target != "/":
        raise InputError("--har names the paths itself", "leave the path out of the URL")
    rest = {name: value for name, value in given.items() if name != "all_hosts"}
    made = {**rest, "requests": RecordedLines(path, tuple(lines))}
    return RecordedLoad(target or origin, made, tuple(notes))


def _origin(url: str) -> str:
    """Scheme, host and port of a URL; empty where it is none of http."""
    try:
        return server_of(full_url(url))
    except InputError:
        return ""


def _left_out(entry: _HarEntry, of: str, origin: str, *, everywhere: bool) -> str:
    """Which kind of request it is that is not sent again; empty where it is."""
    asked, posted = entry.request, entry.request.post_data
    if entry.response.status == 101 or asked.url.startswith(("ws:", "wss:")):
        return "of WebSockets"
    if not of:
        return "to what is no URL of http"
    if of != origin and not everywhere:
        return "to another server"
    if of.partition(":")[0] != origin.partition(":")[0]:
        return "of another scheme"
    body = _body(posted)
    if body is None or re.search(r"[\x00-\x08\x0e-\x1f\ufffd]", body):
        return "with a binary body"
    if not body and asked.body_size > 0:
        return "whose body was not recorded"
    return ""


def _body(posted: _HarBody | None) -> str | None:
    """The text of a body, empty where there is none; None where it is no text."""
    if posted is None:
        return ""
    if posted.encoding == "base64":
        from base64 import b64decode

        try:
            return b64decode(posted.text or "", validate=True).decode()
        except ValueError:
            return None
    if posted.text or not posted.params:
        return posted.text or ""
    if "multipart" in (posted.mime_type or ""):
        return None
    from urllib.parse import urlencode

    return urlencode([(one.name, one.value) for one in posted.params])


def _line(asked: _HarRequest, server: str) -> dict[str, Any]:
    """The line of `--requests` that says the same; `server` where it is not that of the load's URL."""
    headers: dict[str, list[str]] = {}
    for one in asked.headers:
        if not one.name.startswith(":") and one.name.lower() not in _OF_CONNECTION:
            headers.setdefault(one.name, []).append(one.value)
    body = _body(asked.post_data)
    line = {"method": asked.method, "path": f"{server}{urls.parse(asked.url).target}", "headers": headers}
    return line | ({"body": body} if body else {})
