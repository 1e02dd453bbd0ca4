"""What a request costs, as a report says it: a sentence for each pair, the table, what could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from assay.core import units as fmt
from assay.model.estimate import Estimate
from assay.model.run import Run
from assay.report.document import Cell, Column, Table, TableLine, table
from assay.report.model.rows import LoadRows, short_name
from assay.stats import costs as why
from assay.stats.costs import ByBlock, Quantity

_NOTHING = {"", fmt.UNKNOWN, "0", "0 B", "0 ns"}
"""What a line is left out for, where no server has more."""
_MOST_SERVERS = 6
_MOST_SENTENCES = 3
_MOST_CALLS = 10
_MOST_REASONS = 2
_LEAST_RELATIVE = 0.1
"""A quantity that differs by less is named as no reason."""

_REASONS = (
    ("system_calls", "makes {0} system calls for an answer, {other} {1}", 0.1),
    ("instructions", "executes {0} instructions for an answer, {other} {1}", 100.0),
    ("voluntary_switches", "gives up its core {0} times for an answer, {other} {1}", 0.05),
    ("segments_out", "sends {0} TCP segments for an answer, {other} {1}", 0.1),
    ("minor_faults", "takes {0} page faults for an answer, {other} {1}", 0.05),
    ("services_ns", "has services work {0} for an answer, {other} {1}", 1_000.0),
    ("bytes_out", "sends {0} for an answer, {other} {1}", 200.0),
)
"""What may come with more CPU time, in the order in which it is named, and the least difference."""


class CostSection(msgspec.Struct, frozen=True):
    """What a request costs at one load: the sentences first."""

    sentences: tuple[str, ...]
    tables: tuple[Table, ...]


def cost_sections(run: Run, found: Sequence[LoadRows]) -> tuple[CostSection, ...]:
    """What a request costs at each load at which it was counted."""
    made = []
    for section in found:
        counted = _counted(run, section)
        if counted:
            of = f": {fmt.safe(section.title)}" if section.title else ""
            made.append(cost_section(f"What a request costs{of}", counted))
    return tuple(made)


def cost_section(title: str, counted: Mapping[str, ByBlock]) -> CostSection:
    """What a request costs each of these servers; where nothing was counted, why not."""
    said = tuple(sentences(counted))
    if not said:
        said = tuple(dict.fromkeys(fmt.safe(text) for of in counted.values() for text in why.missing(of)))
    return CostSection(said, tuple(_tables(title, counted)))


def _counted(run: Run, section: LoadRows) -> dict[str, ByBlock]:
    """What was counted, by the names of those that compete; of a single server also where none does."""
    rows = section.candidates or section.rows
    by_name = {short_name(row.case): why.costs_by_block(run, row.case.id) for row in rows[:_MOST_SERVERS]}
    return {fmt.safe(name, 40): of for name, of in by_name.items() if of}


def sentences(counted: Mapping[str, ByBlock]) -> Iterator[str]:
    """Why the first, the fastest, is faster than each other; of a single server what its answer costs."""
    [first, *others] = counted.items()
    if not others:
        yield from _alone(*first)
    for other in others[:_MOST_SENTENCES]:
        yield from _pair(*first, *other)


def _alone(name: str, of: ByBlock) -> Iterator[str]:
    cpu, kernel, calls = (why.cost(of, why.BY_NAME[one]) for one in ("cpu_ns", "kernel_ns", "system_calls"))
    if cpu is None:
        return
    said = f"{name} spends {fmt.time(cpu.value)} of CPU a request"
    said += f", {_like(cpu.value, kernel.value)} of them in the kernel" if kernel else ""
    made = f": it makes {_amount('count', calls.value)} system calls for an answer" if calls else ""
    yield f"{said}{made}."


def _pair(name_a: str, a: ByBlock, name_b: str, b: ByBlock) -> Iterator[str]:
    more = why.difference(a, b, why.BY_NAME["cpu_ns"])
    if more is None:
        return
    if not why.is_shown(more):
        yield f"{name_a} and {name_b} spend alike CPU a request: {name_b} {_signed(more)}."
    elif more.value > 0:
        yield _spends_more(name_b, b, name_a, a)
    else:
        yield _spends_more(name_a, a, name_b, b)
    yield from _explained(name_a, a, name_b, b)


def _spends_more(name: str, of: ByBlock, other: str, less: ByBlock) -> str:
    more = why.difference(less, of, why.BY_NAME["cpu_ns"])
    kernel = why.difference(less, of, why.BY_NAME["kernel_ns"])
    assert more is not None and more.low is not None and more.high is not None  # shown to be more
    said = f"{name} spends {fmt.time(more.value)} more CPU a request [{_ends(more)}]"
    if kernel is not None:
        where, part = ("the kernel", kernel.value) if kernel.value >= more.value / 2 else (
            "user mode", more.value - kernel.value)  # fmt: skip
        part_said = "all" if part >= 0.95 * more.value else _like(more.value, part)
        said += f", {part_said} of {'it' if part_said == 'all' else 'them'} in {where}"
    reasons = list(_reasons(of, other, less))[:_MOST_REASONS]
    return f"{said}{': it ' if reasons else ''}{', and '.join(reasons)}."


def _reasons(of: ByBlock, other: str, less: ByBlock) -> Iterator[str]:
    """What it also has more of, shown and by enough: in the order of what costs most."""
    for name, words, least in _REASONS:
        quantity = why.BY_NAME[name]
        more, here = why.difference(less, of, quantity), why.cost(of, quantity)
        there = why.cost(less, quantity)
        if more is None or here is None or there is None or not why.is_shown(more):
            continue
        if more.value >= max(least, _LEAST_RELATIVE * there.value):
            amounts = (_amount(quantity.unit, one.value) for one in (here, there))
            yield words.format(*amounts, other=other)


def _explained(name_a: str, a: ByBlock, name_b: str, b: ByBlock) -> Iterator[str]:
    """How much of the ratio the CPU time of a request makes, and what is left."""
    apart = why.explained(a, b)
    if apart is None or apart.ratio.low is None or apart.ratio.high is None:
        return
    if apart.ratio.low <= 1 <= apart.ratio.high:
        return
    parts = (
        f"{name_a} serves {_times(apart.ratio)} {name_b} in the counted slices: "
        f"the CPU time of a request makes {_times(apart.by_cpu)} of it"
    )
    busy = f"{name_a} kept {apart.busy_a:.2f} cores busy, {name_b} {apart.busy_b:.2f}"
    left = apart.by_busy
    alike = left.low is not None and left.high is not None and left.low <= 1 <= left.high
    if alike and apart.is_full:
        yield f"{parts}, and nothing else is shown ({busy})."
    elif alike:
        yield f"{parts}, but their cores were not full ({busy}): CPU time does not limit them."
    else:
        yield f"{parts}; {_times(left)} is left, which it does not explain: {busy}."


def _times(factor: Estimate) -> str:
    value, low, high = fmt.times(factor.value), factor.low, factor.high
    return f"{value}×" if low is None or high is None else f"{value}× [{fmt.end(low)}, {fmt.end(high)}]"


# --- figures --------------------------------------------------------------------------------

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def _like(ns: float, part_ns: float) -> str:
    """A part of a time in that time's unit, without it: "2.90"."""
    by = next((by for by, _ in _UNITS if abs(ns) >= by), 1.0)
    return fmt.significant(part_ns / by)


