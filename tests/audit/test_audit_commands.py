"""The commands that an audit suggests take words from a text that anybody may have written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assay.cli.main import main

HASTY = Path(__file__).parents[2] / "docs/audit-example/hasty.md"
TABLE = "| server | requests/s |\n|---|---|\n| A{} | 1000 |\n| B | 2000 |\n\nB is twice as fast as A{}.\n"
INJECTED = (";>RAN;", "$(>RAN)", "&>RAN&", "|>RAN", "'$(>RAN)'", "\n>RAN\n", ">RAN")


@pytest.mark.parametrize("injected", INJECTED)
@pytest.mark.parametrize("where", ["a URL", "every URL", "a name"])
def test_a_suggested_command_runs_nothing_of_its_text(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    injected: str,
    where: str,
) -> None:
    if where == "a name":
        text = TABLE.format(injected, injected)
    else:
        text = HASTY.read_text()
        for port in ("8080", "8081") if where == "every URL" else ("8080",):
            text = text.replace(f"http://localhost:{port}/", f"http://localhost:{port}/{injected}")
    (tmp_path / "hasty.md").write_text(text)
    monkeypatch.chdir(tmp_path)
    main(["audit", "hasty.md", "--verbose"])
    told = capsys.readouterr().out.splitlines()
    commands = [line.strip() for line in told if line.startswith("  assay ")]
    assert commands or where == "a name"
    for command in commands:
        split = f'set -- {command}; for word; do case "$word" in START*) eval "set -- $word";; esac; done'
        subprocess.run(["sh", "-c", split], cwd=tmp_path, check=False, capture_output=True, timeout=10)
    assert not (tmp_path / "RAN").exists(), commands
