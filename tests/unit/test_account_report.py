"""What a report says of time accounts: shares over all trials, a bar a set of cores, unknown as unknown."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from made_runs import steady_run, with_trials
from msgspec.structs import replace

from assay.model.account import CoreTime, ProgramTime, ThreadTime, TimeAccount
from assay.report.charts import charts
from assay.report.document import Items, Table
from assay.report.model import accounts
from assay.report.model.rows import sections
from assay.report.model.run_document import document

S = 1_000_000_000


def made(server_ns: int | None, *, python_ns: int = 0, unseen: tuple[str, ...] = ()) -> TimeAccount:
    """A second of core 0, of which the server had so much and a program "python" so much."""
    known = server_ns or 0
    core = CoreTime(
        cpus=(0,),
        role="server",
        time_ns=S,
        server_user_ns=None if server_ns is None else known // 4,
        server_kernel_ns=None if server_ns is None else known - known // 4,
        programs=(ProgramTime(name="python", ns=python_ns),),
        idle_ns=S - known - python_ns if server_ns is not None else 0,
        unknown_ns=0 if server_ns is not None else S - python_ns,
    )
    threads = ThreadTime(threads=1, ran_ns=S // 2, waited_ns=S // 4)
    return TimeAccount(wall_ns=S, cores=(core,), server=threads, unseen=unseen)


def test_shares_are_of_all_trials_together() -> None:
    (core,) = accounts.shares([made(S // 2, python_ns=S // 10), made(S // 4, python_ns=S // 5)])
    assert core.parts["server user"] == 0.09375 and core.parts["server kernel"] == 0.28125
    assert core.parts["others"] == 0.15 and core.programs == (("python", 0.15),)
    assert core.label == "server (0)" and core.waited == ("server 0.25",)
    assert sum(share or 0 for share in core.parts.values()) == 1


def test_cores_of_several_hosts_are_told_apart_and_those_of_many_are_one() -> None:
    def of_hosts(count: int) -> TimeAccount:
        own = made(S // 2).cores[0]
        hosts = [replace(own, role="generator", host=f"10.0.0.{number}") for number in range(count)]
        return replace(made(S // 2), cores=(replace(own, host="10.0.1.1"), *hosts))

    labels = [one.label for one in accounts.shares([of_hosts(2), of_hosts(2)])]
    assert labels == ["server (0) on 10.0.1.1", "generator (0) on 10.0.0.0", "generator (0) on 10.0.0.1"]
    assert [one.label for one in accounts.shares([of_hosts(20)])][1:] == ["generator (0) on 20 hosts"]


def test_what_one_trial_did_not_see_is_unknown_and_not_nothing() -> None:
    (core,) = accounts.shares([made(S // 2), made(None)])
    assert core.parts["server user"] is None and core.parts["unknown"] == 0.5


def test_a_report_has_a_line_a_set_of_cores_and_says_what_could_not_be_seen() -> None:
    why = "the server's process: another user's"
    run = with_trials(
        steady_run({"a": 1000.0, "b": 900.0}),
        {"a": {"account": made(S // 2, python_ns=S // 10)}, "b": {"account": made(None, unseen=(why,))}},
    )
    (section,) = (one for one in document(run).sections if one.name == "time")
    table, unseen = section.parts
    assert isinstance(table, Table) and isinstance(unseen, Items)
    assert table.texts("server") == ("a", "b") and unseen.lines == (why,)
    assert table.texts("of-server") == ("12 % + 38 %", "–")
    assert table.texts("of-others") == ("10 %: python 10 %", "0 %")
    assert section.title == accounts.TITLE


def test_the_page_draws_a_bar_a_set_of_cores_whose_boxes_fill_it() -> None:
    run = with_trials(
        steady_run({"a": 1000.0, "b": 900.0}),
        {case: {"account": made(S // 2, python_ns=S // 10)} for case in "ab"},
    )
    (chart,) = (one for one in charts(run, sections(run)) if one.name == "cores")
    drawn = chart.draw(500)
    boxes = [ET.fromstring(part) for part in drawn.parts if part.startswith("<rect")]
    bars = [box for box in boxes if float(box.attrib["height"]) > 12]
    assert len(bars) == 2 * 4 and all(0 <= float(box.attrib["x"]) < 500 for box in bars)
    assert sum(float(box.attrib["width"]) + 1 for box in bars) == 2 * 500
    assert {box.findtext("title") for box in boxes} >= {"server user", "idle"}
    assert [row[0] for row in chart.rows] == ["a: server (0)", "b: server (0)"]


def test_a_run_without_accounts_has_neither() -> None:
    run = steady_run({"a": 1000.0, "b": 900.0})
    assert not [one for one in document(run).sections if one.name == "time"]
    assert not [one for one in charts(run) if one.name == "cores"]
