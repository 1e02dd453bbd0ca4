"""A look at every node of a cluster: what `assay nodes` tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from assay.cluster import calls, link
from assay.cluster.agent import NodeAgent
from assay.cluster.calls import Agent
from assay.cluster.generators import read_clocks
from assay.core.errors import AssayError
from assay.model.cluster import About, LinkSeen, NodeSeen, Role, Survey

_CLOCK_ALARM_NS = 2_000_000


def of(address: str) -> Survey:
    """Every node of the cluster at HOST:PORT. EnvironmentLacks where it cannot be joined."""
    with calls.joined(address):
        there = calls.nodes()
        sent = [calls.send(NodeAgent, node.roles[0] if node.roles else None, node) for node in there]
        try:
            seen = list(map(_node_seen, sent, calls.arrived(sent)))
            whole = [agent for agent, node in zip(sent, seen, strict=True) if not node.problem]
            seen = _with_links(seen, whole)
        finally:
            calls.dismiss(sent)
    return Survey(address=address, nodes=tuple(seen), problems=tuple(_problems(seen)))


def _node_seen(agent: Agent, problem: AssayError | None) -> NodeSeen:
    node = agent.node
    try:
        if problem is not None:
            raise problem
        about = msgspec.json.decode(calls.ask(agent, "about"), type=About)
        [clock] = read_clocks([agent])
    except AssayError as wrong:
        return NodeSeen(address=node.address, roles=node.roles, problem=str(wrong))
    return NodeSeen(address=node.address, roles=node.roles, about=about, clock=clock)


def _with_links(seen: Sequence[NodeSeen], placed: Sequence[Agent]) -> list[NodeSeen]:
    """Each generator's way to each server node, one at a time. What a node cannot do is told of that node."""
    found: dict[str, list[LinkSeen]] = {}
    generators = [agent for agent in placed if "generator" in agent.node.roles]
    for server in (agent for agent in placed if "server" in agent.node.roles):
        where = server.node.address

        def failed(node: str, problem: AssayError, where: str = where) -> None:
            found.setdefault(node, []).append(LinkSeen(server=where, problem=str(problem)))

        try:
            port = calls.ask(server, "open_sink")
        except AssayError as problem:
            failed(where, problem)
            continue
        for agent in generators:
            if agent is server:
                continue
            try:
                rate = calls.ask(agent, "link_to", where, port, link.LOOK_S, within_s=link.ANSWER_S)
                found.setdefault(agent.node.address, []).append(LinkSeen(server=where, bytes_per_s=rate))
            except AssayError as problem:
                failed(agent.node.address, problem)
        try:
            calls.ask(server, "close_sinks")
        except AssayError as problem:
            failed(where, problem)
    return [msgspec.structs.replace(node, links=tuple(found.get(node.address, ()))) for node in seen]


def _problems(seen: Sequence[NodeSeen]) -> Iterator[str]:
    """What is wrong, in a line each."""
    for node in seen:
        if node.problem:
            yield node.problem
        if node.clock and node.clock.uncertainty_ns > _CLOCK_ALARM_NS:
            wide = node.clock.uncertainty_ns / 1e6
            yield f"the clock of {node.address} is known to {wide:.1f} ms only: its network is slow or busy"
        yield from (way.problem for way in node.links if way.problem)
    roles: tuple[Role, ...] = calls.ROLES
    for role in roles:
        if not any(role in node.roles for node in seen):
            yield f"no node is a {role}: ray start --resources='{{\"{calls.resource(role)}\": 1}}' makes one"
