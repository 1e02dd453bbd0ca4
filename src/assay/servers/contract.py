"""Contracts, `servers/<contract>/contract.toml`: the routes of a kind of server and what a right answer is.

The same answer is known in two forms: in full for the tests before and after a load (`probe`),
and as the engine's `Expect`, by which answers are verified under load.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from assay.core import toml
from assay.core.errors import InputError
from assay.model.plan import (
    BodyEquals,
    BodyLength,
    BodyMatches,
    BodyOneOf,
    Expect,
    HeaderExpected,
    Http,
    LoadPlan,
    Request,
    Tls,
    Value,
)

FILE = "contract.toml"

_CHECK_EVERY_MATCH = 8
"""A pattern is tried on every eighth body (which may have to be decompressed first): a thousand of
8,000 answers, and far more of a longer run. Comparisons are cheap and made on every answer."""


class BodyRule(Value, frozen=True, kw_only=True):
    """What a right body is; all that is given must hold.

    `one_of_lines` names a file of the contract: the body is one of its lines, with or without a line
    break at its end. Strings in `json` that begin with "~" are regular expressions; an object may
    hold more than is asked for.
    """

    equals: str | None = None
    one_of_lines: str | None = None
    matches: str | tuple[str, ...] = ()
    json: Any = None
    min_bytes: int | None = None
    max_bytes: int | None = None

    @property
    def patterns(self) -> tuple[str, ...]:
        """The regular expressions that must be found."""
        return (self.matches,) if isinstance(self.matches, str) else self.matches


class DuringRule(Value, frozen=True, kw_only=True):
    """A cheaper test for the answers under load; `bytes` is the length of the decoded body. `check_every`:
    only every so many-th is tested."""

    equals: str | None = None
    one_of_lines: str | None = None
    matches: str | None = None
    bytes: int | None = None
    check_every: int | None = None


class ExpectedAnswer(Value, frozen=True, kw_only=True):
    """A right answer. `headers` are regular expressions; each named header must be present."""

    status: int | tuple[int, ...] = 200
    headers: dict[str, str] = {}
    body: BodyRule | None = None
    during: DuringRule | None = None

    @property
    def statuses(self) -> tuple[int, ...]:
        """The right status codes."""
        return (self.status,) if isinstance(self.status, int) else self.status


class Route(Value, frozen=True, kw_only=True):
    """One request and its right answer. An `optional` route is served by those servers only whose
    manifest names it."""

    name: str
    method: str = "GET"
    target: str
    headers: dict[str, str] = {}
    body: str | None = None
    body_file: str | None = None
    optional: bool = False
    answer: ExpectedAnswer

    def __post_init__(self) -> None:
        """One body at most."""
        if self.body is not None and self.body_file is not None:
            raise ValueError("give either body or body_file")


class ServiceTable(Value, frozen=True, kw_only=True):
    """What a contract asks of a service: SQL files run once it is there, or the server that it is."""

    setup: tuple[str, ...] = ()
    server: str | None = None


class ContractFile(Value, frozen=True, kw_only=True):
    """A contract as written."""

    format: Literal[1] = 1
    name: str
    title: str
    prose: str = ""
    services: tuple[str, ...] | dict[str, ServiceTable] = ()
    routes: tuple[Route, ...]


class Spoken(msgspec.Struct, frozen=True, kw_only=True):
    """How a server is spoken to when it is asked by hand: as its load speaks to it."""

    scheme: Literal["http", "https"] = "http"
    http: Http = "1"
    tls: Tls = Tls()

    @property
    def is_plain(self) -> bool:
        """HTTP/1.1 without TLS."""
        return self.http == "1" and self.scheme == "http"

    @classmethod
    def of(cls, plan: LoadPlan) -> Spoken:
        """As the load of `plan` does."""
        scheme: Literal["http", "https"] = "https" if plan.url.startswith("https:") else "http"
        return cls(scheme=scheme, http=plan.http, tls=plan.tls)


class Contract(msgspec.Struct, frozen=True):
    """A contract, its folder, and how a server that keeps it is `spoken` to."""

    folder: Path
    file: ContractFile
    spoken: Spoken = Spoken()

    @property
    def name(self) -> str:
        """Its name: the folder's."""
        return self.file.name

    @property
    def services(self) -> dict[str, ServiceTable]:
        """The services that its servers use."""
        given = self.file.services
        return dict(given) if isinstance(given, dict) else {name: ServiceTable() for name in given}

    def routes_of(self, named: tuple[str, ...]) -> tuple[Route, ...]:
        """The routes that a server serves whose manifest names the optional routes `named`."""
        return tuple(route for route in self.file.routes if not route.optional or route.name in named)

    def route(self, name: str) -> Route:
        """The route called `name`."""
        found = next((route for route in self.file.routes if route.name == name), None)
        if found is None:
            known = toml.nearest(name, (route.name for route in self.file.routes))
            raise InputError(f"{self.folder / FILE}: contract {self.name!r} has no route {name!r}", known)
        return found

    def lines(self, file: str) -> tuple[str, ...]:
        """The lines of a file of the contract."""
        return tuple((self.folder / file).read_text(encoding="utf-8").splitlines())

    def body_of(self, route: Route) -> bytes | None:
        """The request body of `route`."""
        if route.body_file is not None:
            return (self.folder / route.body_file).read_bytes()
        return None if route.body is None else route.body.encode()

    def request(self, route: Route, weight: int = 1) -> Request:
        """`route` as the engine sends it, with what it expects of the answer."""
        return Request(
            method=route.method,
            target=route.target,
            headers=tuple(route.headers.items()),
            body=route.body,
            body_file=None if route.body_file is None else str(self.folder / route.body_file),
            weight=weight,
            expect=self.expect(route),
        )

    def expect(self, route: Route) -> Expect:
        """What the engine verifies of each answer to `route`."""
        answer = route.answer
        rule = answer.during or answer.body
        body: BodyEquals | BodyOneOf | BodyMatches | BodyLength | None = None
        every = 1
        if answer.during is not None and answer.during.bytes is not None:
            body = BodyLength(bytes=answer.during.bytes)
        elif rule is not None and rule.equals is not None:
            body = BodyEquals(text=rule.equals)
        elif rule is not None and rule.one_of_lines is not None:
            lines = self.lines(rule.one_of_lines)
            body = BodyOneOf(texts=(*(f"{line}\n" for line in lines), *lines))
        elif rule is not None and rule.matches:
            first = rule.matches if isinstance(rule.matches, str) else rule.matches[0]
            body, every = BodyMatches(pattern=first), _CHECK_EVERY_MATCH
        if answer.during is not None and answer.during.check_every is not None:
            every = answer.during.check_every
        headers = tuple(HeaderExpected(name=name, pattern=value) for name, value in answer.headers.items())
        return Expect(status=answer.statuses, headers=headers, body=body, check_every=every)