def _ends(time: Estimate) -> str:
    return ", ".join(_like(time.value, end) for end in (time.low, time.high) if end is not None)


def _amount(unit: str, value: float) -> str:
    sign, size = ("−" if value < 0 else ""), abs(value)
    if unit in ("time", "bytes"):
        return sign + (fmt.time(size) if unit == "time" else fmt.size(size))
    if size < 0.0005:
        return "0"
    if size < 10:
        return sign + fmt.significant(size, 2)
    return sign + (fmt.grouped(size) if size >= 1000 else f"{size:.1f}")


def _signed(more: Estimate) -> str:
    """A difference with its interval: "+0.2 µs [−0.1, +0.5]"."""
    sign = "+" if more.value >= 0 else ""
    ends = f" [{_ends(more)}]" if more.low is not None and more.high is not None else ""
    return f"{sign}{_amount('time', more.value)}{ends}"


def _difference(more: Estimate | None, unit: str) -> str:
    if more is None:
        return ""
    sign = "+" if more.value >= 0 else ""
    said = f"{sign}{_amount(unit, more.value)}"
    if more.low is None or more.high is None:
        return said
    return f"{said} [{_amount(unit, more.low)}, {_amount(unit, more.high)}]"


# --- tables ---------------------------------------------------------------------------------


