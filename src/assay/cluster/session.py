"""A cluster as a command uses it: joined, its nodes looked at, versions compared, generators chosen."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from assay.cluster import calls
from assay.cluster.agent import LINK_ANSWER_S, LINK_WRITTEN_S, GeneratorAgent, NodeAgent
from assay.cluster.calls import Agent, Node
from assay.cluster.generators import Generators, Member, connections_of
from assay.cluster.generators_slices import read_clocks
from assay.cluster.server_agent import ServerAgent
from assay.cluster.site import FarSite, patiently
from assay.core import urls
from assay.core.errors import AssayError, EnvironmentLacks, InputError
from assay.core.settings import Settings
from assay.core.units import counted
from assay.engine.target_policy import first_hops, outsiders
from assay.model.plan import LoadPlan
from assay.model.run import About, LinkSeen, NodeSeen, Role, Survey
from assay.plan.resolved import ResolvedRun
from assay.runner.bench import Where
from assay.runner.doctor import Fitness, Need
from assay.servers.cores import CoreSplit

_CLOCK_ALARM_NS = 2_000_000


def survey(address: str) -> Survey:
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
                rate = calls.ask(agent, "link_to", where, port, LINK_WRITTEN_S, within_s=LINK_ANSWER_S)
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


HEARTBEAT_S = 2.0
"""An agent that is asked so often is not forgotten (`agent.FORGOTTEN_S`)."""


class Chosen(msgspec.Struct, frozen=True):
    """An agent of one role, and its machine."""

    agent: Agent
    about: About


@contextlib.contextmanager
def agents(kind: type[NodeAgent], role: Role, nodes: Sequence[Node]) -> Iterator[tuple[Chosen, ...]]:
    """An agent on each of the nodes for as long as the block lasts, of this version of Assay.

    EnvironmentLacks names the node where another version is installed, or none.
    """
    placed = calls.place(kind, role, nodes)
    try:
        told = calls.ask_all(placed, "about")
        chosen = tuple(
            Chosen(agent, msgspec.json.decode(answer, type=About))
            for agent, answer in zip(placed, told, strict=True)
        )
        yield chosen
    finally:
        calls.dismiss(placed)


def with_role(address: str, role: Role, count: int | None, beside: Sequence[Node] = ()) -> tuple[Node, ...]:
    """`count` nodes of that role, all without a count; those first that play no other, last those `beside`
    which something else goes on already. EnvironmentLacks where there are too few."""
    playing = [node for node in calls.nodes() if role in node.roles]
    found = tuple(sorted(playing, key=lambda node: (node in beside, len(node.roles))))
    if not found:
        start = f"ray start --address={address} --resources='{{\"{calls.resource(role)}\": 1}}'"
        raise EnvironmentLacks(f"no node of the cluster at {address} is a {role}", f"start one: {start}")
    if count is not None and count > len(found):
        there = counted(len(found), role)
        raise EnvironmentLacks(
            f"the cluster at {address} has {there}, {count} were asked for", "`assay nodes` lists its nodes"
        )
    return found[:count]


@contextlib.contextmanager
def generators(
    address: str, count: int | None, plan: LoadPlan, threads: int | None = None
) -> Iterator[tuple[Generators, LoadPlan]]:
    """Generators for a load on a server that stands somewhere, and the plan with their workers: `threads` in
    all, where that is given.

    `plan` is settled: where it leads beyond private networks, the driver has leave; the cores that it names
    are those of each generator. InputError where it has not something for each of them to do.
    """
    if plan.hosts:
        raise InputError("a cluster loads one host", "leave out requests to the others")
    with contextlib.ExitStack() as opened:
        opened.enter_context(calls.joined(address))
        nodes = with_role(address, "generator", count)
        _refuse_idlers(connections_of(plan), "connection", nodes)
        _refuse_idlers(threads, "thread", nodes)
        chosen = opened.enter_context(agents(GeneratorAgent, "generator", nodes))
        _refuse_cores(plan.cpus, chosen)
        hops = first_hops(plan)
        serving = calls.ask_all([one.agent for one in chosen], "is_among", hops)
        members = tuple(
            Member(
                one.agent,
                one.about,
                same_machine=serves,
                shares_cores=serves,
                chosen_cpus=plan.cpus or (() if serves else None),  # nobody knows which are its server's
            )
            for one, serves in zip(chosen, serving, strict=True)
        )
        _reachable(members, plan)
        made = Generators(members, allowed=bool(outsiders(hops)), threads=threads)
        yield made, made.planned(plan)


@contextlib.contextmanager
def whereabouts(
    address: str,
    count: int | None,
    settings: Settings,
    external: Sequence[tuple[str, int]] = (),
    threads: int | None = None,
) -> Iterator[tuple[Where, CoreSplit]]:
    """Where a run with servers of its own takes place: a server node and generators, and its cores.

    Each load has `threads` workers in all, where that is given. `external` are hosts and ports of servers
    that nobody starts: EnvironmentLacks where a generator does not get to one.
    """
    with contextlib.ExitStack() as opened:
        opened.enter_context(calls.joined(address))
        [node] = with_role(address, "server", 1)
        [server] = opened.enter_context(agents(ServerAgent, "server", [node]))
        nodes = with_role(address, "generator", count, beside=[node])
        _refuse_idlers(threads, "thread", nodes)
        chosen = opened.enter_context(agents(GeneratorAgent, "generator", nodes))
        opened.enter_context(kept_in_mind(server.agent))
        members = with_links([Member(one.agent, one.about) for one in chosen], server)
        for host, port in external:
            _reached(members, host, port)
        site = FarSite(server.agent)
        site.send(settings)
        both = node in nodes
        cpus = server.about.server_cpus if both else server.about.cpus
        members = tuple(replace(one, shares_cores=_shares_cores(one, cpus)) for one in members)
        rates = [rate for member in members if (rate := member.link_bytes_per_s) is not None]
        where = Where(
            generator=Generators(members, threads=threads),
            site=site,
            same_machine=any(member.same_machine for member in members),
            link_bytes_per_s=sum(rates) if len(rates) == len(members) else None,
            nodes=(node.address, *(member.agent.node.address for member in members)),
        )
        yield where, CoreSplit(client=(), server=cpus, cores=server.about.cores)


def _shares_cores(member: Member, server: Sequence[int]) -> bool:
    """Whether those of a server that may run on these are among the member's."""
    return member.same_machine and (not server or not member.cpus or bool({*server} & {*member.cpus}))


