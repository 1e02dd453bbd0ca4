"""The table of a run's servers: which version answered in which row."""

from __future__ import annotations

from made_runs import case, run, server, trial

from assay.model.trial import Failure
from assay.report.model.tables import configuration


def test_each_variant_has_the_version_that_answered_and_one_that_never_ran_has_none() -> None:
    cases = [case(f"j+{name}", server="j", variant=name, label=name) for name in ("old", "new", "native")]
    trials = [
        trial("j+old", 0, server=server(version="Java 17")),
        trial("j+new", 0, server=server(version="Java 25")),
        trial("j+native", 0, Failure(stage="requires", reason="no compiler"), server=None),
    ]
    assert configuration(run(cases, trials, 1)).texts("version") == ("Java 17", "Java 25", "–")
