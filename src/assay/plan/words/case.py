"""Runs without a study: from a design that names rivals to cases that can be run.

A contest or a search is drafted from the words of a command line (`drafted`), and comes back from its record
the same way: `resolve` needs the design alone.
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
from assay.model.design import Commands, ContestDesign, Rival, RivalsDesign, Terms, WarmUp
from assay.model.plan import BodyLength, Expect, LoadPlan
from assay.model.trial import AS_GIVEN, Case
from assay.plan.resolved import ResolvedCase, ResolvedRun
from assay.servers.build import Prepared
from assay.servers.contract import Answer, Contract, ContractFile, Route, Spoken
from assay.servers.cores import CoreSplit, split_cores
from assay.servers.external import Standing
from assay.servers.manifest import Places, ServerSpec

D = TypeVar("D", bound=RivalsDesign)

_LOCAL = frozenset({"127.0.0.1", "localhost"})


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where a rival is asked; port 0 is any free one."""

    scheme: str
    host: str
    port: int
    target: str
    named: str = ""
    """What requests have to be told of the host, where a name was looked up by us."""


def drafted(design: D, plan: LoadPlan, warm_up: WarmUp) -> D:
    """The design with what each of its cases is offered: `plan`, which has one request, at the case's own
    path. InputError where a rival's URL cannot be."""
    cases = {}
    for case, rival in _entries(design).items():
        place = _place(rival, _terms(design))
        cases[case] = msgspec.structs.replace(
            plan,
            url=f"{place.scheme}://127.0.0.1/",
            requests=(msgspec.structs.replace(plan.requests[0], target=place.target),),
            warmup_max_ns=warm_up.engine_bound_ns,
            addresses=(rival.address,) if place.named else (),
        )
    return msgspec.structs.replace(
        design,
        plans=cases,
        warm_ups=dict.fromkeys(cases, warm_up),
        titles={case: rival.command or rival.url for case, rival in _entries(design).items()},
    )


def expecting(design: D, body_bytes: int) -> D:
    """The design with every answer under load held to a length that it has always had."""

    def held(plan: LoadPlan) -> LoadPlan:
        request = plan.requests[0]
        expect = request.expect or Expect()
        if expect.body is not None or request.method == "HEAD":
            return plan
        expect = msgspec.structs.replace(expect, body=BodyLength(bytes=body_bytes))
        return msgspec.structs.replace(plan, requests=(msgspec.structs.replace(request, expect=expect),))

    return msgspec.structs.replace(design, plans={case: held(plan) for case, plan in design.plans.items()})


def secrets_lacking(design: RivalsDesign) -> dict[str, str]:
    """By token what the design's loads and servers need and nobody has given yet, and where it belongs."""
    texts = {f"the command or URL of {one.name}": f"{one.command} {one.url}" for one in design.rivals}
    texts |= {f"--{name}": getattr(design.commands, name) for name in Commands.__struct_fields__}
    texts["--url"] = design.terms.url if design.terms else ""
    for plan in design.plans.values():
        for request in plan.requests:
            texts |= {f"header {name}": value for name, value in request.headers}
            texts["the body"] = request.body or "".join(one.text or "" for one in request.form)
            texts["the path"] = request.target
    return {token: where for where, text in texts.items() for token in vault.unknown(text)}


def cores_for(rivals: Sequence[Rival]) -> CoreSplit:
    """The cores of the client and of the servers; where no server is started here, none has cores that we
    know."""
    split = split_cores()
    return replace(split, server=()) if all(rival.url for rival in rivals) else split


def resolve(name: str, design: RivalsDesign, split: CoreSplit) -> ResolvedRun:
    """The run that a drafted design is. InputError where its record does not say how its servers are had."""
    cases = tuple(_case(design, case, rival, split) for case, rival in _entries(design).items())
    return ResolvedRun(name=name, design=design, cases=cases, services=(), split=split)


