"""Options as Python says them, made into the values of the table of flags, or into what a verb is asked.

A number, a mapping or a sequence becomes the words that a command line has for it, so that one parser says
what is right. An InputError names the option.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, TypeAlias, TypedDict, TypeVar

from assay.core.console import unattended
from assay.core.errors import AssayError, InputError
from assay.plan.words import parse
from assay.plan.words.case import parse_scan
from assay.plan.words.load_table import GROUPS, LoadFlag
from assay.plan.words.settle_trials import AskedComparison, AskedSearch
from assay.verdict.compare import Watched
from assay.verdict.objective import ObjectiveLimit

Time: TypeAlias = "float | str"
"""Seconds, or a word such as "500ms", "10s", "2m"."""
Rate: TypeAlias = "float | str"
"""Requests a second, or a word such as "20k", "6/m"."""
Share: TypeAlias = "float | str"
"""A share such as 0.02, or "2%"."""
Text: TypeAlias = "str | PathLike[str]"
T = TypeVar("T")
Readers: TypeAlias = "Mapping[str, tuple[str, Callable[[str], object] | None]]"
"""By option the field that it fills, and what reads its word; None takes it as it is."""


class TrialOptions(TypedDict, total=False):
    """What a load is made of, wherever it is offered: `load`, `versus`, `capacity`."""

    threads: int
    method: str
    headers: Mapping[str, str] | Sequence[tuple[str, str]]
    body: str
    body_file: Text
    json: object
    expect_status: int | str | Sequence[int]
    accept_encoding: str
    auth: tuple[str, str]
    bearer: str
    bearer_file: Text
    header_file: Text
    timeout: Time
    keep_alive: bool
    resend: bool
    http: int | str
    streams: int
    seed: int
    verify: bool | Text
    cert: tuple[Text, Text]
    sni: str
    tls_min: str
    tls_max: str
    resumption: bool


class LoadOptions(TrialOptions, total=False):
    """What `load` takes beside these: loads of any shape, answers held to more than a status, other ways."""

    cpus: Sequence[int] | str
    think_time: Time
    stages: Sequence[tuple[float, float] | tuple[float, float, float] | str]
    arrivals: str
    pacer: str
    form: Mapping[str, str] | Sequence[str]
    chunked: int
    template: bool
    requests: Text | Sequence[str | Mapping[str, Any]]
    har: Text
    all_hosts: bool
    curl: str
    order: str
    expect_header: Mapping[str, str | None]
    expect_body: str
    expect_match: str
    expect_length: int
    check_every: int
    requests_per_connection: int
    pipeline: int
    connect_rate: Rate
    cookies: bool
    follow: int
    unix_socket: Text
    address: str | Sequence[str]
    resolve: str
    ipv4: bool
    ipv6: bool
    source: str | Sequence[str]
    proxy: str
    alpn: str | Sequence[str]


class VersusOptions(TrialOptions, total=False):
    """What `versus` takes beside these: how long servers and slices may take, and commands around them."""

    ready_timeout: Time
    slice: Time
    unlike: bool
    rank: bool
    fail_if_unsure: bool
    setup: str
    prepare: str
    cleanup: str


class CapacityOptions(TrialOptions, total=False):
    """What `capacity` takes beside these."""

    ready_timeout: Time
    resolution: Share


_FLAGS = {flag.dest: flag for _, flags in GROUPS for flag in flags}
_RENAMED = {
    "header": "headers",
    "user": "auth",
    "insecure": "verify",
    "cacert": "verify",
    "key": "cert",
    "no_keep_alive": "keep_alive",
    "no_resend": "resend",
    "no_resumption": "resumption",
    "stage": "stages",
    "http1.0": "http",
    "http2": "http",
    "http3": "http",
    "from": "lowest",
    "to": "highest",
    "name": "names",
}
"""What flags are called in Python, where that is not their own name."""


def option_of(flag: str) -> str:
    """What Python calls a flag: "--no-keep-alive" is `keep_alive`."""
    name = flag.lstrip("-").replace("-", "_")
    return _RENAMED.get(name, name)


@contextmanager
def called() -> Iterator[None]:
    """A function is called: errors of the block name options where they would name flags, nobody is asked."""
    try:
        with unattended():
            yield
    except AssayError as problem:
        problem.message, problem.remedy = _in_python(problem.message), _in_python(problem.remedy)
        raise


def _in_python(text: str) -> str:
    return re.sub(r"(?<![\w-])--[a-z][a-z0-9.-]*", lambda found: option_of(found[0]), text)


def value(option: str, given: object, reader: Callable[[str], T]) -> T:
    """What `reader` makes of a number or a word; InputError names the option."""
    try:
        return reader(_word(given))
    except argparse.ArgumentTypeError as problem:
        raise InputError(f"{option}: {_in_python(str(problem))}") from None


def limit(metric: Watched, given: Share) -> float:
    """The share that a metric may get worse by; InputError names the option."""
    return value("slower" if metric == "throughput" else metric, given, parse.share)


_OF_VERSUS: Readers = {
    "duration": ("measure_ns", parse.time_ns),
    "warm_up": ("warm_up_ns", parse.time_or_none_ns),
    "ready_timeout": ("ready_timeout_ns", parse.time_ns),
    "budget": ("budget_ns", parse.time_ns),
    "margin": ("margin", parse.share_above_zero),
    "slice": ("slice_ns", parse.slice_ns),
    "fail_if_slower": ("fail_if_slower", parse.share),
    **{name: (name, None) for name in (
        "candidates", "names", "url", "control", "unlike", "rank", "interleave", "fail_if_unsure", "setup",
        "prepare", "cleanup",
    )},
}  # fmt: skip
_OF_CAPACITY: Readers = {
    "duration": ("measure_ns", parse.time_ns),
    "warm_up": ("warm_up_ns", parse.time_or_none_ns),
    "ready_timeout": ("ready_timeout_ns", parse.time_ns),
    "budget": ("budget_ns", parse.time_ns),
    "resolution": ("resolution", parse.share_above_zero),
    "lowest": ("lowest_per_s", parse.rate_per_s),
    "highest": ("highest_per_s", parse.rate_per_s),
    "connections": ("max_connections", parse.whole),
    **{name: (name, None) for name in ("url", "command", "name")},
}


def comparison(options: Mapping[str, Any], scan: Mapping[str, Sequence[object]]) -> AskedComparison:
    """What `versus` is asked; InputError names an option that is not what it should be."""
    scans = []
    for name, numbers in scan.items():
        try:
            scans.append(parse_scan(f"{name}={','.join(map(_word, numbers))}"))
        except ValueError as problem:
            raise InputError(f"scan: {problem}") from None
    return AskedComparison(scans=scans, **_asked(options, _OF_VERSUS))


def limits(slo: str | None) -> tuple[ObjectiveLimit, ...]:
    """What `load` is held to; InputError where it is not readable."""
    return () if slo is None else value("slo", slo, parse.limits)


def search(options: Mapping[str, Any], slo: str) -> AskedSearch:
    """What `capacity` is asked; InputError names an option that is not what it should be."""
    return AskedSearch(objective=value("slo", slo, parse.objective), **_asked(options, _OF_CAPACITY))


def _asked(options: Mapping[str, Any], readers: Readers) -> dict[str, Any]:
    """The fields that options fill; those of no reader are of the load."""
    found: dict[str, Any] = {}
    for option, given in options.items():
        if option in readers and given is not None:
            field, reader = readers[option]
            found[field] = given if reader is None else value(option, given, reader)
    return found | {"load": values({name: one for name, one in options.items() if name not in readers})}


def values(options: Mapping[str, object]) -> dict[str, Any]:
    """The values of the table, by the names of their flags; what is None is left out.

    InputError names an option that is not what it should be; TypeError one that there is not.
    """
    found: dict[str, Any] = {}
    for option, given in options.items():
        if given is None:
            continue
        for dest, words in _SPECIAL.get(option, _plain)(option, given):
            flag = _FLAGS[dest]
            made = [_read(option, flag, word) for word in words]
            found[dest] = [*found.get(dest, []), *made] if flag.repeat else made[-1]
    if options.get("json") is not None:
        headers = found.setdefault("header", [])
        if not any(name.lower() == "content-type" for name, _ in headers):
            headers.append(("Content-Type", "application/json"))
    return found


def _read(option: str, flag: LoadFlag, word: object) -> object:
    """What the flag makes of a word; anything that is none is taken as it is."""
    if flag.parse is None:
        return flag.switch
    if not isinstance(word, str):
        return word
    choices = flag.metavar.strip("{}").split(",") if flag.metavar.startswith("{") else [word]
    if word not in choices:
        raise InputError(f"{option}: {word!r} is none of {', '.join(choices)}")
    return value(option, word, flag.parse)


Made: TypeAlias = "Iterator[tuple[str, Sequence[object]]]"
"""Flags, and the words of each."""


def _plain(option: str, given: object) -> Made:
    """An option that has its flag's name."""
    if option not in _FLAGS or _RENAMED.get(option, option) != option:
        raise TypeError(f"there is no option {option!r}")
    if not isinstance(given, bool):
        yield option, tuple(_words(option, given))
    elif given:
        yield option, ("",)


