"""Rule W9: requests that were sent again are told in one line, and stand against nothing."""

from __future__ import annotations

import msgspec
from judged import noted_else
from made_runs import found, measurement, plan

from assay.model.measurement import Measurement
from assay.model.plan import LoadPlan
from assay.verdict import judge_load


def test_requests_sent_again_are_a_note_and_no_failures() -> None:
    resent = msgspec.structs.replace(measurement(), resent=12)
    finding = found(resent)["W9"]
    assert (finding.severity, finding.on_throughput, finding.on_times) == ("note", "none", "none")
    assert finding.evidence.startswith("12 requests (")
    assert "sent again" in finding.evidence
    assert finding.figures["resent"] == 12
    [alone] = noted_else(judge_load(plan(), resent, cores=2, same_machine=True))
    assert alone.code == "W9"


def test_without_any_there_is_no_line() -> None:
    assert "W9" not in found(measurement())


def test_a_record_that_does_not_know_of_them_has_none() -> None:
    stored = msgspec.to_builtins(measurement())
    del stored["resent"]
    assert msgspec.convert(stored, Measurement).resent == 0
    old_plan = msgspec.to_builtins(plan())
    del old_plan["resend"]
    assert not msgspec.convert(old_plan, LoadPlan).resend
