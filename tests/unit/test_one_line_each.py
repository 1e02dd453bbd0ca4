"""One test for each line that all other tests did without: what it is there for.

Found by changing the code line by line (`make mutants`).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import made_runs
import msgspec
import pytest
import sample_run
from judged import found, open_plan
from msgspec.structs import replace

from assay.audit import read
from assay.audit.document import TextTable
from assay.plan.study.schema import LoadSetting
from assay.report.model import comparison
from assay.report.model.answer import in_a_line
from assay.report.model.loads import shapes
from assay.servers.supervised import Kept, StartOrder
from assay.store.index import Filter, Index, rebuild
from assay.verdict import judge

CHILD = """
import os, signal, sys
if os.fork():
    signal.pause()
def told(number, frame):
    with open(sys.argv[1], "a") as counted:
        counted.write("TERM\\n")
    signal.setitimer(signal.ITIMER_REAL, 0.5)
signal.signal(signal.SIGALRM, lambda number, frame: os._exit(0))
signal.signal(signal.SIGTERM, told)
open(sys.argv[2], "w").close()
while True:
    signal.pause()
"""


def test_a_rebuilt_index_is_made_from_the_files_whatever_it_said(tmp_path: Path) -> None:
    rebuild(tmp_path)  # there is none yet
    path = sample_run.stored(sample_run.run(), tmp_path)
    assert [one.study for one in Index(tmp_path, in_a_line).runs(Filter())] == ["franklin"]
    kept, stamp = tmp_path / "index.json", path.stat()
    kept.write_bytes(kept.read_bytes().replace(b'"franklin"', b'"stranger"'))
    assert [one.study for one in Index(tmp_path, in_a_line).runs(Filter())] == ["stranger"]
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    rebuild(tmp_path)
    assert [one.study for one in Index(tmp_path, in_a_line).runs(Filter())] == ["franklin"]


def test_a_process_that_takes_its_time_to_end_is_asked_once(tmp_path: Path) -> None:
    counted, ready = tmp_path / "counted", tmp_path / "ready"
    command = (sys.executable, "-c", CHILD, str(counted), str(ready))
    kept = Kept(StartOrder(command=command, env=dict(os.environ), cwd=tmp_path, log=tmp_path / "log"))
    try:
        while not ready.exists():
            assert kept.exit(wait_s=0.05) is None
    finally:
        assert kept.stop() == 0
    assert counted.read_text() == "TERM\n"


def test_the_header_of_a_table_of_commas_is_a_row_without_its_option() -> None:
    text = (
        '.. csv-table:: wrk, -c 64\n   :header: "server", "Requests/sec"\n   :widths: 20, 20\n\n'
        '   "Alder", "87077"\n   "Elm", "47077"\n'
    )
    [table] = [part for part in read("r.rst", text.encode()).parts if isinstance(part, TextTable)]
    assert list(table.head) == ["server", "Requests/sec"]


def test_a_machine_on_its_battery_is_noted() -> None:
    machine = replace(made_runs.run([made_runs.case("a")], [], 0).header.environment, on_battery=True)
    made = made_runs.run([made_runs.case("a")], [made_runs.trial("a", block) for block in range(6)])
    made = replace(made, header=replace(made.header, environment=machine))
    [finding] = [one for one in judge(made, 0).findings if one.code == "H3"]
    assert finding.evidence.startswith("the machine runs on its battery")


@pytest.mark.parametrize(("started", "reached"), [(0, True), (157, False)])
def test_nothing_was_reached_only_where_something_was_asked(started: int, reached: bool) -> None:
    made = made_runs.measurement()
    connections = replace(made.connections, opened=0)
    requests = replace(made.requests, started=started, completed=0, failed=started)
    findings = found(replace(made, connections=connections, requests=requests, completed=0))
    told = findings.get("G8")
    assert (told is None or "nothing was reached" not in told.evidence) == reached


def test_open_loops_at_one_rate_are_told_by_that_and_at_several_by_their_ends() -> None:
    def offered(*rates: float) -> tuple[str, ...]:
        trials = [made_runs.trial("a", n, plan=open_plan(rate)) for n, rate in enumerate(rates)]
        return shapes(made_runs.run([made_runs.case("a")], trials))

    [one], [several] = offered(500.0, 500.0), offered(500.0, 700.0)
    assert "up to 500/s" in one and "rates" not in one
    assert "at 2 rates from 500/s to 700/s" in several


def test_where_a_comparison_stands_says_of_each_pair_what_it_has_come_to() -> None:
    made = made_runs.steady_run({"a": 1000, "b": 2000}, blocks=8)
    versus = made_runs.run(made.header.cases, made.trials, 0, {"kind": "versus", "margin": 0.01})
    versus = replace(versus, judgement=judge(versus, 0))
    assert comparison.state(versus).endswith(" (different)")


@pytest.mark.parametrize(("timeout_s", "right"), [(0.08, True), (0.079, False)])
def test_a_timeout_is_four_round_trips_at_least(timeout_s: float, right: bool) -> None:
    given = {
        "connections": 1,
        "measure_s": 10,
        "warm_up_min_s": 1,
        "warm_up_max_s": 5,
        "timeout_s": timeout_s,
        "emulation": {"round_trip_ms": 20},
    }
    if right:
        assert msgspec.convert(given, LoadSetting).timeout_s == timeout_s
        return
    with pytest.raises(msgspec.ValidationError, match="timeout_s must be 4 round trips"):
        msgspec.convert(given, LoadSetting)
