"""Ray, as far as Assay uses it: joining a cluster, and asking agents on its nodes.

The one file that imports Ray. Every way in which Ray fails leaves it as one line: `EnvironmentLacks` where a
cluster cannot be joined, `NodeFailed` where a node cannot do its part, `NodeLost` where a node or an agent
does not answer any more.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

import msgspec

from assay.cluster import versions
from assay.core import extras, urls
from assay.core.errors import AssayError, EnvironmentLacks, InputError, ServerFailed, reason_of
from assay.engine import target_policy
from assay.model.run import Role

ROLES: tuple[Role, ...] = ("generator", "server")

ANSWER_S = 6.0
"""An agent that has not answered for so long is lost. Ray itself takes longer to give a node up."""

Reference: TypeAlias = Any
"""Ray's word for an answer that is still to come."""
Answer: TypeAlias = Any
"""What an agent's method gives; which type that is, its own signature says."""

_KNOCK_S = 3.0
_PLACE_S = 30.0
_THREADS = 16
_START = "`ray start --head` starts one; docs/many-machines.md says how"


class NodeFailed(EnvironmentLacks):
    """A node of the cluster could not do its part of a trial: nothing that its server did."""

    stage = "cluster"


class NodeLost(NodeFailed):
    """A node of the cluster, or Assay's agent on it, does not answer any more."""


class Node(msgspec.Struct, frozen=True):
    """A live node of the cluster."""

    id: str
    address: str
    roles: tuple[Role, ...]


@dataclass(frozen=True)
class Agent:
    """Assay's part on a node: an actor of Ray's that holds the node's resource for its role."""

    node: Node
    handle: Any
    silent: threading.Event = field(default_factory=threading.Event, compare=False)
    """Set once it did not answer in time, until it answers again."""


def resource(role: Role) -> str:
    """What a node of that role is started with: `ray start --resources='{"assay_server": 1}'`."""
    return f"assay_{role}"


@contextlib.contextmanager
def joined(address: str) -> Iterator[None]:
    """Be a driver of the cluster at HOST:PORT. What this driver has started there ends with the block."""
    host, port = _parted(address)
    if lacks := extras.not_installed("ray"):
        raise lacks
    target_policy.ask_leave(
        f"--ray {address}", [endpoint.ip for endpoint in target_policy.look_up(host, port)]
    )
    # A cluster without tokens lets everybody on its network run programs: who wants one has to say so.
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    here = _way_to(host, port, address)
    if os.environ["RAY_AUTH_MODE"] == "token" and not _has_token():  # Ray would end this process
        raise _no_token(address)
    import ray

    heard = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with _silenced():
            from ray._private import worker
            from ray._raylet import GcsClient  # type: ignore[attr-defined]  # a compiled module

            GcsClient(address=address)  # says within milliseconds what `init` tries for 20 s: a wrong token
            worker.print_to_stdstream = _say_nothing  # else it writes of each lost worker to our output
            ray.init(
                address=address, _node_ip_address=here, log_to_driver=False, logging_level=logging.CRITICAL
            )
    except Exception as problem:  # noqa: BLE001 - Ray tells it by RuntimeError, ConnectionError, its own and others
        ray.shutdown()
        raise _not_joined(address, here, problem) from problem
    finally:
        for number, handler in heard.items():  # Ray takes SIGTERM for itself
            signal.signal(number, handler)
    try:
        yield
    finally:
        ray.shutdown()


def nodes() -> tuple[Node, ...]:
    """The live nodes, by address."""
    import ray

    found = [
        Node(
            node["NodeID"],
            node["NodeManagerAddress"],
            tuple(role for role in ROLES if node["Resources"].get(resource(role), 0) >= 1),
        )
        for node in ray.nodes()  # type: ignore[no-untyped-call]  # Ray says no types here
        if node["Alive"]
    ]
    return tuple(sorted(found, key=lambda node: socket.inet_aton(node.address) if _is_v4(node) else b""))


def place(
    kind: type, role: Role | None, chosen: Sequence[Node], within_s: float = _PLACE_S
) -> tuple[Agent, ...]:
    """An agent on each of these nodes, told its address, there and answering; it holds the node's `role`, if
    that is given.

    NodeLost where one cannot be had, EnvironmentLacks where it is of another Assay: all are dismissed then,
    whoever is still on its way, too.
    """
    agents = tuple(send(kind, role, node) for node in chosen)
    try:
        for problem in filter(None, arrived(agents, within_s)):
            raise problem
    except BaseException:
        dismiss(agents)
        raise
    return agents


