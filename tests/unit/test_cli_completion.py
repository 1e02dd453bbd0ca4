"""Completion and the manual page, as real shells and roff read them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assay.cli import main as cli
from assay.cli import verbs
from assay.core.errors import EXIT_CODES
from assay.core.settings import VARIABLES

ROOT = Path(__file__).parents[2]
Captured = pytest.CaptureFixture[str]


def told(capsys: Captured, *words: str) -> str:
    assert cli.main(words) == 0
    return capsys.readouterr().out


def by(shell: list[str], script: str, cwd: Path) -> str:
    done = subprocess.run(
        shell, input=script, capture_output=True, text=True, timeout=60, cwd=cwd, check=True
    )
    assert done.stderr == ""
    return done.stdout


BASH = """
COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_shtab_assay; printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("assay ver", {"versus"}),
        ("assay load --dur", {"--duration"}),
        ("assay load --tls-m", {"--tls-min", "--tls-max"}),
        ("assay run --profile ''", {"fair", "published", "both"}),
        ("assay completion f", {"fish"}),
        ("assay report l", {"latest"}),
        ("assay report shop-2026", {"shop-20261122-100000-abcd"}),
        ("assay help capa", {"capacity"}),
    ],
)
def test_bash_completes(words: str, offered: set[str], capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "results/shop-20261122-100000-abcd").mkdir(parents=True)
    script = told(capsys, "completion", "bash") + BASH.format(words=words)
    assert set(by(["bash", "--norc"], script, tmp_path).split()) == offered


def test_fish_completes_and_explains(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "results/shop-20261122-100000-abcd").mkdir(parents=True)
    asked = ("load --dur", "hist", "run --profile ", "report shop-2026", "run --resume shop", "help capa")
    script = "".join(f"complete -C 'assay {words}'\n" for words in asked)
    found = by(
        ["fish", "--no-config"], f"{told(capsys, 'completion', 'fish')}\n{script}", tmp_path
    ).splitlines()
    assert any(line.startswith("--duration\tmeasure for so long") for line in found)
    assert any(line.startswith("history\tlist stored runs") for line in found)
    names = [line.partition("\t")[0] for line in found]
    assert {"fair", "published", "both", "capacity"} <= set(names)
    assert names.count("shop-20261122-100000-abcd") == 2


def test_zsh_takes_the_script_and_each_of_its_specifications(capsys: Captured, tmp_path: Path) -> None:
    script = told(capsys, "completion", "zsh")
    # Outside of a line editor nothing can be completed, but every specification is read.
    read = (
        "autoload -U compinit; compinit -u -d comp; _describe() { print -rl -- $_commands }\n"
        "_arguments() { print -rl -- $@; state=assay line=(run) }\n"
    )
    script = f"{read}go() {{\n{script}\n}}\ngo; _shtab_assay_commands\n"
    found = by(["zsh", "-f"], script, tmp_path).splitlines()
    assert "versus:compare servers, given as commands or URLs, until it is settled" in found
    assert any(line.startswith("--profile[") and line.endswith(":(fair published both)") for line in found)
    assert any(line.startswith("--ray[") and line.endswith(r":HOST\:PORT:_files") for line in found)


def test_a_word_that_a_shell_would_take_apart_stays_whole(capsys: Captured, tmp_path: Path) -> None:
    """Help texts hold quotes, brackets and colons."""
    for shell in ("bash", "zsh", "fish"):
        script = told(capsys, "completion", shell)
        subprocess.run([shell, "-n"], input=script, text=True, check=True, timeout=60, cwd=tmp_path)


def test_the_manual_page_is_sound_roff_that_names_every_flag(capsys: Captured) -> None:
    page = told(capsys, "manual")
    groff = ["groff", "-man", "-Tutf8", "-P-cbou", "-ww", "-rLL=100n"]
    done = subprocess.run(groff, input=page, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    shown = " ".join(done.stdout.replace("\N{MINUS SIGN}", "-").replace("\N{HYPHEN}", "-").split())
    for verb in verbs.VERBS:
        for action in verb.parser().actions:
            assert all(name in shown for name in action.option_strings)
    assert all(name in shown for name in VARIABLES)
    assert "assay load https://app.test/" in shown


def test_exit_codes_and_variables_are_told_alike_everywhere(capsys: Captured) -> None:
    whole, page = told(capsys, "--help-all"), told(capsys, "manual")
    document = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for code, meaning in EXIT_CODES.items():
        assert f"  {code:<3}  {meaning}\n" in whole
        assert meaning.replace("-", "\\-") in page
        assert f"| {code} | {meaning} |\n" in document
    for name, meaning in VARIABLES.items():
        assert f"{name:<13}  {meaning}" in whole
