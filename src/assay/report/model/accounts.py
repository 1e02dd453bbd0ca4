"""Where the time of the cores went, as a report says it: a line for each server's sets of cores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.core import units as fmt
from assay.model.account import CoreTime, TimeAccount
from assay.model.run import Run
from assay.report.document import Cell, Column, Items, Section, TableLine, section, table
from assay.report.model.rows import LoadRows

TITLE = "Where the time of the cores went"
_NAMED = 2
"""So many programs are named in a line."""
_HOSTS = 8
"""So many generators have a line each."""
_COLUMNS = (
    Column("server", "server", key=True),
    Column("cores", "cores", key=True),
    Column("of-server", "server: user + kernel", right=True, part=1),
    Column("of-services", "services", right=True, part=1),
    Column("of-generator", "generator: user + kernel", right=True, part=1),
    Column("of-kernel", "kernel", right=True, part=2),
    Column("of-stolen", "stolen", right=True, part=2),
    Column("of-idle", "idle", right=True, part=2),
    Column("of-unknown", "unknown", right=True, part=2),
    Column("of-others", "others", part=3),
    Column("waited", "ready, without a core", part=3),
)
_NOTE = (
    "shares of the time of these cores while the server was measured, by the kernel's clocks; kernel: "
    "interrupts for none of them; without a core: how many threads of a side were ready to run and waited"
)


class CoreShares(NamedTuple):
    """One set of cores, over all trials of a case: `parts` are shares of its time, None where nobody saw one
    of a trial; `programs` are shares of the busiest other programs. `host` is empty where there is one."""

    role: str
    host: str
    cpus: tuple[int, ...]
    parts: Mapping[str, float | None]
    programs: tuple[tuple[str, float], ...]
    waited: tuple[str, ...]

    @property
    def label(self) -> str:
        """Whose cores they are, and which; of several hosts whose, too."""
        numbers = ", ".join(map(str, self.cpus)) if len(self.cpus) <= 4 else f"{len(self.cpus)} cores"
        where = f" on {self.host}" if self.host else ""
        return f"{self.role} ({numbers}){where}" if self.cpus else f"{self.role}{where}"


def shares(accounts: Sequence[TimeAccount]) -> tuple[CoreShares, ...]:
    """The sets of cores of these accounts of one case, a role of a host once. More than a few generators are
    one line."""
    by_role: dict[tuple[str, str], list[CoreTime]] = {}
    for account in accounts:
        generators = len({one.host for one in account.cores if one.role == "generator"})
        for one in account.cores:
            few = one.role != "generator" or generators <= _HOSTS
            where = fmt.safe(one.host, 60) if few else f"{generators} hosts"
            by_role.setdefault((one.role, where), []).append(one)
    return tuple(_together(*key, found, accounts) for key, found in by_role.items())


def _together(role: str, host: str, found: Sequence[CoreTime], accounts: Sequence[TimeAccount]) -> CoreShares:
    time_ns = sum(one.time_ns for one in found) or 1
    parts: dict[str, float | None] = {}
    for name in found[0].parts:
        each = [one.parts[name] for one in found]
        known = [ns for ns in each if ns is not None]
        parts[name] = sum(known) / time_ns if len(known) == len(each) else None
    programs: Counter[str] = Counter()
    for one in found:
        for program in one.programs or ():
            programs[program.name] += program.ns
    busiest = tuple((name, ns / time_ns) for name, ns in programs.most_common(_NAMED) if ns)
    return CoreShares(role, host, found[0].cpus, parts, busiest, tuple(_waited(role, accounts)))


def _waited(role: str, accounts: Sequence[TimeAccount]) -> Iterator[str]:
    """How many threads were ready and waited for these cores, on average."""
    wall_ns = sum(one.wall_ns for one in accounts)
    sides = {"server": [one.server for one in accounts], "generator": [one.generator for one in accounts]}
    for side, threads in sides.items():
        waited_ns = [one.waited_ns for one in threads if one is not None and one.waited_ns is not None]
        if role in (side, "shared") and wall_ns and len(waited_ns) == len(threads):
            yield f"{side} {sum(waited_ns) / wall_ns:.2g}"


def accounts_of(run: Run, found: Sequence[LoadRows]) -> Iterator[tuple[str, str, tuple[TimeAccount, ...]]]:
    """(load, server, its accounts) of every row that has any, in the order of the rows."""
    by_case: dict[str, list[TimeAccount]] = {}
    for trial in run.trials:
        if trial.account is not None:
            by_case.setdefault(trial.case, []).append(trial.account)
    for one in found:
        for row in one.rows:
            if row.case.id in by_case:
                yield one.title, row.name, tuple(by_case[row.case.id])


def of_run(run: Run, found: Sequence[LoadRows]) -> tuple[Section, ...]:
    """The section of a run; none where no trial has an account."""
    several = len(found) > 1
    named = [
        (f"{server}, {load}" if several and load else server, accounts)
        for load, server, accounts in accounts_of(run, found)
    ]
    return _section(named)


def of_load(account: TimeAccount | None) -> tuple[Section, ...]:
    """The section of one load."""
    return _section([("", (account,))] if account is not None else [])


def _section(named: Sequence[tuple[str, Sequence[TimeAccount]]]) -> tuple[Section, ...]:
    lines = [
        _line(fmt.safe(name, 80) if place == 0 else "", one, inner=place > 0)
        for name, accounts in named
        for place, one in enumerate(shares(accounts))
    ]
    unseen = dict.fromkeys(
        fmt.safe(words, 200) for _, accounts in named for one in accounts for words in one.unseen
    )
    told = table("", _COLUMNS, lines, _NOTE) if lines else None
    return section("time", TITLE, told, Items(tuple(unseen)), background=True)


def _line(name: str, one: CoreShares, *, inner: bool) -> TableLine:
    said = {part: fmt.share(share) for part, share in one.parts.items()}
    programs = ", ".join(f"{fmt.safe(program, 40)} {fmt.share(part)}" for program, part in one.programs)
    words = (
        name,
        one.label,
        _both(said, "server"),
        said["services"],
        _both(said, "generator"),
        *(said[part] for part in ("kernel", "stolen", "idle", "unknown")),
        f"{said['others']}: {programs}" if programs else said["others"],
        ", ".join(one.waited),
    )
    return TableLine(tuple(map(Cell, words)), inner=inner)


def _both(said: Mapping[str, str], side: str) -> str:
    """User and kernel time; nothing where neither was seen."""
    pair = (said[f"{side} user"], said[f"{side} kernel"])
    return fmt.UNKNOWN if set(pair) == {fmt.UNKNOWN} else " + ".join(pair)
