"""Where a run takes place: what offers its loads, and where its servers run."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.engine.generator import Generator, ThisProcess
from assay.servers.site import Site


@dataclass(frozen=True)
class Where:
    """This process and this machine, unless a cluster takes their place.

    `link_bytes_per_s` is what the way between them was measured to carry, `same_machine` whether they share
    one; both are known of a cluster alone, here the loopback is measured.
    """

    generator: Generator = field(default_factory=ThisProcess)
    site: Site = field(default_factory=Site)
    same_machine: bool = True
    link_bytes_per_s: float | None = None
    nodes: tuple[str, ...] = ()


HERE = Where()
