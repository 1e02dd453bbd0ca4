"""docs/extending.md holds: its changes are made on a copy, touch the files it names, and work."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from checkout import ROOT

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
RECORD = ROOT / "tests" / "golden" / "records" / "versus" / "run.jsonl"


@dataclass(frozen=True)
class Change:
    """`edits` are texts to add to a file: before each mark in it, or at its end, or as a new file; `command`
    then ends with 0 and says something that contains `says`."""

    most: int
    edits: dict[str, tuple[str, ...]]
    command: tuple[str, ...]
    says: str


RULE = '''

def small_machine(load: Load, thresholds: Thresholds) -> Hit | None:
    """G99: no machine is as small."""
    return None


G99 = LoadRule(
    code="G99",
    title="a machine of no size",
    severities=("error",),
    effects=(VOID,),
    meaning="It is too small.",
    remedy="take another",
    source="ours",
    example="None.",
    check=small_machine,
)
'''
SERVER = """format = 1
title = "Another"
language = "Python"
framework = "none"
[version]
command = ["python3", "--version"]
[run]
command = ["python3", "{source}/server.py"]
[variants.fair]
"""
ENTRY = '[[servers]]\nserver = "quotes/another"\nlabel = "Another"\n'
SERVERS = """
from assay.core.settings import Settings
from assay.plan.study import load_study, resolve
settings = Settings.resolve()
print(*(server.id for server in resolve(load_study("franklin", settings), settings).servers))
"""
WARM_TEST = """

def test_five_windows_are_told_apart() -> None:
    seen = warmed_up(windows([1.0] * 5), WarmUp(min_ns=1, max_ns=10_000 * MS))
    assert seen is not None and seen.reason == "five windows"
"""
FIVE = """def five(windows: Sequence[Window]) -> bool:
    return len(windows) == sum(window.completed for window in windows) == 5


"""
WARM = """    if five(windows):
        return WarmUpSeen(steady=True, bound_ns=rule.max_ns, reason="five windows", took_ns=0)
