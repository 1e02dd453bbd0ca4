"""Stored values of known content, as a run would leave them. Not a test itself."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from assay import _engine
from assay.model.block import Block, Lengths
from assay.model.design import ComparisonDesign, Design, WarmUp
from assay.model.finding import Finding
from assay.model.interleaving import Slice
from assay.model.measurement import (
    Connections,
    Histogram,
    Measurement,
    Outcome,
    RequestAccounting,
    Window,
    Worker,
)
from assay.model.plan import Closed, LoadPlan, StopAfter
from assay.model.run import FORMAT, Environment, Header, Run
from assay.model.trial import Arm, Case, ContractSeen, Failure, HostSeen, ServerSeen, Trial
from assay.runner.steering import as_window
from assay.verdict import judge

SECOND = 1_000_000_000
UNIT_NS = 100


def histogram(times_ns: Iterable[float] | Mapping[float, int]) -> Histogram:
    """A histogram of these times in the stored form, or of how often there was each."""
    counts = +Counter(times_ns)
    return _stored([(max(1, round(time / UNIT_NS)), count) for time, count in counts.items()])


@functools.cache
def uniform_histogram(count: int, time_ns: float) -> Histogram:
    """`count` times that are all the same."""
    stored = _stored([(max(1, round(time_ns / UNIT_NS)), count)])
    return msgspec.structs.replace(stored, min_ns=int(time_ns), max_ns=int(time_ns), mean_ns=time_ns)


def _stored(counts: list[tuple[int, int]]) -> Histogram:
    count = sum(count for _, count in counts)
    return Histogram(
        count=count,
        min_ns=min(counts)[0] * UNIT_NS,
        max_ns=max(counts)[0] * UNIT_NS,
        mean_ns=sum(value * count for value, count in counts) * UNIT_NS / count,
        stdev_ns=0.0,
        unit_ns=UNIT_NS,
        data=_engine.histogram_of(counts),
    )


def plan(connections: int = 64, seconds: float = 10, **changes: object) -> LoadPlan:
    """A closed loop on one thread of CPU 0."""
    made = LoadPlan(
        url="http://127.0.0.1:8080/",
        load=Closed(connections=connections),
        stop=StopAfter(ns=int(seconds * SECOND)),
        cpus=(0,),
    )
    return msgspec.structs.replace(made, **changes)


def measurement(
    per_s: float = 10_000,
    seconds: float = 10,
    connections: int = 64,
    *,
    busy: float = 0.4,
    bytes_each: int = 150,
    failed: int = 0,
    encodings: Mapping[str, int] | None = None,
    **changes: object,
) -> Measurement:
    """A clean closed loop at `per_s`: accounting balanced, Little's law kept, every answer checked."""
    completed = round(per_s * seconds)
    duration = int(seconds * SECOND)
    spread = Window(
        start_ns=0,
        length_ns=duration,
        phase="measured",
        started=completed,
        completed=completed,
        failed=failed,
        bytes_read=completed * bytes_each,
    )
    made = Measurement(
        started_at_unix_ns=0,
        warmup_ns=0,
        measured_ns=duration,
        interrupted=False,
        requests=RequestAccounting(
            started=completed + failed + connections,
            completed=completed,
            failed=failed,
            in_flight=connections,
        ),
        started=completed + failed + connections,
        completed=completed,
        failed=failed,
        bytes_read=completed * bytes_each,
        bytes_written=completed * 40,
        body_bytes=completed * 60,
        statuses={"200": completed},
        encodings=dict(encodings or {}),
        checked=completed,
        outcomes=(),
        connections=Connections(
            asked=connections, opened=connections, answered=connections, reopened=0, peak=connections
        ),
        service_time=uniform_histogram(completed, connections / per_s * 1e9),
        response_time=None,
        send_lag=None,
        connect_time=uniform_histogram(connections, 50_000),
        first_byte_time=uniform_histogram(completed, connections / per_s * 1e9),
        missed_starts=0,
        windows=(spread,),
        workers=(
            Worker(
                cpu=0,
                wall_ns=duration,
                cpu_ns=int(busy * duration),
                largest_stall_ns=1_000_000,
                completed=completed,
            ),
        ),
        engine_version="1",
    )
    return msgspec.structs.replace(made, **changes)


def server(**changes: object) -> ServerSeen:
    """A server that kept CPU 1 busy."""
    made = ServerSeen(
        version="1.0",
        pid=1,
        cpus=(1,),
        start_ns=100_000_000,
        cpu_ns=9_900_000_000,
        cpu_share=0.99,
        peak_rss_bytes=50_000_000,
        threads=4,
    )
    return msgspec.structs.replace(made, **changes)


