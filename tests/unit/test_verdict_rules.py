"""Each rule: what it catches, with which figures, and what it leaves alone."""

from __future__ import annotations

import msgspec
import pytest
from judged import noted_else
from made_runs import (
    SECOND,
    case,
    changed,
    findings_of,
    found,
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

from assay.model.measurement import Connections, Measurement, Outcome, RequestAccounting
from assay.model.plan import Closed, LoadPlan, Open, Stage, StopAtCount
from assay.model.trial import AS_GIVEN, HostSeen
from assay.report.model.values import effect_words
from assay.verdict import judge, judge_load

OPEN = plan(
    load=Open(stages=(Stage(duration_ns=10 * SECOND, from_per_s=1e4, to_per_s=1e4),), max_connections=1000)
)
REFUSED = Outcome(origin="network", kind="connect_refused", count=157)


def test_a_clean_load_has_no_finding() -> None:
    assert found(measurement()) == {}
    assert noted_else(judge_load(plan(), measurement(), cores=2, same_machine=True)) == ()


class TestGeneratorSaturated:
    def test_a_busy_thread_in_front_of_a_server_with_time_to_spare_gives_a_bound(self) -> None:
        idle = server(cpu_share=0.92)
        finding = found(measurement(busy=0.93), server=idle)["G1"]
        assert (finding.severity, finding.on_throughput, finding.on_times) == ("error", "at least", "at most")
        assert finding.at_most_times == pytest.approx(1 + (0.92**-3 - 1) * 0.13 / 0.15)
        assert "93 %" in finding.evidence and "20 %" in finding.evidence
        assert finding.figures["idle_share"] == pytest.approx(0.07)
        assert "G1" not in found(measurement(busy=0.79))

    def test_a_server_whose_core_is_full_set_the_pace_whatever_its_client_did(self) -> None:
        finding = found(measurement(busy=0.99), server=server(cpu_share=0.98))["G1"]
        assert (finding.severity, finding.on_throughput, finding.on_times) == ("error", "none", "at most")
        assert "used 98 % of its cores" in finding.evidence
        assert found(measurement(busy=0.99), server=server(cpu_share=0.96))["G1"].on_throughput == "at least"

    def test_one_odd_reading_of_the_server_s_cores_decides_nothing(self) -> None:
        shares = (0.99, 0.99, 0.93, 0.99, 0.99, 0.99)
        trials = [
            trial("a", b, measurement(busy=0.9), server=server(cpu_share=share))
            for b, share in enumerate(shares)
        ]
        assert findings_of(run([case("a")], trials))["G1"].on_throughput == "none"

    def test_a_server_that_nobody_looked_at_has_no_upper_bound(self) -> None:
        finding = found(measurement(busy=0.93), server=None)["G1"]
        assert (finding.on_throughput, finding.at_most_times) == ("at least", None)
        assert "nothing bounds its throughput from above" in finding.evidence

    def test_a_core_that_others_fill_counts_as_busy(self) -> None:
        host = HostSeen(load_average_1m=3, steal_share=0, client_cpus_idle_share=0.05)
        assert "others had 45 %" in found(measurement(), host=host)["H2"].evidence

    def test_the_idle_share_of_a_core_shared_with_the_server_says_nothing_about_the_generator(self) -> None:
        host = HostSeen(load_average_1m=3, steal_share=0, client_cpus_idle_share=0.0)
        assert "G1" not in found(measurement(), plan(cpus=(1,)), host=host)

    def test_a_pacer_that_spins_is_busy_by_design(self) -> None:
        stages = (Stage(duration_ns=10 * SECOND, from_per_s=1e4, to_per_s=1e4),)
        spinning = plan(load=Open(stages=stages, max_connections=64))
        assert "G1" not in found(measurement(busy=1.0), spinning)
        sleeping = plan(load=Open(stages=stages, max_connections=64, pacer="sleep"))
        assert "G1" in found(measurement(busy=1.0), sleeping)

    def test_the_null_server_is_meant_to_saturate_it(self) -> None:
        trials = [trial("null", block, measurement(busy=1.0)) for block in range(6)]
        assert noted_else(judge(run([case("null", role="ceiling")], trials), 0).findings) == ()


class TestConnections:
    def connections(self, asked: int, opened: int, answered: int) -> Connections:
        return Connections(asked=asked, opened=opened, answered=answered, reopened=0, peak=opened)

    def test_franklin_s_missing_connections(self) -> None:
        made = changed(connections=self.connections(64, 40, 40), outcomes=(REFUSED,))
        finding = found(made)["G8"]
        assert (finding.severity, finding.on_throughput) == ("error", "void")
        assert "40 of the 64 connections" in finding.evidence and "connect refused: 157" in finding.evidence

    def test_a_connection_that_was_never_answered(self) -> None:
        finding = found(changed(connections=self.connections(64, 64, 63)))["G8"]
        assert finding.on_throughput == "at least"
        assert "1 connection of 64 never got an answer" in finding.evidence

    @pytest.mark.parametrize("load", [plan(), OPEN])
    def test_a_server_that_is_not_there_is_no_matter_of_limits(self, load: LoadPlan) -> None:
        made = changed(connections=self.connections(64, 0, 0), outcomes=(REFUSED,))
        finding = found(made, load)["G8"]
        said = "nothing was reached: no connection was ever opened (connect refused: 157)"
        assert finding.evidence.startswith(said)
        assert "start the server" in finding.remedy

    def test_an_open_loop_opens_only_what_it_needs(self) -> None:
        assert "G8" not in found(changed(connections=self.connections(1000, 12, 12)), OPEN)

    def test_nothing_else_is_said_of_a_server_that_is_not_there(self) -> None:
        made = msgspec.structs.replace(
            measurement(per_s=1, seconds=1, busy=1.2, failed=64),
            completed=0,
            connections=self.connections(64, 0, 0),
            outcomes=(REFUSED,),
        )
        assert not set(found(made)) & {"G1", "S7", "W2"}

    def test_a_failed_handshake_is_an_answer(self) -> None:
        why = msgspec.structs.replace(REFUSED, kind="tls_error", example="certificate: UnknownIssuer")
        made = msgspec.structs.replace(
            measurement(per_s=1, seconds=1, busy=1.2, failed=64),
            completed=0,
            connections=self.connections(64, 0, 0),
            outcomes=(msgspec.structs.replace(why, count=64),),
        )
        assert "G8" not in found(made)
        assert "--cacert PATH" in found(made)["W2"].remedy

    @pytest.mark.parametrize(
        ("kind", "said"),
        [("no_descriptors", "ulimit -n"), ("connect_refused", "takes no more"), ("no_ports", "port_range")],
    )
    def test_what_to_do_fits_how_they_failed(self, kind: str, said: str) -> None:
        why = msgspec.structs.replace(REFUSED, kind=kind)
        remedy = found(changed(connections=self.connections(64, 40, 40), outcomes=(why,)))["G8"].remedy
        assert said in remedy
        assert ("ulimit" in remedy) == (kind == "no_descriptors")

    def closing(self, answered: int = 64, http: str = "1.1") -> Measurement:
        made = changed(http_versions={http: measurement().completed})
        seen = Connections(asked=64, opened=answered, answered=answered, reopened=made.completed, peak=64)
        return msgspec.structs.replace(made, connections=seen)

    def test_a_server_that_closes_connections_is_followed_where_nobody_asked_otherwise(self) -> None:
        for http, flags in (("1.0", "--http1.0 --no-keep-alive"), ("1.1", "--no-keep-alive")):
            trials = [trial("a", block, self.closing(http=http)) for block in range(6)]
            alone = noted_else(judge_load(plan(), self.closing(http=http), cores=2, same_machine=True))
            candidates = noted_else(judge(run([case("a", load=AS_GIVEN)], trials), 0).findings)
            for findings in (alone, candidates):
                [finding] = [one for one in findings if one.code == "W5"]
                assert (finding.severity, finding.on_throughput, finding.on_times) == (
                    "warning", "none", "none",
                )  # fmt: skip
                assert flags in finding.remedy
            asked = findings_of(run([case("a")], trials))["W5"]  # a study asks for HTTP/1.1, kept alive
            assert (asked.severity, asked.on_throughput) == ("error", "void")

    def test_what_waits_to_be_accepted_makes_bounds(self) -> None:
        finding = found(self.closing(answered=15))["G8"]
        assert (finding.severity, finding.on_throughput, finding.on_times) == (
            "warning", "at least", "at least",
        )  # fmt: skip
        few = msgspec.structs.replace(measurement(connections=20), connections=self.closing().connections)
        waiting = found(few)["M1"]
        assert (waiting.severity, waiting.on_times) == ("warning", "at least")

    def test_a_slow_server_is_not_called_too_fast(self) -> None:
        slow, fast = measurement(per_s=200, busy=0.95), measurement(per_s=100_000, busy=0.95)
        assert "too fast" in found(fast)["G1"].remedy
        assert "too fast" not in found(slow)["G1"].remedy


class TestLittlesLaw:
    def test_petclinic_s_impossible_mean(self) -> None:
        made = measurement(28_392, 10, 1000, service_time=uniform_histogram(283_920, 69.5e6))
        finding = found(made, plan(1000))["M1"]
        assert (finding.severity, finding.on_throughput, finding.on_times) == ("error", "none", "void")
        assert finding.figures["in_flight"] == pytest.approx(1973, rel=0.01)

    @pytest.mark.parametrize(("factor", "hit"), [(0.96, False), (1.04, False), (0.93, True), (1.07, True)])
    def test_tolerance_of_five_percent(self, factor: float, hit: bool) -> None:
        times = uniform_histogram(100_000, factor * 6.4e6)
        assert ("M1" in found(changed(service_time=times))) == hit

    def test_connections_that_the_generator_kept_waiting_are_told_from_failures(self) -> None:
        times = uniform_histogram(100_000, 0.9 * 6.4e6)
        finding = found(changed(service_time=times))["M1"]
        assert "what they waited for is not known" in finding.evidence
        assert finding.severity == "warning" and finding.on_times == "none"
        late = found(changed(service_time=times, workers=measurement(busy=0.99).workers))["M1"]
        assert "the generator, which used 99 % of its core" in late.evidence and late.on_times == "at most"
        failing = found(measurement(failed=50, service_time=times))["M1"]
        assert "waiting" not in failing.evidence and "errors" in failing.remedy

    def test_two_connections_are_forgiven(self) -> None:
        times = uniform_histogram(100_000, 0.3e6)  # 3 in flight of 4
        assert "M1" not in found(measurement(10_000, 10, 4, service_time=times), plan(4))

    def test_think_time_is_part_of_the_cycle(self) -> None:
        thinking = plan(load=Closed(connections=64, think_time_ns=5_400_000))
        assert "M1" not in found(changed(service_time=uniform_histogram(100_000, 1e6)), thinking)

    @pytest.mark.parametrize(("connects", "handshakes"), [(5.4e6, None), (2.4e6, 3e6)])
    def test_connections_that_are_being_opened_are_not_idle(
        self, connects: float, handshakes: float | None
    ) -> None:
        made = changed(
            service_time=uniform_histogram(100_000, 1e6),
            connect_time=uniform_histogram(100_000, connects),
            handshake_time=None if handshakes is None else uniform_histogram(100_000, handshakes),
        )
        assert "M1" not in found(made)

    def test_slow_answers_in_a_short_run_are_an_edge_not_a_contradiction(self) -> None:
        # 0.7 s answers in 2 s: each connection finishes two, and the third is cut off.
        made = measurement(64, 2, 64, service_time=uniform_histogram(128, 0.7e9))
        assert "M1" not in found(made, plan(64, 2))

    @pytest.mark.parametrize(
        ("count", "slowest_ns", "hit"), [(10, 0, False), (640, 0, True), (640, 9e6, False)]
    )
    def test_connections_rest_at_the_end_of_a_counted_load(
        self, count: int, slowest_ns: float, hit: bool
    ) -> None:
        # 640 answers in 10 ms: 64 connections, of which 32 are under way by the mean.
        times = uniform_histogram(count, 0.5 * 64 * 10e6 / count)
        times = msgspec.structs.replace(times, max_ns=int(slowest_ns or times.max_ns))
        made = measurement(count * 100, 0.01, 64, service_time=times)
        assert ("M1" in found(made, plan(64, stop=StopAtCount(count=count)))) == hit


class TestCounts:
    def test_accounting_that_do_not_balance(self) -> None:
        finding = found(
            changed(requests=RequestAccounting(started=100_100, completed=100_000, failed=0, in_flight=64))
        )["M3"]
        assert finding.figures["unaccounted"] == 36 and "100,100 started" in finding.evidence

    def test_threads_or_windows_that_count_otherwise(self) -> None:
        workers = (msgspec.structs.replace(measurement().workers[0], completed=98_000),)
        assert "threads' own counts" in found(changed(workers=workers))["M3"].evidence
        windows = (msgspec.structs.replace(measurement().windows[0], completed=102_000),)
        assert "windows" in found(changed(windows=windows))["M3"].evidence
        near = (msgspec.structs.replace(measurement().windows[0], completed=100_500),)
        assert "M3" not in found(changed(windows=near))

    def test_times_that_were_not_recorded(self) -> None:
        assert (
            "3 times recorded for 100,000 answers"
            in found(changed(service_time=histogram([6.4e6] * 3)))["M3"].evidence
        )
        with_failed = measurement(failed=90, service_time=uniform_histogram(100_090, 6.4e6))
        assert "M3" not in found(with_failed)


class TestSamples:
    def test_five_trials_are_few_and_said(self) -> None:
        judged = judge(steady_run({"a": 10_000, "b": 20_000}, blocks=5), 0)
        (finding,) = [one for one in noted_else(judged.findings) if one.code != "S6"]
        assert (finding.code, finding.severity, finding.subject.case) == ("S5", "warning", None)
        assert "5 trials of each case" in finding.evidence
        assert [row.rank for row in judged.ranking] == [1, 2] and finding.because == ""

    def test_two_trials_are_no_order_and_the_finding_says_what_it_does(self) -> None:
        judged = judge(steady_run({"a": 10_000, "b": 20_000}, blocks=2), 0)
        (finding,) = [one for one in judged.findings if one.severity != "note"]
        assert (finding.code, finding.because) == ("S5", "no place")
        assert [row.rank for row in judged.ranking] == [None, None]
        assert effect_words([finding]) == "no place"

    def test_only_the_case_that_lacks_trials_is_named(self) -> None:
        made = steady_run({"a": 10_000, "b": 20_000})
        made = msgspec.structs.replace(made, trials=made.trials[1:])
        (finding,) = [one for one in noted_else(judge(made, 0).findings) if one.code != "S6"]
        assert (finding.code, finding.subject.case) == ("S5", "a")

    def test_a_short_window_of_every_case_is_said_once(self) -> None:
        trials = [trial(name, b, measurement(seconds=4)) for name in ("a", "b") for b in range(6)]
        (finding,) = noted_else(judge(run([case("a"), case("b")], trials), 0).findings)
        assert (finding.code, finding.severity, finding.subject.case) == ("S7", "warning", None)
        assert "4 s" in finding.evidence and "10 s" in finding.evidence

    def test_a_timer_that_rings_a_little_early_is_no_short_window(self) -> None:
        assert "S7" not in found(changed(measured_ns=10 * SECOND - 2_000_000))


class TestCores:
    def test_client_and_server_on_one_core(self) -> None:
        finding = found(measurement(), plan(cpus=(1,)))["H1"]
        assert finding.severity == "warning" and "on the same cores (CPU 1)" in finding.evidence

    def test_hardware_threads_of_one_core(self) -> None:
        trials = [trial("a", block) for block in range(6)]
        made = run([case("a")], trials)
        environment = msgspec.structs.replace(made.header.environment, smt_siblings=((0, 1),))
        made = msgspec.structs.replace(
            made, header=msgspec.structs.replace(made.header, environment=environment)
        )
        (finding,) = noted_else(judge(made, 0).findings)
        assert finding.code == "H1" and "same core" in finding.evidence

    def test_more_threads_than_cores(self) -> None:
        crowded = found(measurement(), plan(threads=2), server=server(cpu_share=0.8))["H1"]
        assert "2 client threads on 1 core" in crowded.evidence
        assert crowded.at_most_times == pytest.approx(0.8**-3)
        shared = found(measurement(), plan(cpus=(1,)), server=server(cpu_share=0.8))["H1"]
        assert shared.at_most_times is None  # its share of the core is not what it could have of it

    def test_what_all_cases_share_is_bounded_by_the_loosest_of_them(self) -> None:
        trials = [
            trial(name, b, plan=plan(threads=2), server=server(cpu_share=share))
            for name, share in (("a", 0.8), ("b", 0.95))
            for b in range(6)
        ]
        [one] = [
            one
            for one in noted_else(judge(run([case("a"), case("b")], trials), 0).findings)
            if one.code == "H1"
        ]
        assert one.subject.case is None and one.at_most_times == pytest.approx(0.8**-3)

    @pytest.mark.parametrize(
        ("threads", "here", "hit"), [(2, True, True), (1, True, False), (2, False, False)]
    )
    def test_an_unpinned_load_that_leaves_a_local_server_no_core(
        self, threads: int, here: bool, hit: bool
    ) -> None:
        findings = noted_else(
            judge_load(plan(cpus=(), threads=threads), measurement(), cores=2, same_machine=here)
        )
        assert [finding.code for finding in findings] == (["H1"] if hit else [])


def test_findings_of_one_rule_on_many_trials_become_one_with_the_worst_and_the_count() -> None:
    rates = [measurement(busy=busy) for busy in (0.3, 0.9, 0.3, 0.97, 0.3, 0.3)]
    trials = [trial("a", block, made) for block, made in enumerate(rates)]
    (finding,) = noted_else(judge(run([case("a")], trials), 0).findings)
    assert finding.trials == 2 and "2 of 6 trials" in finding.evidence and "97 %" in finding.evidence


def test_a_study_may_move_a_threshold_and_it_shows() -> None:
    study = {"rules": {"G1": {"thresholds": {"idle": 0.7}, "reason": "a shared machine"}}}
    made = with_trials(steady_run({"a": 10_000}, study=study), {})
    (finding,) = noted_else(judge(made, 0).findings)
    assert finding.code == "G1" and "a shared machine" in finding.evidence
