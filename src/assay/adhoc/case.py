"""A rival as a case that `assay.trial` can run: its contract, its plan, and how it is had."""

from __future__ import annotations

from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from assay.errors import InputError
from assay.study.resolved import ResolvedCase
from assay.sut.build import Prepared
from assay.sut.contract import Answer, Contract, ContractFile, Route
from assay.sut.cores import CoreSplit
from assay.sut.manifest import Places, ServerSpec
from assay.sut.standing import Standing
from assay.values import design
from assay.values.design import Rival, WarmUp
from assay.values.plan import BodyLength, Expect, LoadPlan
from assay.values.trial import Case

_LOCAL = frozenset({"127.0.0.1", "localhost"})
_ENGINE_MARGIN_NS = 2_000_000_000
"""The engine's own bound on the warm-up lies behind ours: it is we who end it, and note the moment."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What holds for every rival: the load, and how long a server may take to be ready.

    `plan` has one request; `url` says where a started server is asked, with `{port}` where each is given
    a port of its own.
    """

    plan: LoadPlan
    url: str
    warm_up: WarmUp
    ready_timeout_s: float
    split: CoreSplit

    @property
    def how(self) -> design.Terms:
        """What a record keeps of them."""
        return design.Terms(url=self.url, folder=str(Path.cwd()), ready_timeout_s=self.ready_timeout_s)


@dataclass(frozen=True, kw_only=True)
class AdHoc:
    """A rival, its case, and its server: one to start, or one that stands."""

    rival: Rival
    resolved: ResolvedCase
    server: Prepared | Standing

    @property
    def id(self) -> str:
        """The case's id: the rival's name."""
        return self.resolved.case.id


def case_of(rival: Rival, terms: Terms) -> AdHoc:
    """The rival under these terms. InputError where its URL cannot be."""
    host, port, target = _place(rival, terms)
    request = msgspec.structs.replace(terms.plan.requests[0], target=target)
    statuses = request.expect.status if request.expect else ()
    # Where a name is looked up by us, what asks the server by hand has to be told of the name.
    named = {"Host": urlsplit(rival.url).netloc} if rival.address not in ("", host) else {}
    route = Route(
        name=target,
        method=request.method,
        target=target,
        headers={**named, **dict(request.headers)},
        body=request.body,
        body_file=request.body_file,
        answer=Answer(status=statuses or tuple(int(code) for code in HTTPStatus)),
    )
    contract = Contract(Path.cwd(), ContractFile(name="given", title="as given", routes=(route,)))
    spec = _spec(rival, terms)
    plan = msgspec.structs.replace(
        terms.plan,
        requests=(request,),
        warmup_max_ns=_engine_bound(terms.warm_up),
        addresses=(rival.address,) if named else (),
    )
    case = Case(id=rival.name, server=rival.name, variant="", workload=target, load="as given")
    resolved = ResolvedCase(
        case=case, server=spec, contract=contract, routes=(route,), plan=plan, warm_up=terms.warm_up
    )
    if rival.url:
        return AdHoc(rival=rival, resolved=resolved, server=Standing(rival.address or host, port, host))
    return AdHoc(rival=rival, resolved=resolved, server=_prepared(spec, terms.split, port))


def again(adhoc: AdHoc) -> AdHoc:
    """The same once more, as the A/A control."""
    first = adhoc.resolved.case
    case = msgspec.structs.replace(
        first, id=f"{first.id} (again)", role="control", control_of=first.id, label=f"{first.id} (again)"
    )
    return replace(adhoc, resolved=replace(adhoc.resolved, case=case))


def expecting(adhoc: AdHoc, body_bytes: int) -> AdHoc:
    """The same, with every answer under load held to a length that it has always had."""
    case = adhoc.resolved
    request = case.plan.requests[0]
    expect = request.expect or Expect()
    if expect.body is not None:
        return adhoc
    request = msgspec.structs.replace(
        request, expect=msgspec.structs.replace(expect, body=BodyLength(bytes=body_bytes))
    )
    return planned(adhoc, msgspec.structs.replace(case.plan, requests=(request,)))


def planned(adhoc: AdHoc, plan: LoadPlan) -> AdHoc:
    """The same under another load."""
    return replace(adhoc, resolved=replace(adhoc.resolved, plan=plan))


def warmed(adhoc: AdHoc, warm_up: WarmUp) -> AdHoc:
    """The same with another warm-up."""
    plan = msgspec.structs.replace(adhoc.resolved.plan, warmup_max_ns=_engine_bound(warm_up))
    return replace(adhoc, resolved=replace(adhoc.resolved, plan=plan, warm_up=warm_up))


def _engine_bound(warm_up: WarmUp) -> int:
    return warm_up.max_ns + _ENGINE_MARGIN_NS if warm_up.max_ns else 0


def _place(rival: Rival, terms: Terms) -> tuple[str, int, str]:
    """Host, port (0: any free one) and target of the rival."""
    url = rival.url or rival.fill(terms.url)
    marked = url.replace("{port}", "0") if not rival.url else url
    try:
        parts = urlsplit(marked)
        host, port = parts.hostname or "", parts.port
    except ValueError as problem:
        raise InputError(f"{url!r} is not a URL: {problem}") from None
    if parts.scheme != "http" or not host:
        raise InputError(f"{url!r} is not an http:// URL", "`assay load` takes the others")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if rival.url:
        return host, port or 80, target
    if host not in _LOCAL:
        raise InputError(
            f"{url!r}: a command's server runs on this machine", "write http://127.0.0.1:{port}/…"
        )
    if port is None:
        raise InputError(f"{url!r} names no port", "write http://127.0.0.1:{port}/…")
    return host, port, target


def _spec(rival: Rival, terms: Terms) -> ServerSpec:
    here = Path.cwd()
    return ServerSpec(
        id=rival.name,
        variant="",
        title=rival.command or rival.url,
        role="candidate",
        folder=here,
        contract_folder=here,
        routes=(),
        requires=(),
        build=None,
        version=(),
        command=("/bin/sh", "-c", rival.command),
        ready_timeout_s=terms.ready_timeout_s,
    )


def _prepared(spec: ServerSpec, split: CoreSplit, port: int) -> Prepared:
    here = spec.folder
    places = Places(out=here, source=here, root=here, contract=here, cores=split.server_cores)
    return Prepared(
        spec=spec, places=places, version="", requirements=(), built_s=None, only_port=port or None
    )
