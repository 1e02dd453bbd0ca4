"""The rules on open loops, the generator and the model: what each catches and leaves alone."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from judged import (
    QUIET,
    changed,
    findings_of,
    found,
    load_seen,
    noted_else,
    open_measurement,
    open_plan,
    windowed,
)
from made_runs import (
    case,
    histogram,
    measurement,
    plan,
    run,
    server,
    steady_run,
    trial,
    uniform_histogram,
)
from msgspec.structs import replace

from assay.model.finding import Finding
from assay.model.plan import Closed
from assay.model.run import Run
from assay.model.trial import Link
from assay.verdict import judge, judge_load, see_run
from assay.verdict.load import OfRun
from assay.verdict.rule import LoadRule
from assay.verdict.rules import RULES


def test_a_clean_open_loop_has_no_finding() -> None:
    assert found(open_measurement(), open_plan()) == {}


class TestGeneratorTime:
    def test_a_stall_takes_the_times_and_a_long_one_bounds_throughput(self) -> None:
        def stalled(ns: int, seconds: int = 10) -> Finding | None:
            made = measurement(seconds=seconds)
            worker = msgspec.structs.replace(made.workers[0], largest_stall_ns=ns)
            return found(msgspec.structs.replace(made, workers=(worker,)), plan(seconds=seconds)).get("H2")

        short = stalled(150_000_000, seconds=20)
        assert short is not None and (short.on_throughput, short.on_times) == ("at least", "at most")
        long = stalled(900_000_000)
        assert long is not None and (long.on_throughput, long.on_times) == ("at least", "at most")
        assert stalled(99_000_000) is None

    def test_one_preempted_trial_among_many_is_a_note(self) -> None:
        stolen = msgspec.structs.replace(QUIET, steal_share=0.05)
        trials = [trial("a", block, host=stolen if block == 3 else QUIET) for block in range(6)]
        (finding,) = noted_else(judge(run([case("a")], trials), 0).findings)
        assert (finding.code, finding.severity, finding.trials) == ("H2", "note", 1)

    def test_one_stalled_trial_among_many_is_a_note(self) -> None:
        worker = msgspec.structs.replace(measurement().workers[0], largest_stall_ns=150_000_000)
        trials = [trial("a", block, changed(workers=(worker,)) if block == 3 else None) for block in range(6)]
        (finding,) = noted_else(judge(run([case("a")], trials), 0).findings)
        assert (finding.code, finding.severity, finding.trials) == ("H2", "note", 1)

    def test_threads_that_share_cores_exhaust_the_cores(self) -> None:
        """A thousand threads, each busy for a five hundredth of the time, leave two cores nothing."""
        worker = measurement().workers[0]
        crowd = (msgspec.structs.replace(worker, cpu_ns=worker.wall_ns // 520, completed=100),) * 1000
        finding = found(changed(workers=crowd), plan(threads=1000, cpus=(0, 1)))["G1"]
        assert finding.figures["idle_share"] < 0.1 and "1,000 threads" in finding.evidence

    def test_a_spinning_pacer_that_comes_late(self) -> None:
        late = open_measurement(send_lag=uniform_histogram(100_000, 3e6))
        finding = found(late, open_plan())["G1"]
        assert (finding.on_throughput, finding.on_times) == ("none", "at most")
        slow = uniform_histogram(100_000, 50e6)
        assert "G1" not in found(
            open_measurement(send_lag=uniform_histogram(100_000, 3e6), service_time=slow, response_time=slow),
            open_plan(),
        )

    def test_other_programs_on_the_generator_s_core_are_named_as_the_cause(self) -> None:
        host = msgspec.structs.replace(QUIET, client_cpus_idle_share=0.02)
        findings = found(measurement(busy=0.3), host=host)
        assert "G1" not in findings and "30 %" in findings["H2"].evidence
        assert "other programs" in findings["H2"].remedy

    def test_a_crowd_just_below_the_limit_is_not_blamed_on_other_programs(self) -> None:
        worker = measurement().workers[0]
        crowd = (msgspec.structs.replace(worker, cpu_ns=worker.wall_ns * 66 // 1000),) * 12
        host = msgspec.structs.replace(QUIET, client_cpus_idle_share=0.19)
        assert found(changed(workers=crowd), plan(threads=12), host=host).keys().isdisjoint({"G1", "H2"})


class TestOfferedLoad:
    @pytest.mark.parametrize(
        ("started", "severity"), [(99_500, None), (98_000, "warning"), (85_000, "error")]
    )
    def test_shortfall(self, started: int, severity: str | None) -> None:
        finding = found(open_measurement(started=started), open_plan()).get("G3")
        assert (finding and finding.severity) == severity

    def test_a_ramp_is_the_area_under_it(self) -> None:
        ramp = open_plan(5_000, 15_000)
        assert "G3" not in found(open_measurement(started=100_000), ramp)
        assert found(open_measurement(started=80_000), ramp)["G3"].figures["intended"] == pytest.approx(
            100_000
        )

    def test_the_scatter_of_poisson_arrivals_is_no_shortfall(self) -> None:
        few = open_measurement(started=962)  # of 1,000: 1.2 standard deviations
        assert "G3" not in found(few, open_plan(100, arrivals="poisson"))
        assert "G3" in found(few, open_plan(100))

    def test_a_full_pool_or_dropped_starts(self) -> None:
        finding = found(open_measurement(waited_starts=101), open_plan())["G4"]
        assert finding.severity == "warning" and "101 starts came due" in finding.evidence
        assert "G4" not in found(open_measurement(waited_starts=100), open_plan())
        assert "12 starts" in found(open_measurement(missed_starts=12), open_plan())["G4"].evidence

    def test_connections_that_are_all_in_use_are_no_full_pool_where_nobody_waited(self) -> None:
        full = msgspec.structs.replace(open_measurement().connections, busy_peak=1_000)
        assert "G4" not in found(open_measurement(connections=full, waited_starts=0), open_plan())

    def test_connections_that_are_only_open_are_not_a_full_pool(self) -> None:
        opened_cold = msgspec.structs.replace(open_measurement().connections, peak=1_000, busy_peak=30)
        assert "G4" not in found(open_measurement(connections=opened_cold), open_plan())


class TestLink:
    def test_bytes_at_the_link_s_ceiling(self) -> None:
        made = run([case("a")], [trial("a", b, measurement(bytes_each=100_000)) for b in range(6)])

        def with_ceiling(per_s: float) -> Run:
            environment = msgspec.structs.replace(made.header.environment, loopback_bytes_per_s=per_s)
            header = msgspec.structs.replace(made.header, environment=environment)
            return msgspec.structs.replace(made, header=header)

        assert "G6" in findings_of(with_ceiling(1.05e9))
        assert "G6" not in findings_of(with_ceiling(2e9))
        assert "G6" not in findings_of(made)

    def test_a_trial_knows_its_own_link(self) -> None:
        def over(link: Link) -> Run:
            busy = [trial("a", b, measurement(bytes_each=100_000), link=link) for b in range(6)]
            made = run([case("a")], busy)
            environment = msgspec.structs.replace(made.header.environment, loopback_bytes_per_s=1.05e9)
            header = msgspec.structs.replace(made.header, environment=environment)
            return msgspec.structs.replace(made, header=header)

        assert "G6" in findings_of(over(Link(same_machine=True, bytes_per_s=1.05e9)))
        assert "G6" not in findings_of(over(Link(same_machine=False)))  # the loopback is none of its


class TestEqualServers:
    def found(self, busy: float, rates: dict[str, float], server_busy: float = 0.99) -> dict[str, Finding]:
        made = steady_run(rates)
        seen = server(cpu_share=server_busy)
        trials = tuple(
            msgspec.structs.replace(
                one, measurement=measurement(rates[one.case], busy=busy), host=None, server=seen
            )
            for one in made.trials
        )
        judged = judge(msgspec.structs.replace(made, trials=trials), 0)
        return {one.subject.case or "": one for one in judged.findings if one.code == "G7"}

    def level(self, busy: float, rates: dict[str, float]) -> list[str]:
        return list(self.found(busy, rates))

    def test_three_servers_at_one_figure_behind_a_busy_client(self) -> None:
        rates = {"a": 178_000.0, "b": 178_500.0, "c": 179_000.0, "d": 90_000.0}
        assert self.level(0.85, rates) == ["a", "b", "c"]
        assert self.level(0.5, rates) == []
        assert self.level(0.85, {"a": 178_000.0, "b": 179_000.0, "d": 90_000.0}) == []

    def test_servers_whose_own_cores_were_full_set_the_pace_themselves(self) -> None:
        rates = {"a": 178_000.0, "b": 178_500.0, "c": 179_000.0}
        full = self.found(0.85, rates)["a"]
        assert (full.on_throughput, full.at_most_times) == ("at least", 1.0)  # a bound that closes
        idle = self.found(0.85, rates, server_busy=0.8)["a"]
        assert (idle.on_throughput, idle.on_times) == ("at least", "at most")
        assert idle.at_most_times == pytest.approx(0.8**-3)


class TestTimes:
    def test_an_order_that_cannot_be(self) -> None:
        times = msgspec.structs.replace(measurement().service_time, max_ns=1_000_000)
        assert found(changed(service_time=times))["M2"].severity == "error"
        times = msgspec.structs.replace(measurement().service_time, mean_ns=5e6, min_ns=6_000_000)
        assert "outside its own range" in found(changed(service_time=times))["M2"].evidence

    def test_a_mean_above_p99_is_suspicious(self) -> None:
        slow = histogram([1e6] * 9_950 + [5e9] * 50)
        made = measurement(1000, service_time=slow)
        finding = found(made)["M2"]
        assert (finding.severity, finding.on_times) == ("warning", "none")

    def test_waiting_that_a_closed_loop_would_have_hidden(self) -> None:
        waited = open_measurement(response_time=uniform_histogram(100_000, 900e6))
        assert found(waited, open_plan())["M4"].severity == "warning"
        barely = open_measurement(response_time=uniform_histogram(100_000, 1_200_000))
        assert "M4" not in found(barely, open_plan())  # more than twice, and less than a millisecond

    def test_a_tail_is_quoted_from_a_closed_loop_only_where_a_claim_does(self) -> None:
        def study(metric: str) -> dict[str, object]:
            pair = {"a": "a", "b": "b", "metric": metric}
            return {"claims": [{"id": "c", "statement": "s", "comparisons": [pair]}]}

        rates = {"a": 10_000, "b": 9_000, "c": 8_000}
        judged = judge(steady_run(rates, study=study("service_time_p99")), 0)
        assert [one.code for one in noted_else(judged.findings)] == ["M5", "M5"]
        assert [row.rank for row in judged.ranking] == [1, 2, 3]  # the flag is about times
        assert noted_else(judge(steady_run(rates, study=study("service_time_mean")), 0).findings) == ()

    def test_think_time_keeps_a_closed_loop_below_saturation(self) -> None:
        rule = RULES["M5"]
        assert isinstance(rule, LoadRule)
        quoted = OfRun(fastest_mhz=None, busy_share=None, tail_quoted=True, of_a_search=False)
        hit = rule.check(replace(load_seen(), of_run=quoted), rule.defaults)
        assert hit is not None and hit.evidence.endswith("is quoted from 64 saturating connections")
        alone = plan(load=Closed(connections=1), threads=1)
        hit = rule.check(replace(load_seen(), of_run=quoted, plan=alone), rule.defaults)
        assert hit is not None and hit.evidence.endswith("is quoted from 1 saturating connection")
        thinking = plan(load=Closed(connections=64, think_time_ns=1_000_000), threads=2)
        idle = replace(load_seen(), of_run=quoted, plan=thinking)
        assert rule.check(idle, rule.defaults) is None


class TestArrivals:
    def test_poisson_arrivals_that_are_none(self) -> None:
        rng = np.random.default_rng(5)
        fitting = [int(count) for count in rng.poisson(1000, 100)]
        bursty = [int(count) for count in rng.poisson(1000 * rng.gamma(10, 0.1, 100))]
        claimed = open_plan(arrivals="poisson")
        for counts, hit in ((fitting, False), (bursty, True), ([1000] * 100, True)):
            made = open_measurement(windows=windowed(counts), completed=sum(counts), workers=())
            assert ("M6" in found(made, claimed)) == hit

    def test_constant_arrivals_in_bursts(self) -> None:
        burst = open_measurement(windows=windowed([2000, 0] * 50))
        assert "scatter" in found(burst, open_plan())["M6"].evidence
        assert "M6" not in found(open_measurement(windows=windowed([1000, 1001] * 50)), open_plan())


class TestServerBound:
    def busy(self, share: float, **changes: object) -> dict[str, Finding]:
        fields: dict[str, Any] = {"server": server(cpu_share=share), **changes}
        return findings_of(run([case("a")], [trial("a", b, **fields) for b in range(6)]))

    def test_a_server_with_time_to_spare(self) -> None:
        assert self.busy(0.6)["M7"].severity == "warning"
        assert self.busy(0.6)["M7"].on_throughput == "none"  # its own, at so many connections
        assert "M7" not in self.busy(0.95)

    def test_the_kernel_s_work_and_the_services_count_as_the_server_s(self) -> None:
        host = msgspec.structs.replace(QUIET, server_cpus_idle_share=0.02)
        assert "M7" not in self.busy(0.6, host=host)

    def test_a_named_bottleneck_or_think_time_is_no_riddle(self) -> None:
        named = case("a", facts={"bottleneck": "a pool of three connections"})
        seen = server(cpu_share=0.6)
        assert "M7" not in found(measurement(), None, named, server=seen)
        thinking = plan(load=Closed(connections=64, think_time_ns=1))
        assert "M7" not in found(measurement(), thinking, server=seen)


def test_a_single_load_is_judged_by_the_same_rules() -> None:
    worker = msgspec.structs.replace(measurement().workers[0], largest_stall_ns=400_000_000)
    findings = noted_else(judge_load(plan(), changed(workers=(worker,)), cores=2, same_machine=True))
    assert [(finding.code, finding.on_throughput) for finding in findings] == [("H2", "at least")]


def test_open_loops_are_shown_but_not_ranked_by_the_rate_they_were_offered() -> None:
    trials = [trial(name, b, open_measurement(), plan=open_plan()) for name in ("a", "b") for b in range(6)]
    judged = judge(run([case("a"), case("b")], trials), 0)
    assert {row.rank for row in judged.ranking} == {None}
    assert all("open loop" in row.reason for row in judged.ranking)
    assert judged.clean


def test_a_run_is_seen_case_by_case() -> None:
    seen = see_run(steady_run({"a": 10_000, "b": 20_000}))
    assert [len(each.loads) for each in seen.cases] == [6, 6]