def _unless(flag: str) -> Callable[[str, object], Made]:
    def made(option: str, given: object) -> Made:
        if not given:
            yield flag, ("",)

    return made


def _several(flag: str) -> Callable[[str, object], Made]:
    def made(option: str, given: object) -> Made:
        yield flag, tuple(_words(flag, given))

    return made


def _verify(option: str, given: object) -> Made:
    if given is not True:
        yield ("insecure", ("",)) if given is False else ("cacert", (_word(given),))


def _cert(option: str, given: object) -> Made:
    yield from zip(("cert", "key"), ((word,) for word in _pair(option, given)), strict=True)


def _auth(option: str, given: object) -> Made:
    yield "user", (":".join(_pair(option, given)),)


def _pair(option: str, given: object) -> tuple[str, str]:
    if not isinstance(given, tuple) or len(given) != 2:
        raise InputError(f"{option}: it is a tuple of two")
    return _word(given[0]), _word(given[1])


def _json(option: str, given: object) -> Made:
    yield "body", (json.dumps(given),)


def _http(option: str, given: object) -> Made:
    yield ("http1.0", ("",)) if _word(given) == "1.0" else ("http", (_word(given),))


def _requests(option: str, given: object) -> Made:
    if isinstance(given, Sequence) and not isinstance(given, str):
        lines = (one if isinstance(one, str) else json.dumps(dict(one)) for one in given)
        yield "requests", (tuple(line.encode() for line in lines),)
    else:
        yield "requests", (_word(given),)


