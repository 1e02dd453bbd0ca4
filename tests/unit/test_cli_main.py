"""The command line's frame, through its entry point: exit codes, and what is said where."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli import main as cli
from assay.cli import verbs
from assay.cli.main import overview
from assay.core import credentials

Captured = pytest.CaptureFixture[str]


def test_help_lists_every_verb_and_fits_a_terminal(capsys: Captured) -> None:
    for words in ([], ["--help"], ["-h"], ["help"]):
        assert cli.main(words) == 0
        told = capsys.readouterr()
        assert all(f"  {verb.name} " in told.out for verb in verbs.VERBS)
        assert fits(told.out)
        assert told.err == ""


def fits(told: str) -> bool:
    """Whether it is read without scrolling much: 40 lines of 80 columns."""
    lines = told.splitlines()
    return len(lines) <= 40 and max(map(len, lines)) <= 80


def test_the_whole_help_adds_tools_exit_codes_and_variables(capsys: Captured) -> None:
    assert cli.main(["--help-all"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(overview())
    assert all(word in told for word in ("  h2load ", "  130  ", "  ASSAY_RESULTS "))
    assert max(map(len, told.splitlines())) <= 80


@pytest.mark.parametrize("verb", [verb.name for verb in verbs.VERBS])
def test_each_verb_explains_itself_with_examples(verb: str, capsys: Captured) -> None:
    assert cli.main([verb, "--help"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"usage: assay {verb}")
    assert f"examples:\n  assay {verb}" in told.replace(
        "examples:\n  assay explain", f"examples:\n  assay {verb}"
    )
    assert told.index("examples:") < 200, "examples come first"
    assert told.count("\n  assay ") <= 4
    assert fits(told)
    assert "`assay --help-all`" in told


@pytest.mark.parametrize("verb", [verb.name for verb in verbs.VERBS])
def test_the_whole_help_of_a_verb_has_every_flag_and_example(verb: str, capsys: Captured) -> None:
    assert cli.main([verb, "--help-all"]) == 0
    told = capsys.readouterr().out
    found = verbs.find(verb)
    assert found is not None
    parser = found.parser()
    assert all(
        f"{name} " in told or f"{name}," in told for one in parser.actions for name in one.option_strings
    )
    assert all(command in told for command, _ in parser.shown_examples)
    assert max(map(len, told.splitlines())) <= 80


@pytest.mark.parametrize(
    ("verb", "wanted"),
    [
        ("load", "connections duration requests/s ramp latency p99 header auth token warm json html"),
        ("versus", "budget duration connections header auth token slower json"),
        ("capacity", "p99 errors rate duration connections header json"),
        ("run", "quick blocks profile server resume json"),
        ("report", "html markdown csv png json"),
    ],
)
def test_what_most_people_look_for_is_in_the_short_help(verb: str, wanted: str, capsys: Captured) -> None:
    assert cli.main([verb, "--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert [
        word for word in wanted.split() if word.replace("requests/s", "requests a second") not in told
    ] == []


def test_version_is_data(capsys: Captured) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("assay ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lod"], "assay: unknown verb 'lod'; did you mean 'load'?\n"),
        (["zzz"], "assay: unknown verb 'zzz'; `assay --help` lists the verbs\n"),
        (["load"], "assay: URL is missing; write it like `assay load http://127.0.0.1:8080/`\n"),
        (
            ["load", "http://127.0.0.1:1/", "--ramp-up", "5s"],
            "assay: unknown flag '--ramp-up'; --stage 30s:0..1000 raises the rate over that time\n",
        ),
        (["load", "x", "--slo", "p99>1s"], "assay: --slo: 'p99>1s': p99 is held below a number: <"),
        (["load", "x", "--fail-if-unsure"], "assay: --fail-if-unsure needs limits; add --slo"),
        (["versus", "a", "b", "--slo", "p"], "assay: unknown flag '--slo'; `assay load` has it\n"),
        (
            ["run", "franklin", "--save"],
            "assay: unknown flag '--save'; a run is always kept; --results DIR says where\n",
        ),
        (["load", "x", "--rps", "5"], "assay: unknown flag '--rps'; did you mean --rate?\n"),
        (["report", "--parquet", "x"], "assay: unknown flag '--parquet'; --csv writes the same rows\n"),
        (["capacity", "x", "--slo", "p9<50ms"], "assay: --slo: 'p9' is not a percentile from p10"),
        (["capacity", "x", "--slo", "p09<50ms"], "assay: --slo: 'p09' is not a percentile from p10"),
        (["explain", "Q7"], "assay: there is no rule 'Q7'"),
        (["schema", "rnu"], "assay: "),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_exit_code_2(
    words: list[str], said: str, capsys: Captured
) -> None:
    assert cli.main(words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(said)
    assert told.err.count("\n") == 1


def test_control_characters_of_a_mistake_do_not_reach_the_terminal(capsys: Captured) -> None:
    assert cli.main(["\x1b[2Jevil"]) == 2
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["load", "http://me:s3cret@127.0.0.1/", "-H", "Authorization: s3cret", "--header=Cookie: s3cret"],
        ["load", "http://127.0.0.1/", "-Hx: s3cret", "--body", "s3cret", "-b=s3cret", "-F", "a=s3cret"],
        ["load", "http://127.0.0.1/?token=s3cret", "-u", "me:s3cret", "--bearer", "s3cret", "-kume:s3cret"],
        ["load", "http://127.0.0.1/", "--user=me:s3cret", "-x", "http://me:s3cret@proxy:3128"],
        ["ab", "-A", "me:s3cret", "-Pme:s3cret", "-kC", "id=s3cret", "http://127.0.0.1/"],
        ["bombardier", "me:s3cret@127.0.0.1", "--header", "Authorization: s3cret", "-lb", "s3cret"],
        ["h2load", "-H", "Authorization: s3cret", "http://me:s3cret@127.0.0.1/"],
        ["wrk", "-HAuthorization: s3cret", "http://me:s3cret@127.0.0.1/"],
        ["versus", "DB_PASSWORD=s3cret server --db postgres://me:s3cret@db/x"],
    ],
)
def test_a_defect_leaves_a_log_without_secrets(
    words: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def explode(words: list[str]) -> int:
        raise RuntimeError(f"the cause, with {words[-1]!r} in it")

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(cli, "_dispatch", explode)
    assert cli.main(words) == 70
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    [log] = (tmp_path / "assay").glob("*.log")
    assert log.stat().st_mode & 0o077 == 0
    assert str(log) in told
    text = log.read_text()
    assert "RuntimeError: the cause" in text
    assert f"command: assay {words[0]} " in text
    assert "Traceback" in text
    assert "s3cret" not in text


def test_the_command_of_a_record_is_kept_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["versus", "-d", "2s", "-k", "-u", "me:s3cret", "http://me:s3cret@a/x?token=s3cret&n=1", "b"]
    monkeypatch.setattr(sys, "argv", ["assay", *words])
    told = " ".join(credentials.command())
    made = r"hidden-[0-9a-f]{8}"
    assert re.fullmatch(rf"assay versus -d 2s -k -u {made} http://{made}@a/x\?token={made}&n=1 b", told)


@pytest.mark.parametrize(
    "words",
    [
        [*flag, "http://127.0.0.1:1/"]
        for flag in (["--count=--"], ["-n=--"], ["-n--"], ["-n", "--"], ["--header=--"], ["-k", "--user=--"])
    ],
)
def test_a_value_of_dashes_is_bad_usage(words: list[str], capsys: Captured) -> None:
    assert cli.main(["load", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("verb", [verb.name for verb in verbs.VERBS])
def test_every_flag_of_every_verb_refuses_a_value_of_dashes(verb: str, capsys: Captured) -> None:
    assert cli.main([verb, "--help-all"]) == 0
    flags = re.findall(r"(?m)^  (?:-\w, )?(--[a-z-]+) [A-Z'\[{]", capsys.readouterr().out)
    for flag in flags:
        assert cli.main([verb, f"{flag}=--"]) == 2, flag
        assert capsys.readouterr().err.startswith(f"assay: {flag}: '--' cannot be its value"), flag


def test_ctrl_c_is_130_without_a_word(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(words: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_dispatch", interrupt)
    assert cli.main(["rules"]) == 130
    assert "Traceback" not in capsys.readouterr().err


BUFFERS = pytest.mark.parametrize("unbuffered", ["", "1"])
"""Python keeps what a buffer could not write, and tries again at its end."""


def with_buffers(unbuffered: str) -> dict[str, str]:
    return os.environ | {"PYTHONUNBUFFERED": unbuffered}


@BUFFERS
@pytest.mark.parametrize("words", [["rules"], ["schema", "run"]])
def test_a_reader_that_goes_away_is_no_error(words: list[str], unbuffered: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "assay.cli.main", *words]
    with os.fdopen(writer, "wb") as out:
        ended = subprocess.run(
            command,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
            env=with_buffers(unbuffered),
        )
    assert ended.stderr == ""
    assert ended.returncode == 141


@BUFFERS
def test_a_full_disk_behind_standard_output_is_said(unbuffered: str) -> None:
    for words in (["rules"], ["schema", "run"], ["--version"]):
        command = [sys.executable, "-m", "assay.cli.main", *words]
        with Path("/dev/full").open("w") as full:
            ended = subprocess.run(
                command,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                timeout=60,
                env=with_buffers(unbuffered),
            )
        assert ended.returncode == 2
        assert ended.stderr == "assay: cannot write to standard output: no space left on device\n"


def test_an_encoding_without_our_characters_is_no_error() -> None:
    command = [sys.executable, "-m", "assay.cli.main", "explain", "G1", "M1"]
    settings = os.environ | {"PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=settings)
    assert ended.returncode == 0, ended.stderr
    assert "Little's law" in ended.stdout


@pytest.mark.parametrize(("locale", "sign"), [("C", "~"), ("POSIX", "~"), ("C.UTF-8", "±")])
def test_a_terminal_without_unicode_gets_tables_in_ascii(locale: str, sign: str, tmp_path: Path) -> None:
    """Python takes the locale C for UTF-8; whoever says it by name may have nothing but ASCII."""
    record = Path(__file__).parents[1] / "golden/records/sample"
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "assay.cli.main", "report", str(record)]
    settings = os.environ | {"LC_ALL": locale, "TERM": "dumb", "COLUMNS": "80"}
    with subprocess.Popen(
        command, stdout=theirs, stderr=subprocess.PIPE, cwd=tmp_path, env=settings
    ) as shown:
        os.close(theirs)
        said = b""
        with contextlib.suppress(OSError):  # the other end of a terminal that closes
            while part := os.read(ours, 65536):
                said += part
        os.close(ours)
        assert shown.wait(60) == 0
    text = said.decode()
    assert text.isascii() == (sign == "~")
    assert sign in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("colour", [{}, {"NO_COLOR": "1"}])
def test_no_colour_in_a_pipe(colour: dict[str, str]) -> None:
    command = [sys.executable, "-m", "assay.cli.main", "explain", "G1"]
    environment = os.environ | {"TERM": "xterm-256color"} | colour
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=60)
    assert "G1" in ended.stdout
    assert "\x1b" not in ended.stdout


def test_nothing_heavy_is_imported_before_a_load_is_sent() -> None:
    heavy = ("numpy", "scipy", "rich", "psutil", "lzma", "subprocess", "assay.model.interleaving")
    code = (
        "import sys; import assay.cli.main, assay.cli.verbs, assay.engine.driver, assay.engine.target_policy;"
        "verb = assay.cli.verbs.find('load'); verb.module();"
        "verb.parser().read(['http://127.0.0.1:1/', '-c', '8', '-d', '1s']);"
        f"print(*[name for name in {heavy} if name in sys.modules])"
    )
    assert imported(code) == []


def test_the_end_of_a_load_is_told_without_what_tells_runs() -> None:
    heavy = ("assay.report.model.run_document", "assay.report.model.rows", "assay.verdict.answer", "shutil")
    code = "import sys; import assay.report.load, assay.report.style, assay.cli.report_outputs;"
    assert imported(f"{code} print(*[name for name in {heavy} if name in sys.modules])") == []


def imported(code: str) -> list[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()


def test_a_command_line_without_words_holds_no_secret() -> None:
    assert (credentials.shown([]), credentials.without("kept", [])) == ((), "kept")


def test_an_engine_of_another_machine_is_one_clear_line(tmp_path: Path) -> None:
    foreign = tmp_path / "_engine.abi3.so"
    foreign.write_bytes(b"\x7fELF of another architecture")
    code = (
        "import importlib.util, sys\n"
        "class Foreign:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.endswith('_engine'):\n"
        f"            return importlib.util.spec_from_file_location(name, {str(foreign)!r})\n"
        "sys.meta_path.insert(0, Foreign())\n"
        "from assay.cli.main import main\n"
        "sys.exit(main(['load', 'http://127.0.0.1:1/']))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    [line] = ended.stderr.splitlines()
    assert "cannot be loaded on this machine" in line and platform.machine() in line and "wheel" in line


def test_a_program_that_ends_does_at_its_end_what_was_asked_and_waits_for_its_threads() -> None:
    asked = "import atexit, threading; atexit.register(print, 'at the end', flush=True); "
    joins = "threading.main_thread().join(), print('late', flush=True)"
    late = f"threading.Thread(target=lambda: ({joins})).start(); "
    for before, told in (("", ""), (late, "late\n")):
        program = f"{asked}{before}from assay.cli.main import main; main()"
        command = [sys.executable, "-c", program, "--version"]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert ended.stdout.partition("\n")[2] == f"{told}at the end\n"
        assert ended.stderr == ""
