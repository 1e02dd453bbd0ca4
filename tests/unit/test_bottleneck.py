"""Who limited a load, by accounts made by hand, and the bounds that follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from judged import findings_of, noted_else, open_measurement, open_plan
from made_runs import SECOND, case, measurement, plan, run, server, steady_run, trial, uniform_histogram
from msgspec.structs import replace

from assay.model.account import CoreTime, ProgramTime, ThreadTime, TimeAccount
from assay.model.finding import Finding
from assay.model.measurement import Connections
from assay.model.plan import Closed
from assay.model.trial import Emulation, Link, Trial
from assay.verdict import exit_codes, judge
from assay.verdict.bottleneck import Bottleneck, at_most, bottleneck_of
from assay.verdict.load import Machine
from assay.verdict.see import see_load, see_trial

WALL = 10 * SECOND


def account(
    served: float, generated: float, *, others: float = 0.0, lost: float = 0.0, idle_cpu: float = 0.0
) -> TimeAccount:
    """A core each: what the server used of its own, the generator of its own, and what others had of the
    server's (`others`) and of the generator's (`lost`)."""

    def core(cpu: int, used: float, by_others: float, **whose: object) -> CoreTime:
        fields: dict[str, Any] = {"cpus": (cpu,), "time_ns": WALL, "kernel_ns": 0, "stolen_ns": 0, **whose}
        programs = (ProgramTime(name="backup", ns=int(by_others * WALL)),)
        idle = int((1 - used - by_others) * WALL)
        return CoreTime(programs=programs, idle_ns=idle, unknown_ns=0, **fields)

    half = int(served * WALL) // 2
    client = int(generated * WALL) // 2
    return TimeAccount(
        wall_ns=WALL,
        cores=(
            core(1, served, others, role="server", server_user_ns=half, server_kernel_ns=half),
            core(0, generated, lost, role="generator", generator_user_ns=client, generator_kernel_ns=client),
        ),
        server=ThreadTime(threads=1, ran_ns=2 * half, waited_ns=int(others * WALL)),
        generator=ThreadTime(threads=1, ran_ns=2 * client, waited_ns=int(lost * WALL)),
        idle_cpu_share=idle_cpu,
    )


def one(served: float, generated: float, name: str = "a", block: int = 0, **given: object) -> Trial:
    more: dict[str, Any] = dict(given)
    seen = server(cpu_share=served, cpu_ns=int(served * WALL))
    made = more.pop("made", None) or measurement(busy=generated, **more.pop("of", {}))
    changes = {key: more.pop(key) for key in ("plan", "link") if key in more}
    return trial(name, block, made, server=seen, account=account(served, generated, **more), **changes)


def named(made: Trial) -> Bottleneck:
    assert made.measurement is not None
    environment = steady_run({"a": 1_000}).header.environment
    return bottleneck_of(see_trial(made, made.measurement, environment))


THINKING = plan(load=Closed(connections=64, think_time_ns=60_000_000))
FAR = Link(same_machine=True, emulation=Emulation(round_trip_ns=6_000_000))
LOOPBACK = Link(same_machine=True, bytes_per_s=1e3)
FEW = Connections(asked=64, opened=64, answered=8, reopened=0, peak=64)


@pytest.mark.parametrize(
    ("who", "made"),
    [
        ("server", one(0.98, 0.4)),
        ("server", one(0.99, 0.99)),  # in front of a full core a full client costs nothing
        ("generator", one(0.6, 0.98)),
        ("generator", one(1.0, 0.98, idle_cpu=0.99)),  # it burns its core at no load
        ("others", one(0.5, 0.4, others=0.5)),
        ("others", one(0.5, 0.3, lost=0.68)),
        ("others", one(0.66, 0.65, lost=0.2)),
        ("generator", one(0.66, 0.79, lost=0.06)),  # others had too little of its time to be the cause
        ("waiting", one(0.1, 0.2)),
        ("unknown", one(1.0, 0.2, idle_cpu=0.99)),
        ("limit", one(0.1, 0.1, plan=THINKING)),
        ("limit", one(0.1, 0.1, made=replace(measurement(busy=0.1), connections=FEW))),
        ("limit", one(0.4, 0.99, made=open_measurement(), plan=open_plan())),
        ("link", one(0.1, 0.1, link=FAR)),
        ("link", one(0.1, 0.1, link=LOOPBACK)),
        ("generator", one(0.6, 0.98, link=LOOPBACK)),  # what a loopback carries is a matter of cores
    ],
)
def test_each_bottleneck_is_named_by_the_account(who: str, made: Trial) -> None:
    found = named(made)
    assert found.who == who
    assert len(f"  bottleneck: {found.words}") <= 80, "a screen shows it whole"


def found_of(made: Trial) -> Mapping[str, Finding]:
    return findings_of(run([case("a")], [made]))


def test_a_pool_that_a_full_server_exhausted_asks_for_a_lower_rate() -> None:
    late = open_measurement(waited_starts=30_000)
    full = found_of(one(0.98, 0.4, made=late, plan=open_plan()))["G4"]
    assert full.evidence.endswith("; the bottleneck was the server (98 % of its core)")
    assert "lower rate" in full.remedy and "allow more" not in full.remedy
    few = found_of(one(0.3, 0.2, made=late, plan=open_plan()))["G4"]
    assert "bottleneck" not in few.evidence and "allow more connections" in few.remedy


def test_connections_that_a_full_generator_did_not_serve_are_no_queue_of_the_server_s() -> None:
    made = replace(measurement(busy=0.98), connections=FEW)
    full = found_of(one(0.5, 0.98, made=made))["G8"]
    assert "the bottleneck was the generator (98 % of its core)" in full.evidence
    assert "backlog" not in full.remedy and "generator" in full.remedy
    idle = found_of(one(0.1, 0.1, made=replace(measurement(busy=0.1), connections=FEW)))["G8"]
    assert "bottleneck" not in idle.evidence and "backlog" in idle.remedy


def test_shared_cores_hold_nothing_back_where_the_rate_was_the_limit() -> None:
    shared = server(cpu_share=0.3, cpus=(0,))
    trials = [trial("a", 0, open_measurement(), plan=open_plan(), server=shared)]
    finding = findings_of(run([case("a")], trials))["H1"]
    assert (finding.on_throughput, finding.on_comparison) == ("none", None)
    trials = [trial("a", 0, measurement(), server=shared)]
    finding = findings_of(run([case("a")], trials))["H1"]
    assert (finding.on_throughput, finding.on_comparison) == ("at least", "at least")


def test_idle_connections_are_not_the_generator_s_where_another_was_the_bottleneck() -> None:
    shorter = uniform_histogram(100_000, 0.8 * 6.4e6)
    busy = found_of(one(0.98, 0.85, of={"service_time": shorter}))["M1"]
    assert "waited for the generator, which used 85 % of its core; the bottleneck was the se" in busy.evidence
    few = replace(measurement(busy=0.1, service_time=shorter), connections=FEW)
    served = found_of(one(0.1, 0.1, made=few))["M1"]
    assert served.evidence.endswith("they waited for connections that the server takes (8 of 64 were served)")


def test_others_are_named() -> None:
    assert named(one(0.5, 0.4, others=0.5)).words == "backup (50 % of the server's time)"


def test_a_program_that_takes_what_nobody_wants_took_nothing() -> None:
    made = one(0.5, 0.3, others=0.5)
    assert made.account is not None
    idle = replace(made.account, server=ThreadTime(threads=1, ran_ns=1, waited_ns=0))
    assert named(replace(made, account=idle)).who == "waiting"


def test_an_account_is_believed_before_the_older_figure() -> None:
    made = one(0.1, 0.2)
    assert made.server is not None
    assert named(replace(made, server=replace(made.server, cpu_share=0.99))).who == "waiting"


@pytest.mark.parametrize("generated", [n / 20 for n in range(10)])
@pytest.mark.parametrize("served", [0.1, 0.5, 0.9, 1.0])
def test_a_generator_that_idled_by_half_is_never_named(generated: float, served: float) -> None:
    assert named(one(served, generated)).who != "generator"


def test_of_a_load_of_which_nothing_is_known_nothing_is_said() -> None:
    assert bottleneck_of(see_load(plan(), measurement(), Machine())).who == "unknown"


def test_no_bound_has_a_step() -> None:
    shares = [n / 1000 for n in range(500, 1001)]
    for strain in (0.1, 0.5, 1.0):
        bounds = [at_most(share, strain) or 0.0 for share in shares]
        assert all(0 <= high - low < 0.05 for high, low in zip(bounds, bounds[1:], strict=False))
        assert bounds[-1] == 1.0
    assert all((at_most(u) or 0) >= 1 / (u + 0.02) for u in shares)


def between(a: dict[str, Any], b: dict[str, Any], rates: tuple[float, float]) -> tuple[float, float]:
    """What is known of a/b, over six blocks."""
    trials = []
    for block in range(6):
        for name, given, per_s in (("a", a, rates[0]), ("b", b, rates[1])):
            trials.append(one(name=name, block=block, **(given | {"of": {"per_s": per_s + block}})))
    (pair,) = judge(run([case("a"), case("b")], trials), 0).comparisons
    assert pair.known is not None
    low, high = pair.known.low or 0.0, pair.known.high or float("inf")
    return (low, high) if pair.a == "a" else (1 / high, 1 / low if low else float("inf"))


HELD = {"served": 0.7, "generated": 0.3, "others": 0.3}


@pytest.mark.parametrize(
    ("truth", "a", "b", "rates"),
    [
        # Equal servers of 10 µs, whose answers cost the client 5 and 15 µs: the second is its client's.
        (1.0, {"served": 0.98, "generated": 0.5}, {"served": 0.66, "generated": 0.99}, (98_000, 66_000)),
        # A busy-polling server beside a full client.
        (
            2.0,
            {"served": 1.0, "generated": 0.99, "idle_cpu": 0.99},
            {"served": 0.98, "generated": 0.9},
            (60_000, 49_000),
        ),
        # Servers busy 91 and 99 %, and a full client.
        (1.05, {"served": 0.91, "generated": 0.99}, {"served": 0.99, "generated": 0.99}, (91_000, 95_238)),
        # One that others took 30 % of in every trial, one after the other, and one never.
        (
            1.0,
            {"served": 0.7, "generated": 0.3, "others": 0.3},
            {"served": 0.98, "generated": 0.4},
            (7e4, 1e5),
        ),
    ],
)
def test_the_truth_lies_within_the_bounds(
    truth: float, a: dict[str, Any], b: dict[str, Any], rates: tuple[float, float]
) -> None:
    low, high = between(a, b, rates)
    assert low <= truth <= high


@pytest.mark.parametrize("cost_a_us", [1, 4, 10, 20])
@pytest.mark.parametrize("cost_b_us", [1, 4, 10, 20])
@pytest.mark.parametrize("need_us", [5, 8, 12])
def test_a_client_that_takes_time_never_moves_the_truth_out(
    cost_a_us: float, cost_b_us: float, need_us: float
) -> None:
    """Servers of 8 µs and `need_us`, each in a pipeline with a client on a core of its own."""
    arms, rates = [], []
    for need, cost in ((8, cost_a_us), (need_us, cost_b_us)):
        per_s = 0.985e6 / max(need, cost)
        arms.append({"served": per_s * need / 1e6, "generated": per_s * cost / 1e6})
        rates.append(per_s)
    low, high = between(arms[0], arms[1], (rates[0], rates[1]))
    assert low <= need_us / 8 * 1.01 and need_us / 8 <= high * 1.01


def test_a_server_that_idled_while_others_had_the_generator_s_core_may_do_more() -> None:
    """nginx beside a program that is busy half of the time: 106,241/s, and 184,040/s on the quiet machine."""
    trials = [one(0.61, 0.52, block=b, others=0.2, lost=0.18) for b in range(6)]
    found = findings_of(run([case("a")], trials))["H2"]
    assert found.at_most_times is not None and found.at_most_times >= 184_040 / 106_241


def test_exit_codes_of_what_stands_with_bounds() -> None:
    made = run([case("a")], [one(0.5, 0.3, block=b, others=0.4, lost=0.6) for b in range(6)])
    findings = judge(made, 0).findings
    assert "H2" in {each.code for each in findings}
    assert exit_codes.of_load(noted_else(findings)) == 0


def test_what_others_took_of_its_cores_bounds_it_unless_it_was_nearly_all() -> None:
    taken = findings_of(run([case("a")], [one(0.04, 0.3, block=b, others=0.95) for b in range(6)]))["H2"]
    assert taken.on_throughput == "at least" and taken.at_most_times is None
    found = findings_of(run([case("a")], [one(0.55, 0.3, block=b, others=0.4) for b in range(6)]))["H2"]
    assert found.on_throughput == "at least" and found.on_times == "at most"
    assert found.at_most_times == pytest.approx(1 / 0.6, rel=0.02)


@pytest.mark.parametrize("served", [0.5, 0.85, 0.91, 0.93, 0.97, 1.0])
@pytest.mark.parametrize("generated", [0.81, 0.9, 0.94, 0.99])
def test_a_busy_generator_is_called_full_where_it_is_the_bottleneck_and_nowhere_else(
    served: float, generated: float
) -> None:
    trials = [one(served, generated, block=b) for b in range(6)]
    found = findings_of(run([case("a")], trials))["G1"]
    full = found.because == "its generator was full"
    assert full or found.because == "its generator was nearly full"
    assert full == (named(trials[0]).who == "generator" and found.on_throughput == "at least")
