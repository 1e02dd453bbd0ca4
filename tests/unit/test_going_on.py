"""The command that a run cut short is gone on with, as its end says it."""

from __future__ import annotations

import made_runs
import pytest
from msgspec.structs import replace

from assay.runner.bench import how_to_go_on


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ((), ""),
        (("--results", "kept here"), " --results 'kept here'"),
        (("--results=kept",), " --results kept"),
    ],
)
def test_it_names_the_folder_of_runs_that_was_given(words: tuple[str, ...], more: str) -> None:
    run = made_runs.run([made_runs.case("a")], [], 0)
    run = replace(run, header=replace(run.header, command=("assay", "run", "s", *words)))
    assert how_to_go_on(run).endswith(f" {run.header.run_id}{more}")
