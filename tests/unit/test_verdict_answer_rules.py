"""The rules on what servers answer: wrong answers, failures, and answers that are not the same."""

from __future__ import annotations

import pytest
from made_runs import SECOND, case, changed, found, measurement, plan, run, trial
from msgspec.structs import replace

from assay.model.finding import Finding
from assay.model.measurement import Http2, Http3, Measurement, Outcome, RequestAccounting
from assay.model.plan import Open, Stage
from assay.model.trial import ContractSeen
from assay.verdict import judge

WRONG_BODY = Outcome(origin="plan", kind="unexpected_body", count=3, example="body was ''")
OPEN = plan(
    load=Open(stages=(Stage(duration_ns=10 * SECOND, from_per_s=1e4, to_per_s=1e4),), max_connections=1000)
)
FREE_2 = Http2(stream_waits=0, stream_wait_ns=0, window_stalls=0, window_stall_ns=0)
FREE_3 = Http3(
    handshakes=2,
    stream_limit_waits=0,
    stream_limit_ns=0,
    flow_stalls=0,
    flow_stall_ns=0,
    udp_sent=9,
    udp_received=9,
    lost_packets=0,
    goaway=0,
)
REFUSED = Outcome(origin="network", kind="connect_refused", count=157)


class TestWrongAnswers:
    @pytest.mark.parametrize("when", ["before", "after", "during"])
    def test_one_wrong_answer_withholds(self, when: str) -> None:
        clean = {"before": 5, "during": 1000, "after": 5}
        wrong = {f"{name}_wrong": int(name == when) for name in clean}
        finding = found(measurement(), contract=ContractSeen(**clean, **wrong, examples=("no quote",)))["W1"]
        assert (finding.severity, finding.on_throughput) == ("error", "void")
        assert when in finding.evidence and "no quote" in finding.evidence

    def test_the_engine_s_own_checks_count(self) -> None:
        assert "body was ''" in found(changed(outcomes=(WRONG_BODY,)))["W1"].evidence

    def test_an_answer_that_says_it_failed_is_an_error_not_a_lie(self) -> None:
        refused = Outcome(origin="plan", kind="unexpected_status", count=700, example="503")
        contract = ContractSeen(
            before=5, before_wrong=0, during=1000, during_wrong=700, after=5, after_wrong=0
        )
        findings = found(measurement(failed=700, outcomes=(refused,)), contract=contract)
        assert "W1" not in findings and findings["W2"].severity == "warning"

    def test_too_few_checked_answers_are_a_note(self) -> None:
        assert found(changed(checked=312))["W1"].severity == "note"
        everything = measurement(50, 10, 4, checked=500)
        assert "W1" not in found(everything, plan(4))


class TestErrors:
    def test_silence_for_all_of_the_measured_time_is_no_throughput_of_0(self) -> None:
        requests = RequestAccounting(started=10, completed=0, failed=0, in_flight=10)
        silent = changed(started=10, completed=0, failed=0, requests=requests)
        finding = found(silent, OPEN)["W2"]
        assert finding.severity == "error" and finding.on_throughput == "void"
        assert finding.evidence.startswith("no answer came within the measured 10 s, and 10 requests waited")

    @pytest.mark.parametrize(
        ("failed", "severity"), [(0, None), (90, None), (150, "warning"), (2000, "error")]
    )
    def test_share_of_failures(self, failed: int, severity: str | None) -> None:
        finding = found(measurement(failed=failed, outcomes=(REFUSED,))).get("W2")
        assert (finding and finding.severity) == severity
        if finding:
            assert "connect refused" in finding.evidence and finding.figures["failed"] == failed


class TestUnequalAnswers:
    def pair(self, a: Measurement, b: Measurement, **changes: object) -> list[Finding]:
        trials = [trial(name, block, made) for name, made in (("a", a), ("b", b)) for block in range(6)]
        judged = judge(run([case("a"), case("b", **changes)], trials), 0)
        return [finding for finding in judged.findings if finding.code == "W3"]

    def test_petclinic_s_compressed_side(self) -> None:
        encoded = measurement(bytes_each=1525, encodings={"gzip": 100_000})
        (finding,) = self.pair(encoded, measurement(bytes_each=3041))
        assert (finding.on_comparison, finding.on_throughput) == ("void", "none")
        assert (finding.subject.case, finding.subject.other_case) == ("a", "b")
        assert "gzip" in finding.evidence and "no encoding" in finding.evidence

    def test_bytes_more_than_two_percent_apart(self) -> None:
        (finding,) = self.pair(self.saying(1000), self.saying(1030))
        assert (finding.severity, finding.on_comparison) == ("error", "one way")
        assert "1,000 B" in finding.evidence and "1,030 B" in finding.evidence
        assert self.pair(self.saying(1000), self.saying(1015)) == []

    def saying(self, body: int) -> Measurement:
        made = measurement(bytes_each=body + 100)
        return replace(made, body_bytes=body * made.completed)

    def test_more_headers_around_the_same_body_are_a_bound(self) -> None:
        (finding,) = self.pair(measurement(bytes_each=173), measurement(bytes_each=236))
        assert (finding.severity, finding.on_comparison) == ("warning", "wider")
        assert finding.figures["times"] == pytest.approx(236 / 173)
        assert finding.evidence == (
            "173 B an answer from a, 236 B from b: bodies are alike, headers differ, and may account for a "
            "factor of 1.36"
        )
        assert self.pair(measurement(bytes_each=236), measurement(bytes_each=240)) == []

    @pytest.mark.parametrize("carried", [{"http2": FREE_2}, {"http3": FREE_3}])
    def test_over_streams_the_content_counts_and_not_how_short_its_head_became(
        self, carried: dict[str, object]
    ) -> None:
        short = measurement(bytes_each=100)
        long = measurement(bytes_each=160)
        assert len(self.pair(short, long)) == 1  # headers
        assert self.pair(replace(short, **carried), replace(long, **carried)) == []
        more = replace(long, **carried, body_bytes=long.body_bytes * 2)
        (finding,) = self.pair(replace(short, **carried), more)
        assert "60 B" in finding.evidence and "120 B" in finding.evidence

    def test_identity_is_no_encoding(self) -> None:
        assert self.pair(measurement(encodings={"identity": 1}), measurement()) == []

    def test_only_candidates_of_one_workload_and_load_are_compared(self) -> None:
        small, large = measurement(bytes_each=100), measurement(bytes_each=900)
        assert self.pair(small, large, role="ceiling") == []
        assert self.pair(small, large, workload="other") == []
