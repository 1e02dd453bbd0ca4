"""docs/api.md says what `import assay` offers, and importing it costs nothing until something is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import api_docs
import pytest


def test_the_page_is_what_the_code_says(tmp_path: Path) -> None:
    assert api_docs.PAGE.read_text(encoding="utf-8") == api_docs.page(), "run `make api-docs`"


def test_the_page_is_written_where_it_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "api.md"
    assert api_docs.main(["--page", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == api_docs.page()
    assert capsys.readouterr().out == f"wrote {path}\n"
    api_docs.main(["--page", str(path)])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("code", "unused"),
    [
        ("import assay", ("assay.", "msgspec", "rich", "argparse", "importlib.metadata")),
        ("import assay.cli.load", ("assay.report", "assay.verdict", "assay.servers.", "rich", "psutil")),
    ],
)
def test_importing_is_cheap(code: str, unused: tuple[str, ...]) -> None:
    program = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert [name for name in done.stdout.split() if name.startswith(unused)] == []