def trial(case: str, block: int, made: Measurement | Failure | None = None, **changes: object) -> Trial:
    """A trial of `case` on CPU 1, with a clean contract and a quiet host."""
    seen = measurement() if made is None else made
    result = Trial(
        number=block,
        case=case,
        block=block,
        position=0,
        started_at_unix_ns=block,
        plan=plan(),
        measurement=seen if isinstance(seen, Measurement) else None,
        failure=seen if isinstance(seen, Failure) else None,
        server=server(),
        contract=ContractSeen(before=5, before_wrong=0, during=1000, during_wrong=0, after=5, after_wrong=0),
        host=HostSeen(load_average_1m=1.0, steal_share=0.0, client_cpus_idle_share=0.55),
    )
    return msgspec.structs.replace(result, **changes)


def case(case_id: str, **changes: object) -> Case:
    """A candidate; what stands after an "@" in its id tells it from others of its entry."""
    entry, *where = case_id.split("@")
    made = Case(
        id=case_id, server=case_id, variant="", workload="w", load="l", entry=entry, where=tuple(where)
    )
    return msgspec.structs.replace(made, **changes)


def design(blocks: int, study: Mapping[str, Any], cases: Sequence[Case] = ()) -> Design:
    """The design of a study, or of another `kind`: "versus" with `candidates` by name, "capacity" with
    one."""
    bag = dict(study)
    kind = bag.pop("kind", "study")
    warm_ups = bag.pop("warm_up", {})
    given = {**bag.pop("candidates", {}), **bag.pop("servers_given", {})}
    candidates = [
        {"name": name, ("url" if words.startswith("http") else "command"): words}
        for name, words in given.items()
    ]
    settled = {"profile": "fair", "quick": False, "seed": 1, "blocks": blocks}
    control = any(case.role == "control" for case in cases)
    own: dict[str, Any] = {
        "study": {"kind": "study", "blocks": blocks, "choices": settled | {"control": control}},
        "versus": {"kind": "comparison", "margin": 0.02, "budget_ns": 0, "candidates": candidates},
        "capacity": {"kind": "search", "budget_ns": 0, "candidates": candidates},
    }[kind]
    if "search" in bag:
        own["bounds"] = bag.pop("search")
    common = {"title": "", "question": "", "seed": 1, "warm_ups": warm_ups}
    made: Design = msgspec.convert(common | own | bag, type=Design)
    return made


def run(
    cases: Sequence[Case], trials: Iterable[Trial], blocks: int = 6, study: Mapping[str, Any] | None = None
) -> Run:
    """A run on a two-core machine: client on CPU 0, server on CPU 1."""
    header = Header(
        format=FORMAT,
        run_id="r",
        created_unix_ns=0,
        command=("assay", "run"),
        study_name="s",
        design=design(blocks, study or {}, cases),
        cases=tuple(cases),
        environment=Environment(
            machine_id="m",
            hostname="h",
            os="Linux",
            kernel="6",
            cpu_model="c",
            cores=2,
            memory_bytes=1,
            governor="performance",
            descriptor_limit=4096,
            client_cpus=(0,),
            server_cpus=(1,),
            assay_version="1",
            git_commit=None,
            tool_versions={},
        ),
    )
    return Run(header=header, trials=tuple(trials), judgement=None)


WOBBLE = (0.0, 0.004, -0.006, 0.009, -0.008, 0.003, -0.002, 0.007, -0.005, -0.002)
"""Relative deviations of successive blocks: about 0.6 %."""


def steady_run(rates: Mapping[str, float], blocks: int = 6, study: Mapping[str, Any] | None = None) -> Run:
    """A clean run: each case at its rate, give or take a block's wobble that differs by case."""
    trials = []
    for place, (name, per_s) in enumerate(rates.items()):
        for block in range(blocks):
            wobble = 1 + WOBBLE[(block * (place + 1) + place) % len(WOBBLE)]
            trials.append(trial(name, block, measurement(per_s * wobble)))
    return run([case(name) for name in rates], trials, blocks, study)


def with_trials(made: Run, change: Mapping[str, Mapping[str, Any]]) -> Run:
    """The run with fields of every trial of some cases replaced."""
    trials = tuple(msgspec.structs.replace(t, **change.get(t.case, {})) for t in made.trials)
    return msgspec.structs.replace(made, trials=trials)


