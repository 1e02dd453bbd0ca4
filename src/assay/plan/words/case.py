"""Runs without a study: from a design that names candidates to cases that can be run.

A comparison or a search is drafted from the words of a command line (`drafted`), and comes back from its
record the same way: `resolve` needs the design alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar

import msgspec

from assay.core import urls, vault
from assay.core.errors import InputError
from assay.model.design import Candidate, CandidatesDesign, Commands, ComparisonDesign, Terms, WarmUp
from assay.model.plan import BodyLength, Expect, LoadPlan
from assay.model.trial import AS_GIVEN, Case
from assay.plan.resolved import ResolvedCase, ResolvedRun
from assay.servers.build import Prepared
from assay.servers.contract import Contract, ContractFile, ExpectedAnswer, Route, Spoken
from assay.servers.cores import CoreSplit, split_cores
from assay.servers.external import ExternalAddress
from assay.servers.manifest import Placeholders, ServerSpec

D = TypeVar("D", bound=CandidatesDesign)

_LOCAL = frozenset({"127.0.0.1", "localhost"})


@dataclass(frozen=True, kw_only=True)
class _AskedAt:
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
    return replace(split, server=()) if all(candidate.url for candidate in candidates) else split


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