def send(kind: type, role: Role | None, node: Node) -> Agent:
    """An agent on its way to a node."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    actor: Any = ray.remote(kind)
    handle = actor.options(
        num_cpus=0,
        resources={resource(role): 1} if role else {},
        max_restarts=0,
        max_concurrency=_THREADS,
        scheduling_strategy=NodeAffinitySchedulingStrategy(node.id, soft=False),
    ).remote(node.address)
    return Agent(node, handle)


def arrived(agents: Sequence[Agent], within_s: float = _PLACE_S) -> list[AssayError | None]:
    """Wait until all of them are there and answer; why one does not in time, or may not be asked more."""
    asked = [begin(agent, "hello") for agent in agents]
    until_s = time.monotonic() + within_s
    late = f"did not answer within {within_s:g} s: another run uses it, or Ray cannot start a process"
    problems: list[AssayError | None] = []
    for agent, reference in zip(agents, asked, strict=True):
        left_s = max(0.0, until_s - time.monotonic())
        try:
            theirs = collect(agent, reference, within_s=left_s, late=late)
            versions.refuse_other(agent.node.address, theirs)
        except AssayError as problem:
            problems.append(problem)
        else:
            problems.append(None)
    return problems


def ask_to_end(agent: Agent, what: str, *given: object, within_s: float) -> None:
    """Have an agent end something, and wait until it has. One that is lost does so itself, or as soon as it
    hears of it: where it was silent before, nobody waits."""
    with contextlib.suppress(EnvironmentLacks):
        ask(agent, what, *given, within_s=0 if agent.silent.is_set() else within_s)


def dismiss(agents: Sequence[Agent]) -> None:
    """End agents and all they started."""
    import ray

    for agent in agents:
        with contextlib.suppress(Exception):  # it may be gone already, in any of Ray's ways
            ray.kill(agent.handle)


def begin(agent: Agent, what: str, *given: object) -> Reference:
    """Ask an agent to do something, without waiting."""
    return getattr(agent.handle, what).remote(*given)


def ask(agent: Agent, what: str, *given: object, within_s: float = ANSWER_S) -> Answer:
    """What an agent answers. NodeLost where it does not; what the agent refuses is raised as it was."""
    return collect(agent, begin(agent, what, *given), within_s=within_s)


def ask_all(agents: Sequence[Agent], what: str, *given: object, within_s: float = ANSWER_S) -> list[Answer]:
    """What each of them answers, all asked at once."""
    asked = [begin(agent, what, *given) for agent in agents]
    answers = [(agent, reference) for agent, reference in zip(agents, asked, strict=True)]
    return [collect(agent, reference, within_s=within_s) for agent, reference in answers]


def collect(agent: Agent, reference: Reference, *, within_s: float = ANSWER_S, late: str = "") -> Answer:
    """The answer behind a reference."""
    import ray

    try:
        answer = cast(Wrapped, ray.get(reference, timeout=within_s))
        agent.silent.clear()
        return _unwrapped(agent, answer)
    except ray.exceptions.GetTimeoutError:
        agent.silent.set()
        said = f"node {agent.node.address} {late or f'did not answer within {within_s:g} s'}"
        raise NodeLost(said, "`assay nodes` looks at all of them") from None
    except ray.exceptions.RayTaskError as failed:
        cause = failed.cause if isinstance(failed.cause, Exception) else failed
        raise NodeLost(f"node {agent.node.address}: {_line(cause)}", "is Assay whole there?") from None
    except ray.exceptions.RayError as gone:
        raise NodeLost(f"node {agent.node.address} is lost: {_why(gone)}", "`ray status` says more") from None


def tell(agents: Sequence[Agent], what: str, *given: object, within_s: float) -> None:
    """Have all of them do something, and wait until those have of which an answer can be expected. What comes
    of it is nobody's concern here: a silent one hears of it or ends by itself."""
    asked = [(agent, begin(agent, what, *given)) for agent in agents]
    ended([reference for agent, reference in asked if not agent.silent.is_set()], within_s)


def ended(references: Sequence[Reference], timeout_s: float) -> bool:
    """Wait for all of them, for at most so long; whether all are there, as an answer or as a failure."""
    import ray

    there, _ = ray.wait(list(references), num_returns=len(references), timeout=max(0.0, timeout_s))
    return len(there) == len(references)