def examined(
    address: str, settings: Settings, study: ResolvedRun | None
) -> dict[str, tuple[tuple[Need, ...], tuple[Fitness, ...]]]:
    """What is there and what is missing on each server node, by its address."""
    with (
        calls.joined(address),
        agents(ServerAgent, "server", with_role(address, "server", None)) as chosen,
    ):
        for one in chosen:
            FarSite(one.agent).send(settings)
        return {one.agent.node.address: patiently(one.agent, "examine", study) for one in chosen}


def with_links(members: Sequence[Member], server: Chosen) -> tuple[Member, ...]:
    """The generators with what their ways to the server carry, all measured at the same time: what they
    carry together is what a load of all can have."""
    agents_of = [member.agent for member in members]
    port = calls.ask(server.agent, "open_sink")
    try:
        to = (server.agent.node.address, port, LINK_WRITTEN_S)
        rates = calls.ask_all(agents_of, "link_to", *to, within_s=LINK_ANSWER_S)
    finally:
        calls.ask(server.agent, "close_sinks")
    return tuple(
        replace(
            member,
            link_bytes_per_s=rate,
            same_machine=member.about.kernel_id == server.about.kernel_id,
            server_too=member.agent.node.id == server.agent.node.id,
        )
        for member, rate in zip(members, rates, strict=True)
    )


@contextlib.contextmanager
def kept_in_mind(agent: Agent) -> Iterator[None]:
    """Ask an agent now and then while the block lasts.

    It ends its programs once it hears nothing of the driver, who may be busy for as long elsewhere: with the
    clocks of a thousand generators, say, or with a node that comes back.
    """
    done = threading.Event()

    def ask() -> None:
        while not done.wait(HEARTBEAT_S):
            with contextlib.suppress(AssayError):  # who needs the agent is told when asking it
                calls.ask(agent, "hello")

    asking = threading.Thread(target=ask, name="heartbeat", daemon=True)
    asking.start()
    try:
        yield
    finally:
        done.set()
        asking.join()


def _refuse_cores(cpus: Sequence[int], chosen: Sequence[Chosen]) -> None:
    """InputError names the first generator that lacks one of the cores."""
    for one in chosen:
        lacking = sorted(set(cpus) - set(one.about.cpus)) if one.about.cpus else []
        if lacking:
            raise InputError(
                f"generator {one.agent.node.address} has no core {lacking[0]}",
                "--cpus names cores that each generator has",
            )


def _refuse_idlers(of_load: int | None, what: str, nodes: Sequence[Node]) -> None:
    """InputError where there are fewer of these than generators: somebody asked for them all."""
    if of_load is not None and of_load < len(nodes):
        raise InputError(
            f"{counted(of_load, what)} cannot be dealt to {counted(len(nodes), 'generator')}",
            f"ask for more {what}s, or fewer generators",
        )


def _reachable(members: Sequence[Member], plan: LoadPlan) -> None:
    """EnvironmentLacks names the first generator that does not get to a server on TCP."""
    if plan.http == "3":
        return
    hop, port = first_hop(plan)
    if hop.startswith("unix:"):
        raise InputError("a unix socket is on one machine", "write the server's address")
    _reached(members, hop, port)


def _reached(members: Sequence[Member], hop: str, port: int) -> None:
    """EnvironmentLacks names the first generator that does not get there."""
    said = calls.ask_all([member.agent for member in members], "knock", hop, port)
    for member, problem in zip(members, said, strict=True):
        if problem:
            own = hop.startswith("127.") or hop in ("localhost", "::1")
            raise EnvironmentLacks(
                f"generator {member.agent.node.address} cannot reach {hop}:{port}: {problem}",
                "there it is that machine itself: write the server's address"
                if own
                else "is there a way from it, and does a firewall let it through?",
            )


def first_hop(plan: LoadPlan) -> tuple[str, int]:
    """Host and port that the plan's first connection is opened to."""
    port = urls.parse(plan.proxy or plan.url).known_port
    [hop, *_] = first_hops(plan)
    given = plan.addresses[0] if plan.addresses and plan.proxy is None else ""
    tail = given.rpartition(":")[2]
    named = given.startswith("[") or given.count(":") == 1
    return hop, int(tail) if named and tail.isdecimal() else port
