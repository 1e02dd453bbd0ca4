"""The nodes of a cluster as a table, and what is wrong with them in a line each."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.core import format as fmt
from assay.model.cluster import NodeSeen, Survey
from assay.report.style import HEADING, SEVERITY_STYLE


def table(seen: Survey) -> RenderableType:
    """The nodes, by address."""
    made = Table(box=None, pad_edge=False, header_style=HEADING)
    for head in ("node", "roles", "cores", "versions", "clock", "round trip", "link"):
        made.add_column(head, overflow="fold")
    for node in seen.nodes:
        made.add_row(node.address, ", ".join(node.roles) or "none", *_figures(node))
    wrong = [Text(f"✗ {fmt.safe(line, 300)}", SEVERITY_STYLE["flagged"]) for line in seen.problems]
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
