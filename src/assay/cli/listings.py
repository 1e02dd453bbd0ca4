"""What is there, what is missing, and the command that brings it; and lists of servers, studies and nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.core import units as fmt
from assay.model.cluster import NodeSeen, Survey
from assay.report.style import HEADING, SEVERITY_STYLE

if TYPE_CHECKING:
    from assay.plan.study import Study
    from assay.runner.doctor import Fitness, Need
    from assay.servers import Server

_YES, _NO = "✓", "✗"


def page(needs: Sequence[Need], machine: Sequence[Fitness], name: str = "The machine") -> RenderableType:
    """The needs of each server and service, then the machine's own fitness."""
    parts: list[RenderableType] = []
    if needs:
        parts += [Text("What the servers need", style=HEADING), _needs(needs), Text("")]
    parts += [Text(name, style=HEADING), _machine(machine)]
    return Group(*parts)


def servers(found: Iterable[Server]) -> RenderableType:
    """The servers by contract, with what they are."""
    table = _table("server", "what it is", "role")
    for server in found:
        table.add_row(server.id, fmt.safe(server.manifest.title), server.manifest.role)
    return table


def studies(found: Iterable[Study]) -> RenderableType:
    """The studies and their questions."""
    table = _table("study", "question", "servers")
    for study in found:
        table.add_row(study.file.name, fmt.safe(study.file.question, 300), str(len(study.servers)))
    return table


def _needs(needs: Sequence[Need]) -> Table:
    table = _table("", "server", "needs", "found, or how to get it")
    for need in needs:
        name = need.name
        for one in need.checked:
            told = (
                one.install or fmt.safe(one.problem, 200)
                if one.problem
                else _version_cell(one.version, one.line)
            )
            table.add_row(_YES if one.fulfilled else _NO, name, one.requirement.name, told)
            name = ""
        if need.built is not None:
            state = "built" if need.built else f"not built yet: assay setup {need.name.partition(' ')[0]}"
            table.add_row(_YES if need.built else "·", name, "build", state)
    return table


def _version_cell(version: str, line: str) -> str:
    return version or fmt.safe(line, 100) or "there"


def _machine(machine: Sequence[Fitness]) -> Table:
    table = _table("", "property", "seen", "what to do")
    for one in machine:
        table.add_row(_YES if one.fit else _NO, one.name, one.state, "" if one.fit else one.remedy)
    return table


def _table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style=HEADING)
    for head in heads:
        table.add_column(head, overflow="fold")
    return table


def nodes(seen: Survey) -> RenderableType:
    """The nodes, by address."""
    made = Table(box=None, pad_edge=False, header_style=HEADING)
    for head in ("node", "roles", "cores", "versions", "clock", "round trip", "link"):
        made.add_column(head, overflow="fold")
    for node in seen.nodes:
        made.add_row(node.address, ", ".join(node.roles) or "none", *_figures(node))
    wrong = [Text(f"✗ {fmt.safe(line, 300)}", SEVERITY_STYLE["warning"]) for line in seen.problems]
    return Group(Text(f"The cluster at {fmt.safe(seen.address)}", HEADING), made, *wrong)


def _figures(node: NodeSeen) -> tuple[str, ...]:
    about, clock = node.about, node.clock
    if about is None or clock is None:
        return ("", "", "", "", "")
    versions = f"Assay {about.assay_version}, engine {about.engine_version}, Linux {about.kernel}"
    ahead, sure = clock.offset_ns / 1e6, clock.uncertainty_ns / 1e6
    links = [
        f"{link.bytes_per_s / 1e6:,.0f} MB/s to {link.server}" for link in node.links if link.bytes_per_s
    ]
    return (
        str(about.cores),
        fmt.safe(versions),
        f"{ahead:+.2f} ± {sure:.2f} ms",
        f"{clock.round_trip_ns / 1e6:.2f} ms",
        ", ".join(links),
    )