def _entries(design: RivalsDesign) -> dict[str, Rival]:
    """The rivals by the id of their case, and the first of them again as the A/A control."""
    entries = {rival.name: rival for rival in design.rivals}
    if isinstance(design, ContestDesign) and design.control:
        first = design.rivals[0]
        entries[f"{first.name} (again)"] = first
    return entries


def _terms(design: RivalsDesign) -> Terms:
    if design.terms is None:
        raise InputError("its record does not say how its servers are had", "make a new run")
    if not Path(design.terms.folder).is_dir():
        raise InputError(f"its folder {design.terms.folder} is no longer there", "make a new run")
    return design.terms


def _case(design: RivalsDesign, case_id: str, rival: Rival, split: CoreSplit) -> ResolvedCase:
    terms, plan = _terms(design), design.plans[case_id]
    place, folder = _place(rival, terms), Path(terms.folder)
    route = _route(plan, place)
    case = Case(id=case_id, server=rival.name, variant="", workload=place.target, load=AS_GIVEN)
    if case_id != rival.name:
        case = msgspec.structs.replace(case, role="control", control_of=rival.name, label=case_id)
    spec = _spec(rival, folder, terms)
    given = ContractFile(name="given", title="as given", routes=(route,))
    return ResolvedCase(
        case=case,
        server=spec,
        contract=Contract(folder, given, _spoken(plan, place)),
        routes=(route,),
        plan=plan,
        warm_up=design.warm_ups[case_id],
        ready=_ready(rival, place, spec, split),
        rival=rival,
    )


def _spoken(plan: LoadPlan, place: _Place) -> Spoken:
    """As the load speaks; a name that was looked up by us is still the one that a certificate has to bear."""
    spoken = Spoken.of(plan)
    if not place.named or plan.tls.server_name is not None:
        return spoken
    return replace(spoken, tls=msgspec.structs.replace(plan.tls, server_name=place.host))


def _route(plan: LoadPlan, place: _Place) -> Route:
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
        answer=Answer(status=statuses or tuple(int(code) for code in HTTPStatus)),
    )


def _place(rival: Rival, terms: Terms) -> _Place:
    url = rival.url or rival.fill(terms.url)
    parts = urls.parse(url if rival.url else url.replace("{port}", "1"))
    host = parts.host
    if parts.user:
        raise InputError("the URL holds a user name", "give it as --user NAME:PASSWORD")
    if rival.url:
        named = parts.authority if rival.address not in ("", host) else ""
        port = parts.known_port
        return _Place(scheme=parts.scheme, host=host, port=port, target=parts.target, named=named)
    like = f"write {parts.scheme}://127.0.0.1:{{port}}/…"
    if host not in _LOCAL:
        raise InputError(f"{url!r}: a command's server runs on this machine", like)
    if parts.port is None:
        raise InputError(f"{url!r} names no port", like)
    port = 0 if ":{port}" in url else parts.port
    return _Place(scheme=parts.scheme, host=host, port=port, target=parts.target)


def _spec(rival: Rival, folder: Path, terms: Terms) -> ServerSpec:
    return ServerSpec(
        id=rival.name,
        variant="",
        title=rival.command or rival.url,
        role="candidate",
        folder=folder,
        contract_folder=folder,
        routes=(),
        requires=(),
        build=None,
        version=(),
        command=("/bin/sh", "-c", vault.revealed(rival.command)),
        ready_timeout_s=terms.ready_timeout_s,
    )


def _ready(rival: Rival, place: _Place, spec: ServerSpec, split: CoreSplit) -> Prepared | Standing:
    """The server as it is had: where it stands, or to be started without anything to prepare."""
    if rival.url:
        return Standing(rival.address or place.host, place.port, place.host)
    here = spec.folder
    places = Places(out=here, source=here, root=here, contract=here, cores=split.server_cores)
    return Prepared(
        spec=spec, places=places, version="", requirements=(), built_s=None, only_port=place.port or None
    )
