"""Profile, variants, sweeps, seed and cores settled: a study file becomes cases with plans."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import cast

import msgspec
from msgspec.structs import replace

from assay.core.credentials import hidden_plan
from assay.core.errors import InputError
from assay.core.settings import Settings
from assay.core.toml import nearest
from assay.model.design import Choices, StudyDesign, WarmUp
from assay.model.finding import Claim, Comparison
from assay.model.plan import Closed, LoadPlan, Open, Stage, StopAfter, StopAtCount, Tls
from assay.model.trial import Case, case_id
from assay.plan.forecast import REQUESTS_GUESS_PER_S
from assay.plan.resolved import ResolvedCase, ResolvedRun
from assay.plan.study import quick
from assay.plan.study.additions import (
    CAPACITY,
    capacity_cases,
    check_emulation,
    control_for,
    control_note,
    fulfilled,
    interleave_of,
    latency_cases,
)
from assay.plan.study.load import Study, expand
from assay.plan.study.schema import (
    LoadSetting,
    Profile,
    ProfileName,
    ServiceSetting,
    StudyComparison,
    StudyEntry,
    Workload,
)
from assay.servers.contract import Contract, Route, Spoken
from assay.servers.cores import CoreSplit, split_cores
from assay.servers.manifest import Placeholders, Requirement, ServerSpec
from assay.servers.services.own import ServiceSpec

_S = 1_000_000_000
_Point = tuple[int, int | None, float | None]
"""Of a sweep: connections, threads, rate."""


def resolve(
    study: Study,
    settings: Settings,
    choices: Choices | None = None,
    *,
    split: CoreSplit | None = None,
) -> ResolvedRun:
    """Settle everything.

    The A/A control takes part in the blocks that the profile says. The study's loads may ask for open loops
    and for searches by themselves; a quick run leaves those out.
    InputError for a profile or server that the study does not have.
    """
    choices = choices or Choices()
    profile = study.file.profiles.get(cast(ProfileName, choices.profile))
    if profile is None:
        where = f"{study.path}: study {study.file.name!r} has no profile {choices.profile!r}"
        raise InputError(where, nearest(choices.profile, study.file.profiles))
    split = split or split_cores()
    seed = secrets.randbelow(2**31) if choices.seed is None else choices.seed
    whole = quick.Cut(profile=profile, control=choices.control)
    once = functools.cache(fulfilled)  # it runs commands

    def make(cut: quick.Cut) -> ResolvedRun:
        return _settled(_Matrix(study, settings, choices, cut, split, seed), once)

    if not choices.quick:
        made = make(whole)
        return replace(made, notes=control_note(made))
    made = quick.shortest(whole, len(quick.groups_of(study, profile)), choices, make)
    left_out = quick.left_out(make(whole), made, profile, choices)
    return replace(made, notes=(quick.note(profile, made, left_out), *control_note(made)))


def _settled(matrix: _Matrix, had: Callable[[Sequence[Requirement]], bool]) -> ResolvedRun:
    study, choices, profile = matrix.study, matrix.choices, matrix.profile
    usual = min(profile.quick.blocks, profile.blocks) if choices.quick else profile.blocks
    blocks = choices.blocks or usual
    cases = tuple(matrix.cases())
    if not cases:
        raise InputError(f"{study.path}: profile {choices.profile!r} has no case", "name a server for it")
    cases = (*cases, *_dependent_loads(cases, profile, choices, blocks))
    again = control_for(cases, blocks, profile.control_blocks, had) if matrix.cut.control else None
    cases = (*cases, again) if again else cases
    return ResolvedRun(
        name=study.file.name,
        design=_design(study, matrix, cases, blocks),
        cases=cases,
        services=_services(study, cases),
        split=matrix.split,
    )


def _dependent_loads(
    cases: Sequence[ResolvedCase], profile: Profile, choices: Choices, blocks: int
) -> Iterator[ResolvedCase]:
    """The open loops and searches that follow the closed loops of their block."""
    loads = [(name, load) for load in profile.loads for name, *_ in expand(load)]
    asked = [(name, load.latency and not choices.quick) for name, load in loads if load.emulation is None]
    slowed = [name for name, wanted in asked if choices.latency or wanted]
    objectives = {} if choices.quick else {name: load.objective for name, load in loads if load.objective}
    yield from latency_cases(cases, slowed, blocks, profile.latency_blocks)
    yield from capacity_cases(cases, objectives, profile.capacity_trials, int(profile.capacity_s * _S))


class _Matrix(msgspec.Struct, frozen=True):
    """Entries x workloads x loads of one profile."""

    study: Study
    settings: Settings
    choices: Choices
    cut: quick.Cut
    split: CoreSplit
    seed: int

    @property
    def profile(self) -> Profile:
        return self.cut.profile

    def cases(self) -> Iterator[ResolvedCase]:
        profile, only = self.choices.profile, self.choices.servers
        entries = [entry for entry in self.study.file.servers if profile in entry.profiles]
        for word in only:
            if word not in [entry.id for entry in entries]:
                raise self._no_server(word, [entry.id for entry in entries])
        for entry in self.cut.entries(entries, self._is_candidate):
            ceiling = self.study.servers[entry.server].manifest.role == "ceiling"
            if only and entry.id not in only and not ceiling:
                continue
            for workload in self.study.file.workloads:
                yield from self._of_workload(entry, workload)

    def _is_candidate(self, entry: StudyEntry) -> bool:
        return self.study.servers[entry.server].manifest.role == "candidate"

    def _no_server(self, word: str, known: Sequence[str]) -> InputError:
        """What to say of a name that the profile does not have: another profile may have it."""
        where = [name for entry in self.study.file.servers if entry.id == word for name in entry.profiles]
        said = f"{self.study.path}: profile {self.choices.profile!r} has no server {word!r}"
        if where:
            return InputError(said, f"it is in: {', '.join(f'--profile {name}' for name in where)}")
        return InputError(said, nearest(word, known))

    def where(self, workload: str, load: str) -> tuple[str, ...]:
        """What tells a case from the others of its entry."""
        several = (len(self.study.file.workloads) > 1, len(self.loads()) > 1)
        return tuple(name for name, needed in zip((workload, load), several, strict=True) if needed)

    def loads(self) -> list[str]:
        """The names of the profile's loads."""
        return [name for load in self.profile.loads for name, *_ in expand(load)]

    def _of_workload(self, entry: StudyEntry, workload: Workload) -> Iterator[ResolvedCase]:
        if workload.servers and entry.id not in workload.servers:
            return
        server = self.study.servers[entry.server]
        contract = self.study.contracts[server.contract]
        routes = tuple(contract.route(name) for name in workload.routes)
        if any(route.optional and route.name not in server.manifest.routes for route in routes):
            return
        groups = quick.groups_of(self.study, self.profile)[: self.cut.groups]
        for load in self.profile.loads:
            taken = not load.servers or entry.id in load.servers
            if taken and (not load.workloads or workload.name in load.workloads):
                for name, *swept in expand(load):
                    if (workload.name, name) in groups:
                        point = cast(_Point, tuple(swept))
                        yield self._case(entry, workload, contract, routes, load, name, point)

    def _case(
        self,
        entry: StudyEntry,
        workload: Workload,
        contract: Contract,
        routes: tuple[Route, ...],
        load: LoadSetting,
        load_name: str,
        point: _Point,
    ) -> ResolvedCase:
        server = self.study.servers[entry.server]
        profile = self.choices.profile
        variant = entry.variant.get(cast(ProfileName, profile), profile)
        spec = server.variant(variant).overlaid(entry.env, entry.args, entry.facts, tuple(contract.services))
        check_emulation(self.study, load_name, load.emulation, spec)
        here = server.folder
        places = Placeholders(
            out=here, source=here, root=here, contract=here, cores=self.split.server_cores
        )  # facts know of cores only
        warm_up = self._warm_up(load, spec)
        plan = self._plan(workload, contract, routes, load, point, warm_up, spec)
        return ResolvedCase(
            case=Case(
                id=case_id(entry.id, self.where(workload.name, load_name)),
                entry=entry.id,
                where=self.where(workload.name, load_name),
                server=entry.server,
                variant=variant,
                workload=workload.name,
                load=load_name,
                role=spec.role,
                label=entry.label,
                facts={**places.fill_facts(spec.facts), **self._facts_of(workload, entry.id, load_name)},
                emulation=load.emulation.settled if load.emulation else None,
            ),
            server=spec,
            contract=replace(contract, spoken=Spoken.of(plan)),
            routes=routes,
            plan=plan,
            warm_up=warm_up,
            guess_per_s=entry.published_per_s(load_name) or REQUESTS_GUESS_PER_S,
            threads=point[1],
        )

    def _facts_of(self, workload: Workload, entry: str, load: str) -> dict[str, str]:
        """What the workload says of its cases."""
        drawn = workload.same_input_of
        same = drawn and case_id(entry, self.where(drawn, load))
        facts = {"same_input_of": same, "bottleneck": workload.bottleneck}
        return {name: value for name, value in facts.items() if value}

    def _warm_up(self, load: LoadSetting, spec: ServerSpec) -> WarmUp:
        """The null server has no compiler, collector or cache to warm: the least time does."""
        bounds = [load.warm_up_max_s]
        bounds += [self.profile.quick.warm_up_max_s] if self.choices.quick else []
        bounds += [load.warm_up_min_s] if spec.role == "ceiling" else []
        longest = min(bounds)
        return WarmUp(min_ns=int(min(load.warm_up_min_s, longest) * _S), max_ns=int(longest * _S))

    def _plan(
        self,
        workload: Workload,
        contract: Contract,
        routes: tuple[Route, ...],
        load: LoadSetting,
        point: _Point,
        warm_up: WarmUp,
        spec: ServerSpec,
    ) -> LoadPlan:
        connections, threads, rate = point
        weights = workload.weights or (1,) * len(routes)
        requests = [contract.request(route, weight) for route, weight in zip(routes, weights, strict=True)]
        added = tuple(load.headers.items())
        stop = self._stop(load, ceiling=spec.role == "ceiling")
        scheme = "https" if load.http == "3" else spec.scheme  # HTTP/3 is never without TLS
        plan = LoadPlan(
            url=f"{scheme}://127.0.0.1/",
            tls=Tls(insecure=scheme == "https"),
            requests=tuple(
                msgspec.structs.replace(request, headers=(*request.headers, *added)) for request in requests
            ),
            request_order=workload.order,
            load=Closed(connections=connections)
            if rate is None
            else _open(load, connections, rate, stop, warm_up),
            stop=stop,
            warmup_max_ns=warm_up.engine_bound_ns,
            threads=min(threads or self.split.client_cores, connections),
            timeout_ns=int(load.timeout_s * _S),
            keep_alive=load.keep_alive,
            resend=load.resend,
            http_version=load.http_version,
            http=load.http,
            streams=load.streams,
            seed=self.seed,
        )
        return hidden_plan(plan)  # the study's file has them, what is kept of it has none

    def _stop(self, load: LoadSetting, *, ceiling: bool) -> StopAfter | StopAtCount:
        short, profile = self.profile.quick, self.profile
        if load.requests is not None:
            share = short.requests_share if self.choices.quick else 1.0
            return StopAtCount(count=max(1, round(load.requests * share)))
        measure_s = cast(float, load.measure_s)
        if self.choices.quick:
            measure_s = min(measure_s, short.ceiling_s if ceiling else short.measure_s)
        elif ceiling and profile.ceiling_s is not None:
            measure_s = min(measure_s, profile.ceiling_s)
        return StopAfter(ns=int(measure_s * _S))