def broken(agents: Sequence[Agent], references: Sequence[Reference]) -> None:
    """Raise what came of those that have ended badly already."""
    import ray

    there, _ = ray.wait(list(references), num_returns=len(references), timeout=0)
    for agent, reference in zip(agents, references, strict=True):
        if reference in there:
            collect(agent, reference, within_s=ANSWER_S)


Wrapped = tuple[str, Any]


def wrapped(call: Callable[[], Any]) -> Wrapped:
    """On a node: what the call gives, or what is to be raised again at the driver."""
    try:
        return ("ok", call())
    except ServerFailed as failed:
        return ("server", (failed.stage, failed.message, failed.log_tail))
    except InputError as refused:
        return ("input", (refused.message, refused.remedy))
    except AssayError as lacking:
        return ("lacking", (lacking.message, lacking.remedy))
    except OSError as failed:
        return ("system", (failed.strerror or str(failed), str(failed.filename or "")))


def _unwrapped(agent: Agent, answer: Wrapped) -> Answer:
    """What was given, or what went wrong there, with the node's name: here it may be all right."""
    kind, value = answer
    if kind == "ok":
        return value
    if kind == "server":
        raise ServerFailed(*value)
    if kind == "system":
        said, where = value
        place = f" ({where})" if where else ""
        raise NodeFailed(f"node {agent.node.address}: {said.lower()}{place}", "see to it there")
    said, remedy = value
    raise (InputError if kind == "input" else NodeFailed)(f"node {agent.node.address}: {said}", remedy)


def _parted(address: str) -> tuple[str, int]:
    remedy = "the head's address, as `ray start` prints it"
    try:
        host, port = urls.host_and_port(address)
    except ValueError as problem:
        raise InputError(f"--ray {address!r} is no HOST:PORT: {problem}", remedy) from None
    if port is None:
        raise InputError(f"--ray {address!r} is no HOST:PORT", remedy)
    return host, port


def _way_to(host: str, port: int, address: str) -> str:
    """This machine's address on the way to the head, which is known by it to Ray."""
    try:
        with socket.create_connection((host, port), timeout=_KNOCK_S) as way:
            found: str = way.getsockname()[0]
            return found
    except OSError as error:
        raise EnvironmentLacks(f"no Ray cluster answers at {address}: {reason_of(error)}", _START) from None


def _has_token() -> bool:
    """Whether there is a token where Ray looks for one."""
    path = os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token"
    with contextlib.suppress(OSError):
        return bool(os.environ.get("RAY_AUTH_TOKEN") or Path(path).read_text().strip())
    return False


def _no_token(address: str) -> EnvironmentLacks:
    return EnvironmentLacks(
        f"the cluster at {address} does not take our token",
        "set RAY_AUTH_TOKEN_PATH to a file with the cluster's, or RAY_AUTH_MODE=disabled if it has none",
    )


def _not_joined(address: str, here: str, problem: Exception) -> EnvironmentLacks:
    said, kind = " ".join(str(problem).split()), type(problem).__name__
    words = said.lower()
    if "version mismatch" in words:
        return EnvironmentLacks(
            f"the cluster at {address} has another Ray or Python: {_short(said)}",
            "install the same versions on all machines",
        )
    if "auth" in kind.lower() or "auth" in words or "token" in words:
        return _no_token(address)
    if "raylet" in words or "node_ip_address" in words or "node ip" in words:
        return EnvironmentLacks(
            f"this machine ({here}) is no node of the cluster at {address}",
            f"`ray start --address={address} --num-cpus=0` makes it one",
        )
    return EnvironmentLacks(f"the cluster at {address} cannot be joined: {_short(said)}", _START)


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    """Keep what Ray's own threads print while it joins off the screen: ours is one line."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _say_nothing(data: object, ignore_prefix: bool) -> None:  # noqa: FBT001 - Ray's own signature
    """What Ray tells of a lost process, we tell ourselves, in one line and where it belongs."""


def _why(gone: Exception) -> str:
    return "its Ray node is gone" if "node has died" in str(gone) else "Assay's process there is gone"


def _line(problem: Exception) -> str:
    return _short(f"{type(problem).__name__}: {' '.join(str(problem).split())}")


def _short(text: str, most: int = 200) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _is_v4(node: Node) -> bool:
    return node.address.count(".") == 3
