"""Candidates and cases of commands and URLs, given on the command line.

A comparison or a search is drafted from the words of a command line (`drafted`), and comes back from its
record the same way: `resolve` needs the design alone.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import structs
from msgspec.structs import replace

from assay.core import urls, vault
from assay.core.credentials import hidden_value
from assay.core.errors import InputError
from assay.core.units import counted
from assay.model.design import Candidate, CandidatesDesign, Commands, ComparisonDesign, Terms, WarmUp, filled
from assay.model.plan import BodyLength, Expect, LoadPlan
from assay.model.trial import AS_GIVEN, Case
from assay.plan.resolved import ResolvedCase, ResolvedRun
from assay.servers.build import Prepared
from assay.servers.contract import Contract, ContractFile, ExpectedAnswer, Route, Spoken
from assay.servers.cores import CoreSplit, split_cores
from assay.servers.manifest import Placeholders, ServerSpec
from assay.servers.server import ExternalAddress

_SCAN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.+)")
_RANGE = re.compile(r"(\d+)\.\.(\d+)")
_MOST_IN_RANGE = 64
_LONGEST_NAME = 60
_SAID_OF_THE_PORT = re.compile(r"\S*=(\{port\}|\$PORT)|(-\S+\s+)?\S*(\{port\}|\$PORT)\S*")
"""It is filled in anew for each start, so it sets no candidate apart."""
_OURS = frozenset({"port", "host", "cores"})
"""Placeholders that are filled in when a server is started."""


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """A placeholder and the values it takes in turn."""

    name: str
    values: tuple[str, ...]


def parse_scan(word: str) -> Scan:
    """A scan: `workers=1,2,4` or `workers=1..4`. ValueError says what would be right."""
    found = _SCAN.fullmatch(word)
    if found is None or found[1] in _OURS:
        raise ValueError(f"{word!r} is not a scan such as workers=1,2,4 or workers=1..4")
    values: list[str] = []
    for part in found[2].split(","):
        ends = _RANGE.fullmatch(part.strip())
        if ends is None:
            values.append(part.strip())
        elif 0 <= int(ends[2]) - int(ends[1]) < _MOST_IN_RANGE:
            values += map(str, range(int(ends[1]), int(ends[2]) + 1))
        else:
            raise ValueError(f"{part!r} is not a range of at most {_MOST_IN_RANGE} values")
    if not all(values) or len(set(values)) < len(values):
        raise ValueError(f"{word!r} has an empty value, or one twice")
    return Scan(
        name=found[1], values=tuple(hidden_value(found[1], one, (found[1].lower(),)) for one in values)
    )


def candidates_of(words: Sequence[str], names: Sequence[str], scans: Sequence[Scan]) -> tuple[Candidate, ...]:
    """Each word as one candidate, or as one for each combination of the scans that it names.

    Raises InputError for a scan that no command uses, an empty command, and more names than commands.
    """
    if len(names) > len(words):
        raise InputError(
            f"{counted(len(names), 'name')} for {counted(len(words), 'command')}",
            "give one --name a command, in order",
        )
    for scan in scans:
        if not any(f"{{{scan.name}}}" in word for word in words):
            raise InputError(
                f"--scan {scan.name}: no command has {{{scan.name}}}", "write it where the value goes"
            )
    named = itertools.zip_longest(words, names or _short_names(words))
    found = [candidate for word, name in named for candidate in _expanded(word, name or "", scans)]
    return tuple(_told_apart(found))


def _expanded(word: str, name: str, scans: Sequence[Scan]) -> Iterator[Candidate]:
    text = " ".join(word.split())
    if not text:
        raise InputError("a command is empty", "write the command that starts the server in quotes")
    used = [scan for scan in scans if f"{{{scan.name}}}" in text]
    for values in itertools.product(*(scan.values for scan in used)):
        chosen = {scan.name: value for scan, value in zip(used, values, strict=True)}
        words = filled(text, chosen)
        told = ", ".join(f"{key}={value}" for key, value in chosen.items())
        called = f"{name} ({told})" if name and told else name or words
        if words.startswith(("http://", "https://")):
            yield Candidate(name=called, url=words, values=chosen)
        else:
            yield Candidate(name=called, command=filled(word, chosen), values=chosen)


def _short_names(words: Sequence[str]) -> Sequence[str]:
    """What sets each word apart from the others: of URLs host and port, of commands the words that not all of
    them have. Nothing where one word stands alone, or all are the same."""
    if len(set(words)) < 2:
        return ()
    if all(word.startswith(("http://", "https://")) for word in words):
        bare = [word.partition("://")[2].rstrip("/") for word in words]
        hosts = [url.partition("/")[0] for url in bare]
        return hosts if len(set(hosts)) == len(set(words)) else bare
    spoken = [_SAID_OF_THE_PORT.sub(" ", word.rpartition("&&")[2]).split() for word in words]
    common = set(spoken[0]).intersection(*spoken)
    apart = [[part for part in each if part not in common] for each in spoken]
    for shown in (_base, str):
        names = [" ".join(map(shown, each))[:_LONGEST_NAME] for each in apart]
        if all(names) and len(set(names)) == len(set(words)):
            return names
    return ()


def one_program(candidates: Sequence[Candidate]) -> bool:
    """Whether their commands are of one program: the same words but for folders, flags and what is set.

    Two URLs are not: what stands there is not known.
    """
    spoken = {
        tuple(
            _base(word)
            for word in candidate.command.split()
            if not word.startswith("-") and "=" not in word and not word.isdigit()
        )
        for candidate in candidates
    }
    return len(spoken) == 1 and all(candidate.command for candidate in candidates)


def _base(part: str) -> str:
    """A path's last name; anything else as it is."""
    return part.rstrip("/").rpartition("/")[2] if re.fullmatch(r"[\w./-]+", part) else part.rstrip("/")


