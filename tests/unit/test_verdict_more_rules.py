"""The rules on open loops, fairness, trials, design and host: what each catches and leaves alone."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from made_runs import (
    SECOND,
    case,
    histogram,
    measurement,
    plan,
    run,
    server,
    steady_run,
    trial,
    uniform_histogram,
    with_trials,
)

from assay.values.finding import Finding
from assay.values.measurement import Measurement, Outcome, Window
from assay.values.plan import Closed, LoadPlan, Open, Request, Stage
from assay.values.run import Run
from assay.values.trial import Case, HostSeen, Trial, WarmUpSeen
from assay.verdict import judge, judge_load, see_run
from assay.verdict.registry import RULES
from assay.verdict.rule import LoadRule
from assay.verdict.seen import Load

QUIET = HostSeen(load_average_1m=1, steal_share=0, client_cpus_idle_share=0.55)


def findings_of(made: Run) -> dict[str, Finding]:
    return {finding.code: finding for finding in judge(made, 0).findings}


def found(
    made: Measurement, load_plan: LoadPlan | None = None, entered: Case | None = None, **changes: object
) -> dict[str, Finding]:
    """The findings about one case of six such trials, by code."""
    fields = {"plan": load_plan or plan(), **changes}
    return findings_of(run([entered or case("a")], [trial("a", b, made, **fields) for b in range(6)]))


def changed(**changes: object) -> Measurement:
    return msgspec.structs.replace(measurement(), **changes)


def open_plan(per_s: float = 10_000, to_per_s: float | None = None, **changes: object) -> LoadPlan:
    stages = (Stage(duration_ns=10 * SECOND, from_per_s=per_s, to_per_s=to_per_s or per_s),)
    load = msgspec.structs.replace(Open(stages=stages, max_connections=1000), **changes)
    return plan(load=load)


def open_measurement(**changes: object) -> Measurement:
    """100,000 requests at 10,000/s, never late, on at most 20 of 1,000 connections."""
    times = uniform_histogram(100_000, 500_000)
    connections = msgspec.structs.replace(
        measurement().connections, asked=1000, opened=20, answered=20, peak=20
    )
    made = changed(
        started=100_000,
        service_time=times,
        response_time=times,
        send_lag=uniform_histogram(100_000, 20_000),
        connections=connections,
    )
    return msgspec.structs.replace(made, **changes)


def windowed(counts: list[int]) -> tuple[Window, ...]:
    width = 10 * SECOND // len(counts)
    return tuple(
        Window(
            start_ns=place * width,
            length_ns=width,
            phase="measured",
            started=count,
            completed=count,
            failed=0,
            bytes_read=0,
        )
        for place, count in enumerate(counts)
    )


def test_a_clean_open_loop_has_no_finding() -> None:
    assert found(open_measurement(), open_plan()) == {}


class TestGeneratorTime:
    def test_a_stall_takes_the_times_and_a_long_one_everything(self) -> None:
        def stalled(ns: int, seconds: int = 10) -> Finding | None:
            made = measurement(seconds=seconds)
            worker = msgspec.structs.replace(made.workers[0], largest_stall_ns=ns)
            return found(msgspec.structs.replace(made, workers=(worker,)), plan(seconds=seconds)).get("G2")

        short = stalled(150_000_000, seconds=20)
        assert short is not None and (short.severity, short.withholds) == ("withheld", "times")
        long = stalled(900_000_000)
        assert long is not None and long.withholds == "everything"
        assert stalled(99_000_000) is None

    def test_one_disturbed_trial_among_many_is_a_note(self) -> None:
        stolen = msgspec.structs.replace(QUIET, steal_share=0.05)
        trials = [trial("a", block, host=stolen if block == 3 else QUIET) for block in range(6)]
        (finding,) = judge(run([case("a")], trials), 0).findings
        assert (finding.code, finding.severity, finding.trials) == ("H2", "note", 1)

    def test_one_stalled_trial_among_many_is_no_note(self) -> None:
        worker = msgspec.structs.replace(measurement().workers[0], largest_stall_ns=150_000_000)
        trials = [trial("a", block, changed(workers=(worker,)) if block == 3 else None) for block in range(6)]
        (finding,) = judge(run([case("a")], trials), 0).findings
        assert (finding.code, finding.severity, finding.trials) == ("G2", "withheld", 1)

    def test_threads_that_share_cores_exhaust_the_cores(self) -> None:
        """A thousand threads, each busy for a five hundredth of the time, leave two cores nothing."""
        worker = measurement().workers[0]
        crowd = (msgspec.structs.replace(worker, cpu_ns=worker.wall_ns // 520, completed=100),) * 1000
        finding = found(changed(workers=crowd), plan(threads=1000, cpus=(0, 1)))["G1"]
        assert finding.figures["idle_share"] < 0.1 and "1,000 threads" in finding.evidence

    def test_a_spinning_pacer_that_comes_late(self) -> None:
        late = open_measurement(send_lag=uniform_histogram(100_000, 3e6))
        assert found(late, open_plan())["G1"].withholds == "times"
        slow = uniform_histogram(100_000, 50e6)
        assert "G1" not in found(
            open_measurement(send_lag=uniform_histogram(100_000, 3e6), service_time=slow, response_time=slow),
            open_plan(),
        )

    def test_other_programs_on_the_generator_s_core_are_named_as_the_cause(self) -> None:
        host = msgspec.structs.replace(QUIET, client_cpus_idle_share=0.02)
        finding = found(measurement(busy=0.3), host=host)["G1"]
        assert "30 %" in finding.evidence and "other programs" in finding.remedy


class TestOfferedLoad:
    @pytest.mark.parametrize(
        ("started", "severity"), [(99_500, None), (98_000, "flagged"), (85_000, "withheld")]
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
        connections = msgspec.structs.replace(open_measurement().connections, peak=950)
        finding = found(open_measurement(connections=connections), open_plan())["G4"]
        assert finding.severity == "flagged" and "950 of at most 1,000" in finding.evidence
        assert "12 starts" in found(open_measurement(missed_starts=12), open_plan())["G4"].evidence


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


class TestEqualServers:
    def level(self, busy: float, rates: dict[str, float]) -> list[str]:
        made = steady_run(rates)
        trials = tuple(
            msgspec.structs.replace(one, measurement=measurement(rates[one.case], busy=busy), host=None)
            for one in made.trials
        )
        judged = judge(msgspec.structs.replace(made, trials=trials), 0)
        return [finding.subject.case or "" for finding in judged.findings if finding.code == "G7"]

    def test_three_servers_at_one_figure_behind_a_busy_client(self) -> None:
        rates = {"a": 178_000.0, "b": 178_500.0, "c": 179_000.0, "d": 90_000.0}
        assert self.level(0.85, rates) == ["a", "b", "c"]
        assert self.level(0.5, rates) == []
        assert self.level(0.85, {"a": 178_000.0, "b": 179_000.0, "d": 90_000.0}) == []


class TestTimes:
    def test_an_order_that_cannot_be(self) -> None:
        times = msgspec.structs.replace(measurement().service_time, max_ns=1_000_000)
        assert found(changed(service_time=times))["M2"].severity == "withheld"
        times = msgspec.structs.replace(measurement().service_time, mean_ns=5e6, min_ns=6_000_000)
        assert "outside its own range" in found(changed(service_time=times))["M2"].evidence

    def test_a_mean_above_p99_is_suspicious(self) -> None:
        slow = histogram([1e6] * 9_950 + [5e9] * 50)
        made = measurement(1000, service_time=slow)
        finding = found(made)["M2"]
        assert (finding.severity, finding.withholds) == ("flagged", "nothing")

    def test_waiting_that_a_closed_loop_would_have_hidden(self) -> None:
        waited = open_measurement(response_time=uniform_histogram(100_000, 900e6))
        assert found(waited, open_plan())["M4"].severity == "flagged"
        barely = open_measurement(response_time=uniform_histogram(100_000, 1_200_000))
        assert "M4" not in found(barely, open_plan())  # more than twice, and less than a millisecond

    def test_a_tail_is_quoted_from_a_closed_loop_only_where_a_claim_does(self) -> None:
        def study(metric: str) -> dict[str, object]:
            pair = {"a": "a", "b": "b", "metric": metric}
            return {"claims": [{"id": "c", "statement": "s", "comparisons": [pair]}]}

        rates = {"a": 10_000, "b": 9_000, "c": 8_000}
        codes = [f.code for f in judge(steady_run(rates, study=study("service_time_p99")), 0).findings]
        assert codes == ["M5", "M5"]
        judged = judge(steady_run(rates, study=study("service_time_p99")), 0)
        assert [row.tier for row in judged.ranking] == [1, 2, 3]  # the flag is about times
        assert judge(steady_run(rates, study=study("service_time_mean")), 0).findings == ()

    def test_think_time_keeps_a_closed_loop_below_saturation(self) -> None:
        rule = RULES["M5"]
        assert isinstance(rule, LoadRule)
        assert rule.check(Load(closed=True, connections=64, tail_quoted=True), rule.limits) is not None
        idle = Load(closed=True, connections=64, tail_quoted=True, think_time_ns=1_000_000)
        assert rule.check(idle, rule.limits) is None


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
        assert self.busy(0.6)["M7"].severity == "flagged"
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


class TestFairness:
    def test_a_repeated_input_that_is_much_faster(self) -> None:
        def repeated(rate: float) -> dict[str, Finding]:
            made = steady_run({"same": rate, "random": 10_000})
            cases = (
                case("same", workload="same", facts={"same_input_of": "random"}),
                case("random", workload="random"),
            )
            return findings_of(
                msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, cases=cases))
            )

        assert repeated(12_000)["W4"].severity == "flagged"
        assert "W4" not in repeated(10_500)

    def test_an_encoding_that_nobody_asked_for(self) -> None:
        assert found(measurement(encodings={"br": 100_000}))["W5"].severity == "withheld"
        asking = plan(requests=(Request(headers=(("Accept-Encoding", "gzip;q=1, deflate"),)),))
        assert "W5" not in found(measurement(encodings={"gzip": 100_000}), asking)
        assert "gzip" in found(measurement(encodings={"br": 100_000}), asking)["W5"].evidence

    def test_an_older_http_than_was_asked_for(self) -> None:
        old = changed(http_versions={"1.1": 99_999, "1.0": 1})
        assert "HTTP/1.0" in found(old)["W5"].evidence
        assert "W5" not in found(old, plan(http_version="1.0"))
        assert "W5" not in found(changed(http_versions={"1.1": 100_000}))

    @pytest.mark.parametrize(
        ("reopened", "severity"), [(1_000, None), (15_000, "withheld"), (90_000, "withheld")]
    )
    def test_connections_that_were_not_kept(self, reopened: int, severity: str | None) -> None:
        connections = msgspec.structs.replace(measurement().connections, reopened=reopened)
        finding = found(changed(connections=connections)).get("W5")
        assert (finding and finding.severity) == severity
        assert "W5" not in found(changed(connections=connections), plan(keep_alive=False))

    def test_connections_that_failures_cost_are_w2_s(self) -> None:
        connections = msgspec.structs.replace(measurement().connections, reopened=5_000)
        failing = msgspec.structs.replace(measurement(failed=5_000), connections=connections)
        assert "W5" not in found(failing)

    def pair(self, ours: dict[str, object], theirs: dict[str, object]) -> Run:
        made = steady_run({"a": 10_000, "b": 20_000})
        cases = (case("a", facts=ours), case("b", facts=theirs))
        return msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, cases=cases))

    def test_unequal_pools_keep_the_two_out_of_one_ranking(self) -> None:
        judged = judge(self.pair({"pool": 3}, {"pool": 50}), 0)
        (finding,) = judged.findings
        assert finding.code == "W6" and "pool 3 against 50" in finding.evidence
        assert [row.tier for row in judged.ranking] == [None, None]
        assert all(row.relative_to_best for row in judged.ranking)  # flagged: shown, marked, not ranked
        assert judge(self.pair({"pool": 3}, {"workers": 4}), 0).findings == ()

    def test_a_study_may_say_that_they_differ_on_purpose(self) -> None:
        made = self.pair({"pool": 3}, {"pool": 50})
        study = {"rules": {"W6": {"thresholds": {"allowed": 1}, "reason": "pools are what is compared"}}}
        made = msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, study=study))
        assert judge(made, 0).findings == ()

    def test_unequal_cores_are_seen_without_being_told(self) -> None:
        made = steady_run({"a": 10_000, "b": 20_000})
        wider = with_trials(made, {"b": {"server": server(cpus=(1, 2))}})
        assert "cores 1 against 2" in findings_of(wider)["W6"].evidence

    @pytest.mark.parametrize("facts", [{"jit": "c1"}, {"debug": True}, {"request_log": True}])
    def test_a_handicap(self, facts: dict[str, str | bool]) -> None:
        assert found(measurement(), None, case("a", facts=facts))["W7"].severity == "flagged"
        assert "W7" not in found(measurement(), None, case("a", facts={"jit": "full", "debug": False}))


class TestSamples:
    def test_too_few_requests_for_p99(self) -> None:
        finding = found(measurement(30, 10, 4), plan(4))["S1"]
        assert finding.severity == "note" and "p99 (needs 459)" in finding.evidence

    def steps(self, *levels: int) -> Measurement:
        rng = np.random.default_rng(1)
        share = 100 // len(levels)
        counts = [int(rng.normal(level, level * 0.01)) for level in levels for _ in range(share)]
        per_s = sum(counts) / 10
        return measurement(per_s, windows=windowed(counts))

    def test_a_level_that_changes_late(self) -> None:
        finding = found(self.steps(1000, 1000, 1300, 1300))["S2"]
        assert finding.severity == "flagged" and "level still changed" in finding.evidence

    def test_warm_up_within_the_measured_time_counts_by_what_it_does_to_the_mean(self) -> None:
        assert found(self.steps(500, 1000, 1000, 1000))["S2"].severity == "flagged"
        assert found(self.steps(900, 1000, 1000, 1000))["S2"].severity == "note"
        assert "S2" not in found(self.steps(1000, 1000))

    def test_the_warm_up_s_bound_is_said_with_it(self) -> None:
        bound = WarmUpSeen(steady=False, bound_ns=5 * SECOND, reason="its halves differ by 9.0%")

        def told(made: Measurement, warm_up: WarmUpSeen | None) -> Finding | None:
            trials = [trial("a", block, made, warm_up=warm_up) for block in range(6)]
            return findings_of(run([case("a")], trials)).get("S2")

        unsteady = told(self.steps(1000, 1000, 1300, 1300), bound)
        assert unsteady is not None and "warm-up had reached its bound" in unsteady.evidence
        level = self.steps(1000, 1000, 1000, 1000)
        steady = told(level, bound)
        assert steady is not None and steady.severity == "note" and "halves differ" in steady.evidence
        assert told(level, WarmUpSeen(steady=True, bound_ns=5 * SECOND)) is None

    @pytest.mark.parametrize(("deviation", "severity"), [(0.03, None), (0.07, "note"), (0.2, "flagged")])
    def test_trials_that_differ(self, deviation: float, severity: str | None) -> None:
        rates = [10_000 * (1 + deviation * sign) for sign in (1, -1, 1, -1, 1, -1)]
        trials = [trial("a", block, measurement(rate)) for block, rate in enumerate(rates)]
        finding = findings_of(run([case("a")], trials)).get("S3")
        assert (finding and finding.severity) == severity

    def test_a_slow_first_trial_is_noted_and_kept(self) -> None:
        rates = [6_000, 10_000, 10_010, 9_990, 10_005, 10_000]
        trials = [trial("a", block, measurement(rate)) for block, rate in enumerate(rates)]
        judged = judge(run([case("a")], trials), 0)
        finding = next(f for f in judged.findings if f.code == "S4")
        assert finding.severity == "note" and "the first trial of 6" in finding.evidence
        assert judged.ranking[0].throughput is not None and judged.ranking[0].throughput.n == 6

    def test_how_many_more_trials_would_do(self) -> None:
        rates = [9_700, 10_300, 10_000, 9_800, 10_200, 10_000]
        trials = [trial("a", block, measurement(rate)) for block, rate in enumerate(rates)]
        finding = findings_of(run([case("a")], trials))["S6"]
        assert finding.severity == "note" and 20 <= finding.figures["trials_needed"] <= 25
        assert "S6" not in findings_of(steady_run({"a": 10_000}, blocks=10))


class TestDesign:
    def control(self, factor: float) -> Run:
        made = steady_run({"a": 10_000, "b": 20_000, "again": 10_000 * factor})
        cases = (case("a"), case("b"), case("again", role="control", control_of="a"))
        return msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, cases=cases))

    def test_a_server_that_differs_from_itself_downgrades_every_comparison(self) -> None:
        judged = judge(self.control(1.05), 0)
        finding = next(f for f in judged.findings if f.code == "D1")
        assert finding.severity == "flagged" and finding.subject.case is None
        assert all(row.tier is None and "D1" in row.reason for row in judged.ranking[:2])
        assert "D1" not in findings_of(self.control(1.0))

    def test_a_sure_difference_below_the_noise_floor_is_none(self) -> None:
        made = self.control(1.0)
        trials = tuple(
            msgspec.structs.replace(t, measurement=measurement(10_040 + t.block))
            if t.case == "again"
            else msgspec.structs.replace(t, measurement=measurement(10_000 + t.block))
            for t in made.trials
        )
        assert "D1" not in findings_of(msgspec.structs.replace(made, trials=trials))

    def order(self, *places: tuple[str, int]) -> dict[str, Finding]:
        trials: list[Trial] = [
            trial(name, block, started_at_unix_ns=place, number=place)
            for place, (name, block) in enumerate(places)
        ]
        return findings_of(run([case("a"), case("b")], trials, blocks=2))

    def test_cases_one_after_the_other(self) -> None:
        assert self.order(("a", 0), ("a", 1), ("b", 0), ("b", 1))["D2"].severity == "flagged"
        assert "D2" not in self.order(("a", 0), ("b", 0), ("b", 1), ("a", 1))

    def test_averages_in_another_tool_s_report(self) -> None:
        rule = RULES["D3"]
        assert isinstance(rule, LoadRule)
        hit = rule.check(Load(averaged=("p99 over three runs",)), rule.limits)
        assert hit is not None and hit.severity == "withheld" and "p99" in hit.evidence
        assert rule.check(Load(), rule.limits) is None


class TestHost:
    @pytest.mark.parametrize(
        "host",
        [
            {"steal_share": 0.03},
            {"throttled_ns": SECOND},
            {"busy_cores": 2.5},
        ],
    )
    def test_a_disturbed_machine(self, host: dict[str, float]) -> None:
        finding = found(measurement(), host=msgspec.structs.replace(QUIET, **host))["H2"]
        assert finding.severity == "flagged"

    def test_our_own_load_is_no_disturbance(self) -> None:
        own = msgspec.structs.replace(QUIET, busy_cores=1.5)  # client 0.4, server 0.99, the kernel the rest
        assert "H2" not in found(measurement(), host=own)

    def test_a_clock_that_slowed_down_is_noted(self) -> None:
        trials = [
            trial("a", b, host=msgspec.structs.replace(QUIET, mhz=3000.0 if b else 2400.0)) for b in range(6)
        ]
        finding = findings_of(run([case("a")], trials))["H2"]
        assert finding.severity == "note" and "2,400 MHz" in finding.evidence

    def test_a_limit_that_was_hit_withholds(self) -> None:
        full = Outcome(origin="generator", kind="no_descriptors", count=20)
        assert found(measurement(failed=20, outcomes=(full,)))["H3"].severity == "withheld"

    def test_settings_are_noted_once_for_the_run(self) -> None:
        made = steady_run({"a": 10_000, "b": 20_000})
        environment = msgspec.structs.replace(
            made.header.environment, governor="powersave", turbo=True, descriptor_limit=64
        )
        header = msgspec.structs.replace(made.header, environment=environment)
        judged = judge(msgspec.structs.replace(made, header=header), 0)
        (finding,) = judged.findings
        assert (finding.code, finding.severity, finding.subject.case) == ("H3", "note", None)
        assert judged.hallmark  # notes do not take it away
        for word in ("powersave", "turbo", "descriptors"):
            assert word in finding.evidence


def test_a_single_load_is_judged_by_the_same_rules() -> None:
    worker = msgspec.structs.replace(measurement().workers[0], largest_stall_ns=400_000_000)
    findings = judge_load(plan(), changed(workers=(worker,)), cores=2, same_machine=True)
    assert [(finding.code, finding.withholds) for finding in findings] == [("G2", "everything")]


def test_open_loops_are_shown_but_not_ranked_by_the_rate_they_were_offered() -> None:
    trials = [trial(name, b, open_measurement(), plan=open_plan()) for name in ("a", "b") for b in range(6)]
    judged = judge(run([case("a"), case("b")], trials), 0)
    assert {row.tier for row in judged.ranking} == {None}
    assert all("open loop" in row.reason for row in judged.ranking)
    assert judged.hallmark


def test_unknown_figures_keep_every_load_rule_silent() -> None:
    """Another tool's report knows little: no rule may guess."""
    for rule in RULES.values():
        if isinstance(rule, LoadRule):
            assert rule.check(Load(), rule.limits) is None


def test_a_run_is_seen_case_by_case() -> None:
    seen = see_run(steady_run({"a": 10_000, "b": 20_000}))
    assert [len(each.loads) for each in seen.cases] == [6, 6]