__all__ = ["Outcome", "case", "histogram", "measurement", "plan", "run", "steady_run", "trial", "with_trials"]


def findings_of(made: Run) -> dict[str, Finding]:
    return {finding.code: finding for finding in judge(made, 0).findings}


def found(
    made: Measurement, load_plan: LoadPlan | None = None, **trial_changes: object
) -> dict[str, Finding]:
    """The findings about one case of six such trials, by code, but for the note of what limited each."""
    changes = {"plan": load_plan or plan(), **trial_changes}
    trials = [trial("a", block, made, **changes) for block in range(6)]
    found = judge(run([case("a")], trials), 0).findings
    return {finding.code: finding for finding in found if finding.code != "B1"}


def changed(**changes: object) -> Measurement:
    return msgspec.structs.replace(measurement(), **changes)


def interleaved(
    rates: Mapping[str, Sequence[float]], number: int = 0, block: int = 0, **changes: object
) -> Block:
    """An interleaved block in which each case had these rates (answers a second): a slice of 100 ms for
    each."""
    arms = len(rates)
    made = []
    for arm, (name, each) in enumerate(rates.items()):
        slices = tuple(
            made_slice(round_number * arms + arm, round_number, arm, rate)
            for round_number, rate in enumerate(each)
        )
        windows = tuple(as_window(one, one.start_ns) for one in slices)
        seen = measurement(sum(each) / len(each), len(each) * 0.1, windows=windows)
        first = number * arms + arm
        made.append(
            trial(name, block, seen, number=first, position=arm, arm=Arm(block=number, slices=slices))
        )
    whole = Block(
        number=number,
        block=block,
        started_at_unix_ns=0,
        lengths=Lengths(slice_ns=100_000_000, washout_ns=5_000_000),
        trials=tuple(made),
    )
    return msgspec.structs.replace(whole, **changes)


def made_slice(number: int, round_number: int, place: int, rate: float) -> Slice:
    completed = round(rate / 10)
    return Slice(
        number=number,
        round=round_number,
        place=place,
        phase="measured",
        washout_ns=5_000_000,
        start_ns=number * 105_000_000 + 5_000_000,
        length_ns=100_000_000,
        started=completed,
        completed=completed,
        failed=0,
        bytes_read=150 * completed,
        early_completed=completed // 5,
        service_time_sum_ns=completed * 1_000_000,
        service_time_p50_ns=1_000_000,
        carried=0,
        unsettled=0,
        late=0,
        reopened=0,
        client_cpu_ns=40_000_000,
    )


ROUNDS = 30
LENGTHS = Lengths(
    slice_ns=100_000_000, washout_ns=5_000_000, why="the ratios agree with those in slices of 500 ms"
)


def interleaved_pair(kind: str, blocks: int = 6, apart: float = 1.03) -> Run:
    """Two servers, one a little faster, on a machine whose mood both share; judged."""
    names = {"go": 10_000.0 * apart, "node": 10_000.0}
    made = run([case(name, label=name.title()) for name in names], (), blocks if kind == "study" else 0)
    if kind == "comparison":
        design = ComparisonDesign(
            title="Go against Node",
            budget_ns=10**11,
            margin=0.02,
            seed=7,
            plans=dict.fromkeys(names, plan()),
            warm_ups=dict.fromkeys(names, WarmUp(min_ns=0, max_ns=0)),
        )
        made = replace(made, header=replace(made.header, study_name="versus", design=design))
    for number in range(blocks):
        mood = [1 + 12 * WOBBLE[(round_number // 4 + number) % 10] for round_number in range(ROUNDS)]
        rates = {
            name: [
                per_s
                * mood[round_number]
                * (1 + WOBBLE[(round_number * (3 * place + 1) + number) % 10] * 1.5)
                for round_number in range(ROUNDS)
            ]
            for place, (name, per_s) in enumerate(names.items())
        }
        made = made.after(interleaved(rates, number, number, lengths=LENGTHS))
    return replace(made, judgement=judge(made, 0))


def alike_to_the_client(made: Run) -> Run:
    """The run whose answers cost the client 4 µs each, whichever server sent them."""
    trials = []
    for one in made.trials:
        seen = one.measurement
        assert seen is not None
        workers = tuple(replace(each, cpu_ns=4_000 * each.completed) for each in seen.workers)
        trials.append(replace(one, measurement=replace(seen, workers=workers)))
    return replace(made, trials=tuple(trials))