def _open(
    load: LoadSetting, connections: int, rate: float, stop: StopAfter | StopAtCount, warm_up: WarmUp
) -> Open:
    """A constant rate that lasts for warm-up and measured phase together."""
    measured_ns = stop.ns if isinstance(stop, StopAfter) else round(stop.count / rate * _S)
    length_ns = measured_ns + warm_up.engine_bound_ns
    stage = Stage(duration_ns=length_ns, from_per_s=rate, to_per_s=rate)
    return Open(stages=(stage,), max_connections=connections, arrivals=load.arrivals)


def _services(study: Study, cases: Sequence[ResolvedCase]) -> tuple[ServiceSpec, ...]:
    """Each service that a case uses, once, in the order of need."""
    specs: dict[str, ServiceSpec] = {}
    for case in cases:
        for name in case.server.services:
            table = case.contract.services.get(name)
            if table is None:
                where = f"{case.server.folder}: {case.server.id} asks for service {name!r}"
                raise InputError(where, f"name it in contract {case.contract.name!r}")
            setting = study.file.services.get(name, ServiceSetting())
            specs.setdefault(
                name,
                ServiceSpec(
                    name=name,
                    table=table,
                    contract=case.contract,
                    url=setting.url,
                    settings=setting.settings,
                ),
            )
    return tuple(specs.values())