def read_contract(folder: Path) -> Contract:
    """The contract of a folder. InputError where its file, or a file that it names, is not right."""
    document = toml.read(folder / FILE, ContractFile, "contract")
    contract = document.value
    if contract.name != folder.name:
        raise document.error(("name",), f"the folder is called {folder.name!r}", "let the two be equal")
    if not contract.routes:
        raise document.error(("routes",), "a contract needs at least one route")
    seen: set[str] = set()
    for place, route in enumerate(contract.routes):
        at: toml.KeyPath = ("routes", place)
        if route.name in seen:
            raise document.error((*at, "name"), f"there is a route {route.name!r} already")
        seen.add(route.name)
        _check_patterns(document, route, at)
        _check_files(document, route, at)
    for name, service in Contract(folder, contract).services.items():
        for file in service.setup:
            _check_file(document, ("services", name, "setup"), file)
    return Contract(folder, contract)


def json_schema() -> dict[str, object]:
    """The JSON Schema of a contract."""
    return msgspec.json.schema(ContractFile)


def _check_patterns(document: toml.TomlDocument[ContractFile], route: Route, at: toml.KeyPath) -> None:
    answer = route.answer
    patterns = [((*at, "answer", "headers", name), value) for name, value in answer.headers.items()]
    if answer.body is not None:
        patterns += [((*at, "answer", "body", "matches"), pattern) for pattern in answer.body.patterns]
    if answer.during is not None and answer.during.matches is not None:
        patterns.append(((*at, "answer", "during", "matches"), answer.during.matches))
    for key, pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise document.error(key, f"{pattern!r} is no regular expression: {error}") from error


def _check_files(document: toml.TomlDocument[ContractFile], route: Route, at: toml.KeyPath) -> None:
    if route.body_file is not None:
        _check_file(document, (*at, "body_file"), route.body_file)
    for name, rule in (("body", route.answer.body), ("during", route.answer.during)):
        if rule is not None and rule.one_of_lines is not None:
            _check_file(document, (*at, "answer", name, "one_of_lines"), rule.one_of_lines)


def _check_file(document: toml.TomlDocument[ContractFile], key: toml.KeyPath, file: str) -> None:
    if not (document.path.parent / file).is_file():
        raise document.error(key, f"there is no file {document.path.parent / file}")
