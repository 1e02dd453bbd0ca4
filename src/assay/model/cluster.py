"""Nodes of a cluster: what they say of themselves, and what was seen of them."""

from __future__ import annotations

from typing import Literal

from assay.model.plan import Value
from assay.model.trial import ClockSeen

Role = Literal["generator", "server"]
"""What a node does: `ray start --resources='{"assay_generator": 1}'` makes it a generator."""


class About(Value, frozen=True, kw_only=True):
    """A node: its machine and the versions there.

    `kernel_id` is the same for all that share a kernel. `cpus` are those that Ray's processes may use,
    `client_cpus` and `server_cpus` how they are split where both roles are played.
    """

    hostname: str
    os: str
    kernel: str
    cpu_model: str
    cores: int
    cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]
    server_cpus: tuple[int, ...]
    kernel_id: str
    assay_version: str
    engine_version: str
    python: str


class LinkSeen(Value, frozen=True, kw_only=True):
    """What a node's way to a server node was measured to carry, or why it was not."""

    server: str
    bytes_per_s: float | None = None
    problem: str = ""


class NodeSeen(Value, frozen=True, kw_only=True):
    """A node as `assay nodes` sees it: its machine and clock, or what is wrong with it."""

    address: str
    roles: tuple[Role, ...]
    about: About | None = None
    clock: ClockSeen | None = None
    links: tuple[LinkSeen, ...] = ()
    problem: str = ""


class Survey(Value, frozen=True, kw_only=True):
    """All nodes of a cluster, and what is wrong, in a line each."""

    address: str
    nodes: tuple[NodeSeen, ...]
    problems: tuple[str, ...] = ()
