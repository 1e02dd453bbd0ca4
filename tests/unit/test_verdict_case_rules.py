"""The rules on fairness, trials, design and host: what each catches and leaves alone."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from judged import QUIET, changed, findings_of, found, load_seen, noted_else, windowed
from made_runs import (
    SECOND,
    case,
    measurement,
    plan,
    run,
    server,
    steady_run,
    trial,
    with_trials,
)
from msgspec.structs import replace
from sample_run import redesigned

from assay.model.design import RuleSetting
from assay.model.finding import Finding
from assay.model.measurement import Measurement, Outcome, Stray
from assay.model.plan import Request
from assay.model.run import Run
from assay.model.trial import ContractSeen, ServiceSeen, Trial, WarmUpSeen
from assay.verdict import judge
from assay.verdict.load import Machine


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

        assert repeated(12_000)["W4"].severity == "warning"
        assert "W4" not in repeated(10_500)

    @pytest.mark.parametrize(
        ("stray", "severity"),
        [
            (Stray(), None),
            (Stray(bytes=900, connections=900, example="\\r"), "note"),
            (Stray(bytes=9_000, connections=1_200, example=" and more"), "error"),
            (Stray(bytes=100, connections=1, example="HTTP/1.1 200 OK"), "error"),
            (Stray(bytes=100, connections=1, example="HTTP/1.1 408 Request Timeout"), "note"),
        ],
    )
    def test_bytes_that_belong_to_no_answer(self, stray: Stray, severity: str | None) -> None:
        finding = found(changed(stray=stray)).get("W5")
        assert (finding and finding.severity) == severity
        if finding:
            assert f"{stray.bytes:,} bytes came on {stray.connections:,} connection" in finding.evidence
            assert stray.example in finding.evidence

    def test_an_encoding_that_nobody_asked_for(self) -> None:
        assert found(measurement(encodings={"br": 100_000}))["W5"].severity == "error"
        asking = plan(requests=(Request(headers=(("Accept-Encoding", "gzip;q=1, deflate"),)),))
        assert "W5" not in found(measurement(encodings={"gzip": 100_000}), asking)
        assert "gzip" in found(measurement(encodings={"br": 100_000}), asking)["W5"].evidence

    def test_an_older_http_than_was_asked_for(self) -> None:
        old = changed(http_versions={"1.1": 99_999, "1.0": 1})
        assert "HTTP/1.0" in found(old)["W5"].evidence
        assert "W5" not in found(old, plan(http_version="1.0"))
        assert "W5" not in found(changed(http_versions={"1.1": 100_000}))

    @pytest.mark.parametrize(("reopened", "severity"), [(1_000, None), (15_000, "error"), (90_000, "error")])
    def test_connections_that_were_not_kept(self, reopened: int, severity: str | None) -> None:
        connections = msgspec.structs.replace(measurement().connections, reopened=reopened)
        finding = found(changed(connections=connections)).get("W5")
        assert (finding and finding.severity) == severity
        assert "W5" not in found(changed(connections=connections), plan(keep_alive=False))

    def test_connections_that_failures_cost_are_w2_s(self) -> None:
        connections = msgspec.structs.replace(measurement().connections, reopened=5_000)
        failing = msgspec.structs.replace(measurement(failed=5_000), connections=connections)
        assert "W5" not in found(failing)

    def test_connections_that_a_cold_server_s_failures_cost_in_the_warm_up(self) -> None:
        warm = measurement(1_900)
        connections = msgspec.structs.replace(warm.connections, reopened=300)
        requests = msgspec.structs.replace(warm.requests, started=warm.requests.started + 300, failed=300)
        assert "W5" not in found(msgspec.structs.replace(warm, connections=connections, requests=requests))
        assert "W5" in found(msgspec.structs.replace(warm, connections=connections))

    def pair(self, ours: dict[str, object], theirs: dict[str, object]) -> Run:
        made = steady_run({"a": 10_000, "b": 20_000})
        cases = (case("a", facts=ours), case("b", facts=theirs))
        return msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, cases=cases))

    def test_unequal_pools_keep_the_two_out_of_one_ranking(self) -> None:
        judged = judge(self.pair({"pool": 3}, {"pool": 50}), 0)
        (finding,) = noted_else(judged.findings)
        assert finding.code == "W6" and "pool 3 against 50" in finding.evidence
        assert [row.rank for row in judged.ranking] == [None, None]
        assert all(
            row.throughput and not row.invalid for row in judged.ranking
        )  # only the comparison is void
        assert noted_else(judge(self.pair({"pool": 3}, {"workers": 4}), 0).findings) == ()

    def test_a_study_may_say_that_they_differ_on_purpose(self) -> None:
        made = self.pair({"pool": 3}, {"pool": 50})
        allowed = RuleSetting(thresholds={"allowed": 1}, reason="pools are what is compared")
        made = redesigned(made, rules={"W6": allowed})
        assert noted_else(judge(made, 0).findings) == ()

    def test_unequal_cores_are_seen_without_being_told(self) -> None:
        made = steady_run({"a": 10_000, "b": 20_000})
        wider = with_trials(made, {"b": {"server": server(cpus=(1, 2))}})
        assert "cores 1 against 2" in findings_of(wider)["W6"].evidence

    @pytest.mark.parametrize("facts", [{"jit": "c1"}, {"debug": True}, {"request_log": True}])
    def test_a_handicap(self, facts: dict[str, str | bool]) -> None:
        assert found(measurement(), None, case("a", facts=facts))["W7"].severity == "warning"
        assert "W7" not in found(measurement(), None, case("a", facts={"jit": "full", "debug": False}))


class TestYardsticks:
    def run(self, role: str, reference_per_trial: int) -> Run:
        made = steady_run({"a": 10_000, "b": reference_per_trial, "c": 9_000})
        cases = (case("a"), case("b", role=role), case("c"))
        return msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, cases=cases))

    def test_a_candidate_that_overtakes_the_reference_is_told(self) -> None:
        finding = findings_of(self.run("reference", 8_000))["D4"]
        assert (finding.severity, finding.subject.case, finding.on_throughput) == ("note", "b", "none")
        assert finding.evidence == "a serves 25 % more than this reference, and 1 more do"

    @pytest.mark.parametrize("reference", [10_000, 20_000])
    def test_a_reference_that_is_not_overtaken(self, reference: int) -> None:
        assert "D4" not in findings_of(self.run("reference", reference))

    def test_a_ceiling_that_is_overtaken(self) -> None:
        assert "than this ceiling" in findings_of(self.run("ceiling", 5_000))["D4"].evidence

    def test_answers_that_are_wrong_overtake_nothing(self) -> None:
        wrong = ContractSeen(before=5, before_wrong=1, during=1000, during_wrong=0, after=5, after_wrong=0)
        made = self.run("reference", 8_000)
        finding = findings_of(with_trials(made, {"a": {"contract": wrong}}))["D4"]
        assert finding.evidence in {f"c serves {more} % more than this reference" for more in (12, 13)}
        both = {name: {"contract": wrong} for name in "ac"}
        assert "D4" not in findings_of(with_trials(made, both))
        assert "D4" not in findings_of(with_trials(made, {"b": {"contract": wrong}}))

    def test_the_luckiest_of_many_candidates_overtakes_nothing(self) -> None:
        """One that is 2.6 % faster with p = 0.03: alone that is something, the best of eight is not."""
        ahead = [1.015, 1.035, 1.01, 1.035, 1.045, 1.015]

        def told(others: int) -> dict[str, Finding]:
            slower = {f"s{n}": 5_000.0 for n in range(others)}
            made = steady_run({"b": 10_000, "a": 10_000, **slower})
            trials = [
                msgspec.structs.replace(one, measurement=measurement(10_000 * ahead[one.block]))
                if one.case == "a"
                else msgspec.structs.replace(one, measurement=measurement(10_000))
                if one.case == "b"
                else one
                for one in made.trials
            ]
            return findings_of(run([case("b", role="reference"), case("a"), *map(case, slower)], trials))

        assert "D4" in told(0) and "D4" not in told(7)

    def test_a_slower_candidate_overtakes_no_other_candidate(self) -> None:
        assert "D4" not in findings_of(self.run("candidate", 8_000))


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
        assert finding.severity == "warning" and "level still changed" in finding.evidence
        assert (finding.on_throughput, finding.because) == ("at least", "it was still getting faster")
        tiring = found(self.steps(1000, 1000, 700, 700))["S2"]
        assert (tiring.on_throughput, tiring.because) == ("at most", "it was still getting slower")

    def test_what_single_trials_do_at_other_ages_is_a_note(self) -> None:
        level, late = self.steps(1000, 1000, 1000, 1000), self.steps(1000, 1000, 1300, 1300)
        trials = [trial("a", block, late if block == 3 else level) for block in range(6)]
        finding = findings_of(run([case("a")], trials))["S2"]
        assert (finding.severity, finding.on_throughput) == ("note", "none")
        assert "1 of 6 trials swings by itself" in finding.evidence
        two = findings_of(run([case("a")], [trial("a", block, late) for block in range(2)], 2))["S2"]
        assert two.severity == "note" and "3 trials would tell the server from the machine" in two.evidence

    def test_warm_up_within_the_measured_time_counts_by_what_it_does_to_the_mean(self) -> None:
        assert found(self.steps(500, 1000, 1000, 1000))["S2"].severity == "warning"
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

    def test_a_warm_up_as_long_as_earlier_ones_showed_is_no_bound_that_was_reached(self) -> None:
        level = self.steps(1000, 1000, 1000, 1000)
        watched = WarmUpSeen(steady=True, bound_ns=5 * SECOND)
        shown = WarmUpSeen(steady=False, bound_ns=SECOND, reason="its halves differ by 9.0%")

        def told(first: WarmUpSeen) -> Finding | None:
            ups = [first, first, *[shown] * 4]
            trials = [trial("a", block, level, warm_up=one) for block, one in enumerate(ups)]
            return findings_of(run([case("a")], trials)).get("S2")

        assert told(watched) is None
        reached = told(WarmUpSeen(steady=False, bound_ns=5 * SECOND))
        assert reached is not None and "5.00 s in 2 of 2 trials" in reached.evidence

    @pytest.mark.parametrize(("deviation", "severity"), [(0.03, None), (0.07, "note"), (0.2, "warning")])
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
        assert finding.severity == "note" and 40 <= finding.figures["trials_needed"] <= 50
        assert "S6" not in findings_of(steady_run({"a": 10_000}, blocks=10))


class TestDesign:
    def control(self, factor: float) -> Run:
        made = steady_run({"a": 10_000, "b": 20_000, "again": 10_000 * factor})
        cases = (case("a"), case("b"), case("again", role="control", control_of="a"))
        return msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, cases=cases))

    def test_a_server_that_differs_from_itself_widens_every_comparison(self) -> None:
        judged = judge(self.control(1.05), 0)
        finding = next(f for f in judged.findings if f.code == "D1")
        assert finding.severity == "warning" and finding.subject.case is None
        assert [row.rank for row in judged.ranking[:2]] == [1, 2]  # twice as fast is beyond any such bias
        assert judged.minimum_effect == finding.figures["wider"] > 0.05
        assert "D1" not in findings_of(self.control(1.0))

    def test_a_sure_difference_is_taken_off_however_small_it_is(self) -> None:
        made = self.control(1.0)
        trials = tuple(
            msgspec.structs.replace(t, measurement=measurement(10_040 + t.block))
            if t.case == "again"
            else msgspec.structs.replace(t, measurement=measurement(10_000 + t.block))
            for t in made.trials
        )
        judged = judge(msgspec.structs.replace(made, trials=trials), 0)
        finding = next(one for one in judged.findings if one.code == "D1")
        assert finding.figures["wider"] == pytest.approx(0.004, abs=0.0005)
        assert judged.minimum_effect == 0.01

    def order(self, *places: tuple[str, int]) -> dict[str, Finding]:
        trials: list[Trial] = [
            trial(name, block, started_at_unix_ns=place, number=place)
            for place, (name, block) in enumerate(places)
        ]
        return findings_of(run([case("a"), case("b")], trials, blocks=2))

    def test_cases_one_after_the_other(self) -> None:
        assert self.order(("a", 0), ("a", 1), ("b", 0), ("b", 1))["D2"].severity == "warning"
        assert "D2" not in self.order(("a", 0), ("b", 0), ("b", 1), ("a", 1))


class TestHost:
    @pytest.mark.parametrize(
        "host",
        [
            {"steal_share": 0.03},
            {"throttled_ns": SECOND},
            {"busy_cores": 2.5},
        ],
    )
    def test_a_preempted_machine(self, host: dict[str, float]) -> None:
        finding = found(measurement(), host=msgspec.structs.replace(QUIET, **host))["H2"]
        assert finding.severity == "warning"

    def test_our_own_load_is_no_disturbance(self) -> None:
        own = msgspec.structs.replace(QUIET, busy_cores=1.5)  # client 0.4, server 0.99, the kernel the rest
        assert "H2" not in found(measurement(), host=own)

    @pytest.mark.parametrize("own_s", [None, 7.5])
    def test_what_the_harness_uses_beside_its_threads_is_no_disturbance(self, own_s: float | None) -> None:
        own_ns = None if own_s is None else int(own_s * SECOND)
        host = msgspec.structs.replace(QUIET, busy_cores=1.9, own_cpu_ns=own_ns)  # its threads: 0.4
        assert ("H2" in found(measurement(), host=host)) == (own_s is None)

    def test_what_ticks_miss_on_one_core_hides_no_program_on_another(self) -> None:
        # As read on a kernel that counts by ticks: the server used 0.54 of its core, the core says 0.26.
        seen = server(cpu_ns=5_400_000_000, cpu_share=0.54)
        host = msgspec.structs.replace(
            QUIET, client_cpus_idle_share=0.0, server_cpus_idle_share=0.74, busy_cores=1.26
        )
        finding = found(measurement(busy=0.45), server=seen, host=host)["H2"]
        assert finding.severity == "warning" and "0.6 cores" in finding.evidence

    @pytest.mark.parametrize("services_s", [0.0, 4.0, None])
    def test_services_are_no_disturbance(self, services_s: float | None) -> None:
        """Nor is what they used where nobody knows how much that was."""
        seen = server(cpu_ns=5_000_000_000, cpu_share=0.5)
        host = msgspec.structs.replace(QUIET, server_cpus_idle_share=0.08, busy_cores=1.4)
        database = ServiceSeen(
            name="postgresql",
            version="15",
            cpus=(1,),
            memory_bytes=1,
            pages_shared_out=True,
        ).using(None if services_s is None else int(services_s * SECOND), 10 * SECOND)
        judged = found(measurement(), server=seen, services=(database,), host=host)
        assert ("H2" in judged) == (services_s == 0)

    def test_a_server_is_as_busy_as_its_process_where_its_cores_read_less(self) -> None:
        host = msgspec.structs.replace(QUIET, server_cpus_idle_share=0.8)
        machine = Machine(client_cpus=(0,), server_cpus=(1,), host=host)
        load = replace(load_seen(), machine=machine, server=server(cpu_share=0.9))
        assert load.server_busy_share == 0.9

    def test_a_clock_that_slowed_down_is_noted(self) -> None:
        trials = [
            trial("a", b, host=msgspec.structs.replace(QUIET, mhz=3000.0 if b else 2400.0)) for b in range(6)
        ]
        finding = findings_of(run([case("a")], trials))["H2"]
        assert finding.severity == "note" and "2,400 MHz" in finding.evidence

    def test_a_limit_that_was_hit_withholds(self) -> None:
        full = Outcome(origin="generator", kind="no_descriptors", count=20)
        assert found(measurement(failed=20, outcomes=(full,)))["H3"].severity == "error"
        full = msgspec.structs.replace(full, count=1)
        said = found(measurement(failed=1, outcomes=(full,)))["H3"].evidence
        assert said.startswith("1 request found no file descriptor free")

    def test_settings_are_noted_once_for_the_run(self) -> None:
        made = steady_run({"a": 10_000, "b": 20_000})
        environment = msgspec.structs.replace(
            made.header.environment, governor="powersave", turbo=True, descriptor_limit=64
        )
        header = msgspec.structs.replace(made.header, environment=environment)
        judged = judge(msgspec.structs.replace(made, header=header), 0)
        (finding,) = noted_else(judged.findings)
        assert (finding.code, finding.severity, finding.subject.case) == ("H3", "note", None)
        assert judged.clean  # notes do not take it away
        for word in ("powersave", "turbo", "descriptors"):
            assert word in finding.evidence


class TestTheRecord:
    def test_damage_is_told_with_its_first_line(self) -> None:
        lost = ("line 3 is damaged (its checksum does not fit) and was left out", "line 7 is damaged")
        damaged = msgspec.structs.replace(steady_run({"a": 10_000}), damage=lost)
        finding = findings_of(damaged)["D5"]
        assert (finding.severity, finding.subject.case) == ("warning", None)
        assert finding.evidence.startswith("2 lines of the record cannot be used: line 3 is damaged")
        assert not judge(damaged).clean
        assert "D5" not in findings_of(steady_run({"a": 10_000}))