_SPECIAL: Mapping[str, Callable[[str, object], Made]] = {
    "keep_alive": _unless("no_keep_alive"),
    "resend": _unless("no_resend"),
    "resumption": _unless("no_resumption"),
    "headers": _several("header"),
    "stages": _several("stage"),
    "verify": _verify,
    "cert": _cert,
    "auth": _auth,
    "json": _json,
    "http": _http,
    "requests": _requests,
}


def _words(dest: str, given: object) -> Iterator[str]:
    """The words of an option that a mapping or a sequence may stand for."""
    if isinstance(given, Mapping):
        between = "=" if dest == "form" else ":"
        yield from (name if said is None else f"{name}{between}{said}" for name, said in given.items())
    elif not isinstance(given, Sequence) or isinstance(given, str):
        yield _word(given)
    elif dest in ("cpus", "expect_status", "alpn"):
        yield ",".join(map(_word, given)) or "none"
    elif dest == "header":
        yield from (f"{name}: {said}" for name, said in given)
    elif dest == "stage":
        yield from (one if isinstance(one, str) else _stage(*one) for one in given)
    else:
        yield from map(_word, given)


def _stage(length: float, first: float, last: float | None = None) -> str:
    return f"{_word(length)}:{_word(first)}" + ("" if last is None else f"..{_word(last)}")


def _word(given: object) -> str:
    """A number without an exponent; anything else as text."""
    if isinstance(given, float):
        return f"{given:.9f}".rstrip("0").rstrip(".")
    return str(given)