"""
PERCENTILES = """
import pathlib, sys
from assay import store
from assay.report.frames import frames_of
times = frames_of(store.load(pathlib.Path(sys.argv[1])))["latency"]["latency_ns"]
print("whole seconds" if times and all(time % 1e9 == 0 for time in times) else times)
"""
LAST_BYTE = """
#[test]
fn the_last_byte_comes_after_the_first() {
    let server = Server::start(|peer| {
        while peer.request().is_some() {
            peer.send("HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nhel");
            peer.send("lo");
        }
    });
    let measurement = run(&plan(&server, 1, 20, json!({})));
    assert_eq!(measurement.last_byte_time.count, 20);
    let whole = measurement.first_byte_time.mean_ns + measurement.last_byte_time.mean_ns;
    assert!((whole - measurement.service_time.mean_ns).abs() < 1.0);
}
"""
CARGO = ("cargo", "test", "-p", "assay-engine", "--test", "together", "the_last_byte", "--", "--nocapture")
LONG = os.environ.get("ASSAY_LONG") == "1"
ASSAY = (sys.executable, "-m", "assay.cli.main")
WRITING = ("env", "ASSAY_GOLDEN=write")


def tool() -> str:
    text = (ROOT / "src/assay/audit/loadtools/plow.toml").read_text(encoding="utf-8")
    text = text.replace("plow", "furrow").replace("Benchmarking", "Furrowing").replace("Summary:", "Sums:")
    return text.replace("order = 180", "order = 999").replace("Elapsed", "Lasted")


def sample() -> str:
    text = (ROOT / "tests/audit/samples/plow.txt").read_text(encoding="utf-8")
    return text.replace("Benchmarking", "Furrowing").replace("Summary:", "Sums:").replace("Elapsed", "Lasted")


CHANGES = {
    "A rule": Change(
        3,
        {"src/assay/verdict/rules/host.py": ("", RULE)},
        (*ASSAY, "explain", "G99"),
        "a machine of no size",
    ),
    "A sentence of the answer": Change(
        2,
        {
            "src/assay/report/model/order.py": ('no difference shown"', "still "),
            "tests/golden/expected/pair.md": ("no difference shown", "still "),
        },
        (sys.executable, "-m", "pytest", "-q", "tests/golden/test_run_pair.py"),
        "passed",
    ),
    "A metric of each request": Change(
        4,
        {
            "crates/engine/src/connection.rs": (
                "    is_answering: bool,\n    decoder",
                "    first_byte_at_ns: u64,\n",
                "            is_answering: false,\n            decoder",
                "            first_byte_at_ns: 0,\n",
                "                context.recorder.times.first_byte_time",
                "                self.first_byte_at_ns = now_ns;\n",
                "            context.recorder.service_time.record(ns);",
                "            let last_byte_ns = now_ns.saturating_sub(self.first_byte_at_ns);\n"
                "            context.recorder.times.last_byte_time.record(last_byte_ns);\n",
            ),
            "crates/engine/src/record/measurement.rs": (
                "] $($more)*",
                " last_byte_time",
                "        /// What HTTP/2 has beside",
                "        /// First to last byte of the answer.\n"
                "        pub last_byte_time: Histogram => each,\n",
            ),
            "src/assay/report/model/load_document.py": (
                '        ("connect", measured.connect_time',
                '        ("last byte", measured.last_byte_time, True),\n',
            ),
            "crates/engine/tests/closed_loop.rs": ("", LAST_BYTE),
        },
        CARGO if LONG else ("true",),
        "1 passed" if LONG else "",
    ),
    "A field of the record": Change(
        3,
        {
            "src/assay/model/trial.py": ("\n\nclass ServiceSeen", "    open_files: int | None = None\n"),
            "src/assay/runner/one_trial.py": ("        threads=", "        open_files=0,\n"),
        },
        (*WRITING, sys.executable, "-m", "pytest", "-q", "tests/golden/test_json.py"),
        "passed",
    ),
    "How warm-up ends": Change(
        3,
        {
            "src/assay/stats/steady.py": ("def steady_state(", FIVE),
            "src/assay/plan/next/warming.py": (
                "FEWEST_WINDOWS, warm_at_once",
                "five, ",
                "    state = warm_up_state(",
                WARM,
            ),
            "tests/unit/test_warmup.py": ("", WARM_TEST),
        },
        (sys.executable, "-m", "pytest", "-q", "tests/unit/test_warmup.py", "-k", "five or step or level"),
        "passed",
    ),
    "A percentile": Change(
        1,
        {"src/assay/stats/quantiles.py": (" * histogram.unit_ns)", " // 10**9 * 10**9")},
        (sys.executable, "-c", PERCENTILES, str(RECORD)),
        "whole seconds",
    ),
    "An export format": Change(
        3,
        {
            "src/assay/report/exports.py": (
                "",
                "\n\ndef names(run: Run) -> str:\n    return ' '.join(one.id for one in run.header.cases)\n",
            ),
            "src/assay/cli/report_outputs.py": (
                '    Output("junit"',
                '    Output("names", "the cases", _made("exports", "names")),\n',
            ),
        },
        (*ASSAY, "report", str(RECORD), "--names", "-"),
        "a b a (again)",
    ),
    "A flag of `assay load`": Change(
        4,
        {
            "src/assay/plan/words/load_table.py": (
                '    LoadFlag(("--cookies",)',
                '    LoadFlag(("--jar",), "cookies", None, "", "keep cookies in a jar"),\n',
            ),
            "src/assay/plan/words/options.py": ("    cookies: bool", "    jar: bool\n"),
        },
        (sys.executable, "-m", "pytest", "-q", "tests/unit/test_options.py"),
        "passed",
    ),
    "A load-test tool in `assay audit`": Change(
        2,
        {
            "src/assay/audit/loadtools/furrow.toml": ("", tool()),
            "tests/audit/samples/furrow.txt": ("", sample()),
        },
        (sys.executable, "-m", "pytest", "-q", "tests/audit/test_audit_tools.py", "-k", "furrow"),
        "passed",
    ),
    "A server of a study": Change(
        3,
        {
            "servers/quotes/another/server.toml": ("", SERVER),
            "servers/quotes/another/server.py": ("", "print()\n"),
            "studies/franklin.toml": ("[[claims]]", ENTRY),
        },
        (sys.executable, "-c", SERVERS),
        "quotes/another",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout without what is built, but for the engine; byte code holds for files that are the same."""
    folder = tmp_path_factory.mktemp("copy")
    skip = shutil.ignore_patterns("target", ".venv", "node_modules")
    for name in ("src", "tests", "servers", "studies", "crates"):
        shutil.copytree(ROOT / name, folder / name, ignore=skip)
    for name in ("pyproject.toml", "Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, folder)
    return folder


def make(change: Change, folder: Path) -> Callable[[], None]:
    """Make the change; what is returned takes it back."""
    before: dict[Path, str | None] = {}
    for name, edits in change.edits.items():
        path = folder / name
        before[path] = path.read_text(encoding="utf-8") if path.exists() else None
        content = before[path] or ""
        for mark, text in zip(edits[::2], edits[1::2], strict=True):
            assert mark in content
            place = content.index(mark) if mark else len(content)
            content = content[:place] + text + content[place:]
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")

    def undo() -> None:
        for path, text in before.items():
            path.unlink() if text is None else path.write_text(text, encoding="utf-8")

    return undo


@pytest.mark.timeout(1800)  # the engine is built, where it is LONG
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_touches_few_files_and_works(name: str, copy: Path) -> None:
    change = CHANGES[name]
    assert len(change.edits) <= change.most
    undo = make(change, copy)
    try:
        target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
        environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "CARGO_TARGET_DIR": target}
        done = subprocess.run(
            change.command, cwd=copy, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, change.says in done.stdout) == (0, True), done.stdout + done.stderr
    finally:
        undo()


def section(name: str) -> str:
    return PAGE.split(f"## {name}", 1)[1].split("\n## ", 1)[0]


@pytest.mark.parametrize("name", CHANGES)
def test_the_page_marks_what_is_tried_and_names_its_files(name: str) -> None:
    assert section(name).startswith(" *\n")
    for path in CHANGES[name].edits:
        where = path.replace("furrow", "NAME").replace("quotes/another", "<contract>/<stack>")
        where = where.replace("franklin", "<name>").replace("server.py", "server.toml")
        assert f"`{where}`" in section(name)


def test_files_that_the_page_names_are_there() -> None:
    named = re.findall(r"`((?:src|crates|tests)/[\w./-]+)`", PAGE)
    assert len(named) > 20
    assert [name for name in named if "NAME" not in name and not (ROOT / name).exists()] == []