def _told_apart(found: Sequence[Candidate]) -> Iterator[Candidate]:
    """A name that several bear gets a number: two builds may well be started by one command line."""
    seen: Counter[str] = Counter()
    for candidate in found:
        seen[candidate.name] += 1
        number = seen[candidate.name]
        name = candidate.name if number == 1 else f"{candidate.name} ({number})"
        yield Candidate(name=name, command=candidate.command, url=candidate.url, values=candidate.values)


D = TypeVar("D", bound=CandidatesDesign)

_LOCAL = frozenset({"127.0.0.1", "localhost"})


class _AskedAt(msgspec.Struct, frozen=True, kw_only=True):
    """Where a candidate is asked; port 0 is any free one."""

    scheme: str
    host: str
    port: int
    target: str
    named: str = ""
    """What requests have to be told of the host, where a name was looked up by us."""


def drafted(design: D, plan: LoadPlan, warm_up: WarmUp) -> D:
    """The design with what each of its cases is offered: `plan`, which has one request, at the case's own
    path. InputError where a candidate's URL cannot be."""
    cases = {}
    for case, candidate in _entries(design).items():
        place = _place(candidate, _terms(design))
        cases[case] = msgspec.structs.replace(
            plan,
            url=f"{place.scheme}://127.0.0.1/",
            requests=(msgspec.structs.replace(plan.requests[0], target=place.target),),
            warmup_max_ns=warm_up.engine_bound_ns,
            addresses=(candidate.address,) if place.named else (),
        )
    return msgspec.structs.replace(
        design,
        plans=cases,
        warm_ups=dict.fromkeys(cases, warm_up),
        titles={case: candidate.command or candidate.url for case, candidate in _entries(design).items()},
    )


def expecting(design: D, body_bytes: int) -> D:
    """The design with every answer under load held to a length that it has always had."""

    def with_length(plan: LoadPlan) -> LoadPlan:
        request = plan.requests[0]
        expect = request.expect or Expect()
        if expect.body is not None or request.method == "HEAD":
            return plan
        expect = msgspec.structs.replace(expect, body=BodyLength(bytes=body_bytes))
        return msgspec.structs.replace(plan, requests=(msgspec.structs.replace(request, expect=expect),))

    return msgspec.structs.replace(
        design, plans={case: with_length(plan) for case, plan in design.plans.items()}
    )


def secrets_lacking(design: CandidatesDesign) -> dict[str, str]:
    """By token what the design's loads and servers need and nobody has given yet, and where it belongs."""
    texts = {f"the command or URL of {one.name}": f"{one.command} {one.url}" for one in design.candidates}
    texts |= {f"--{name}": getattr(design.commands, name) for name in Commands.__struct_fields__}
    texts["--url"] = design.terms.url if design.terms else ""
    for plan in design.plans.values():
        for request in plan.requests:
            texts |= {f"header {name}": value for name, value in request.headers}
            texts["the body"] = request.body or "".join(one.text or "" for one in request.form)
            texts["the path"] = request.target
    return {token: where for where, text in texts.items() for token in vault.unknown(text)}


def cores_for(candidates: Sequence[Candidate]) -> CoreSplit:
    """The cores of the client and of the servers; where no server is started here, none has cores that we
    know."""
    split = split_cores()
    return structs.replace(split, server=()) if all(candidate.url for candidate in candidates) else split


def resolve(name: str, design: CandidatesDesign, split: CoreSplit) -> ResolvedRun:
    """The run that a drafted design is. InputError where its record does not say how its servers are had."""
    cases = tuple(_case(design, case, candidate, split) for case, candidate in _entries(design).items())
    return ResolvedRun(name=name, design=design, cases=cases, services=(), split=split)


