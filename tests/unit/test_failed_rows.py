"""Which rows a report names as not measured, and by which names cases go outside their load's section."""

from __future__ import annotations

from made_runs import case, run, trial

from assay.model.trial import Failure
from assay.report.model.rows import failed_rows, name_of_case, sections


def named(failure: Failure) -> list[str]:
    """The rows named where one server fails so at both of its loads, beside another that does not."""
    cases = [case(f"{name}@{load}", label=name, load=load) for load in ("c1", "c2") for name in ("a", "b")]
    trials = [
        trial(one.id, block, failure if one.label == "b" else None) for one in cases for block in range(3)
    ]
    return [row.failed_name for row in failed_rows(sections(run(cases, trials, 3)))]


def test_what_a_server_lacks_is_named_once_for_all_its_loads() -> None:
    assert named(Failure(stage="requires", reason="b not found: set B")) == ["b"]


def test_what_fails_under_a_load_is_named_for_each() -> None:
    assert named(Failure(stage="load", reason="it died")) == ["b@c1", "b@c2"]


def test_a_case_is_named_with_its_load_where_the_study_has_several() -> None:
    made = run([case("a@c1", label="A"), case("a@c2", label="A"), case("b", label="B")], [])
    assert [name_of_case(made, one) for one in ("a@c1", "a@c2", "b", "gone")] == ["A@c1", "A@c2", "B", "gone"]
