"""Records of every format that was ever written are read, judged and shown by this version.

A file below `records/` is never changed: what a release wrote must stay readable for good.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import store
from assay.cli import main as cli

KEPT = sorted((Path(__file__).parent / "records").glob("*/run.jsonl"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.parent.name)
def test_a_kept_record_is_reported_in_every_form(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = store.read(path)
    assert read.notes == ()
    assert len(read.run.trials) == 5
    flags = [
        "--html",
        str(tmp_path / "r.html"),
        "--markdown",
        str(tmp_path / "r.md"),
        "--csv",
        str(tmp_path / "r.csv"),
    ]
    assert cli.main(["report", str(path)]) == 0
    assert "quotes/java-vertx is fastest, with 61.2 k/s" in capsys.readouterr().out
    assert cli.main(["report", str(path), *flags]) == 0
    assert len(list(tmp_path.iterdir())) == 3


def test_each_format_up_to_now_has_a_kept_record() -> None:
    from assay.values.run import FORMAT

    assert [path.parent.name for path in KEPT] == [f"format-{number}" for number in range(1, FORMAT + 1)]