def _entries(design: CandidatesDesign) -> dict[str, Candidate]:
    """The candidates by the id of their case, and the first of them again as the A/A control."""
    entries = {candidate.name: candidate for candidate in design.candidates}
    if isinstance(design, ComparisonDesign) and design.control:
        first = design.candidates[0]
        entries[f"{first.name} (again)"] = first
    return entries


def _terms(design: CandidatesDesign) -> Terms:
    if design.terms is None:
        raise InputError("its record does not say how its servers are had", "make a new run")
    if not Path(design.terms.folder).is_dir():
        raise InputError(f"its folder {design.terms.folder} is no longer there", "make a new run")
    return design.terms


def _case(design: CandidatesDesign, case_id: str, candidate: Candidate, split: CoreSplit) -> ResolvedCase:
    terms, plan = _terms(design), design.plans[case_id]
    place, folder = _place(candidate, terms), Path(terms.folder)
    route = _route(plan, place)
    case = Case(id=case_id, server=candidate.name, variant="", workload=place.target, load=AS_GIVEN)
    if case_id != candidate.name:
        case = msgspec.structs.replace(case, role="control", control_of=candidate.name, label=case_id)
    spec = _spec(candidate, folder, terms)
    given = ContractFile(name="given", title="as given", routes=(route,))
    return ResolvedCase(
        case=case,
        server=spec,
        contract=Contract(folder, given, _spoken(plan, place)),
        routes=(route,),
        plan=plan,
        warm_up=design.warm_ups[case_id],
        ready=_ready(candidate, place, spec, split),
        candidate=candidate,
    )


def _spoken(plan: LoadPlan, place: _AskedAt) -> Spoken:
    """As the load speaks; a name that was looked up by us is still the one that a certificate has to bear."""
    spoken = Spoken.of(plan)
    if not place.named or plan.tls.server_name is not None:
        return spoken
    return replace(spoken, tls=msgspec.structs.replace(plan.tls, server_name=place.host))


def _route(plan: LoadPlan, place: _AskedAt) -> Route:
    """What is asked before and after the load: what the load asks."""
    request = plan.requests[0]
    statuses = request.expect.status if request.expect else ()
    return Route(
        name=request.target,
        method=request.method,
        target=vault.revealed(request.target),
        headers={
            **({"Host": place.named} if place.named else {}),
            **{name: vault.revealed(value) for name, value in request.headers},
        },
        body=request.body and vault.revealed(request.body),
        body_file=request.body_file,
        answer=ExpectedAnswer(status=statuses or tuple(int(code) for code in HTTPStatus)),
    )


def _place(candidate: Candidate, terms: Terms) -> _AskedAt:
    url = candidate.url or candidate.fill(terms.url)
    parts = urls.parse(url if candidate.url else url.replace("{port}", "1"))
    host = parts.host
    if parts.user:
        raise InputError("the URL holds a user name", "give it as --user NAME:PASSWORD")
    if candidate.url:
        named = parts.authority if candidate.address not in ("", host) else ""
        port = parts.known_port
        return _AskedAt(scheme=parts.scheme, host=host, port=port, target=parts.target, named=named)
    like = f"write {parts.scheme}://127.0.0.1:{{port}}/…"
    if host not in _LOCAL:
        raise InputError(f"{url!r}: a command's server runs on this machine", like)
    if parts.port is None:
        raise InputError(f"{url!r} names no port", like)
    port = 0 if ":{port}" in url else parts.port
    return _AskedAt(scheme=parts.scheme, host=host, port=port, target=parts.target)


def _spec(candidate: Candidate, folder: Path, terms: Terms) -> ServerSpec:
    return ServerSpec(
        id=candidate.name,
        variant="",
        title=candidate.command or candidate.url,
        role="candidate",
        folder=folder,
        contract_folder=folder,
        routes=(),
        requires=(),
        build=None,
        version=(),
        command=("/bin/sh", "-c", vault.revealed(candidate.command)),
        ready_timeout_s=terms.ready_timeout_s,
    )


def _ready(
    candidate: Candidate, place: _AskedAt, spec: ServerSpec, split: CoreSplit
) -> Prepared | ExternalAddress:
    """The server as it is had: where it stands, or to be started without anything to prepare."""
    if candidate.url:
        return ExternalAddress(candidate.address or place.host, place.port, place.host)
    here = spec.folder
    places = Placeholders(out=here, source=here, root=here, contract=here, cores=split.server_cores)
    return Prepared(
        spec=spec, places=places, version="", requirements=(), built_s=None, only_port=place.port or None
    )