def _claims(study: Study, matrix: _Matrix, cases: Sequence[ResolvedCase]) -> tuple[Claim, ...]:
    present = {case.case.id for case in cases}
    return tuple(
        Claim(
            id=claim.id,
            statement=claim.statement,
            comparisons=tuple(
                one for pair in claim.comparisons for one in _comparisons(study, matrix, pair, present)
            ),
        )
        for claim in study.file.claims
    )


def _comparisons(
    study: Study, matrix: _Matrix, pair: StudyComparison, present: set[str]
) -> Iterator[Comparison]:
    """The comparison at every load and workload that it does not name. Left out where the profile has
    neither case; kept where one server is not part of this run, so that the verdict can say so."""
    loads = [pair.load] if pair.load or pair.load_a else list(dict.fromkeys(matrix.loads()))
    workloads = study.file.workloads
    names = [pair.workload] if pair.workload or pair.workload_a else [workload.name for workload in workloads]
    known = set(matrix.loads())
    for workload in names:
        for load in loads:
            load_a, load_b = pair.load_a or load, pair.load_b or load
            if not {load_a, load_b} <= known:
                continue
            searched = (CAPACITY,) if pair.metric == "capacity" else ()
            a = case_id(pair.a, (*matrix.where(pair.workload_a or workload, load_a), *searched))
            b = case_id(pair.b, (*matrix.where(pair.workload_b or workload, load_b), *searched))
            if a in present or b in present:
                yield Comparison(
                    metric=pair.metric,
                    a=a,
                    b=b,
                    relation=pair.relation,
                    published_ratio=pair.published_ratio,
                    margin=pair.margin,
                )


def _design(study: Study, matrix: _Matrix, cases: Sequence[ResolvedCase], blocks: int) -> StudyDesign:
    """What the header keeps: enough to report, judge and resume the run without the study file."""
    file = study.file
    return StudyDesign(
        title=file.title,
        question=file.question,
        seed=matrix.seed,
        blocks=blocks,
        # A first look is as short as it says, and who names a number means it.
        more_blocks=0 if matrix.choices.quick or matrix.choices.blocks else matrix.profile.more_blocks,
        precision=matrix.profile.precision,
        choices=matrix.choices,
        why=matrix.choices.why,
        path=str(study.path),
        analysis=file.analysis,
        publication=file.publication,
        figures={entry.id: entry.figures for entry in file.servers if entry.figures},
        claims=_claims(study, matrix, cases),
        rules={**file.rules, **matrix.profile.rules},
        plans={case.case.id: case.plan for case in cases},
        warm_ups={case.case.id: case.warm_up for case in cases},
        titles={case.case.id: case.server.title for case in cases},
        interleave=interleave_of(matrix.profile, matrix.choices),
    )