def _tables(title: str, counted: Mapping[str, ByBlock]) -> Iterator[Table]:
    names = list(counted)
    columns = [Column("quantity", "for one answer", key=True)]
    columns += [Column(f"server {place}", name, right=True) for place, name in enumerate(names)]
    columns += [Column("difference", "more [95 %]")] if len(names) == 2 else []
    lines = [_line(counted, one) for one in why.QUANTITIES if not _is_worse_than_another(counted, one)]
    filled = [line for line in lines if {cell.text for cell in line.cells[1 : 1 + len(names)]} - _NOTHING]
    notes = [f"more is {names[1]} less {names[0]}, paired by block"] if len(names) == 2 else []
    notes += dict.fromkeys(fmt.safe(text) for of in counted.values() for text in why.missing(of))
    yield table(title, columns, filled, "; ".join(notes))
    yield from _calls(counted)


def _is_worse_than_another(counted: Mapping[str, ByBlock], quantity: Quantity) -> bool:
    """Whether a better count of the same is there: all system calls, or exact context switches."""
    if quantity.name == "calls_at_least":
        return all(why.cost(of, why.BY_NAME["system_calls"]) for of in counted.values())
    if quantity.name == "switches":
        return not any(why.is_lower_bound(of, "voluntary_switches") for of in counted.values())
    return False


def _line(counted: Mapping[str, ByBlock], quantity: Quantity) -> TableLine:
    cells = [Cell(quantity.title)]
    for of in counted.values():
        found = why.cost(of, quantity)
        bound = "≥ " if found and why.is_lower_bound(of, quantity.name) else ""
        cells.append(Cell(bound + _amount(quantity.unit, found.value) if found else ""))
    if len(counted) == 2:
        [first, second] = counted.values()
        more = why.difference(first, second, quantity)
        cells.append(Cell(_difference(more, quantity.unit), "strong" if why.is_shown(more) else "plain"))
    return TableLine(tuple(cells), inner=quantity.name in ("user_ns", "kernel_ns"))


def _calls(counted: Mapping[str, ByBlock]) -> Iterator[Table]:
    """System calls by name, of the servers of which they were seen."""
    by_server = {name: why.calls_by_name(of) for name, of in counted.items()}
    sums: dict[str, float] = {}
    for calls in by_server.values():
        for call, number in calls.items():
            sums[call] = sums.get(call, 0.0) + number
    if not sums:
        return
    shown = sorted(sums, key=lambda call: -sums[call])[:_MOST_CALLS]
    columns = [Column("call", "system call", key=True)]
    columns += [Column(f"server {place}", name, right=True) for place, name in enumerate(by_server)]
    counts = (
        (call, *(_amount("count", calls.get(call, 0.0)) for calls in by_server.values())) for call in shown
    )
    lines = (TableLine(tuple(map(Cell, words))) for words in counts)
    yield table("System calls of an answer, by name", columns, lines, "sampled in loads of their own")
