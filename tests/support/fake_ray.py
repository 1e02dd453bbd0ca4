"""Ray within this process, as far as Assay uses it: agents are objects here, and asked on threads.

For what would take minutes on a cluster, and for faults at a known moment. Real ones are in tests/e2e.
"""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assay.cluster import calls
from assay.cluster.agent import NodeAgent
from assay.model.run import Role

ADDRESS = "127.0.0.1:6379"
FIRST, SECOND, THIRD = "127.0.0.1", "127.0.0.2", "127.0.0.3"


class RayError(Exception):
    """What all of Ray's errors are."""


class GetTimeoutError(RayError):
    """No answer in time."""


class RayTaskError(RayError):
    """What was asked ended badly on the node."""

    def __init__(self, cause: BaseException | None) -> None:
        """Keep what it was."""
        super().__init__(str(cause))
        self.cause = cause


@dataclass(eq=False)
class Handle:
    """An agent. `cut` off, it says nothing, and what it does goes on; `gone`, it is no more."""

    node: str
    held: str
    agent: NodeAgent | None
    cut: bool = False
    gone: bool = False
    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(16))

    def __getattr__(self, what: str) -> types.SimpleNamespace:
        if what.startswith("_"):
            raise AttributeError(what)
        return types.SimpleNamespace(remote=partial(self._asked, what))

    def _asked(self, what: str, *given: object) -> Answer:
        if self.agent is None or self.gone:
            return Answer(self, Future())
        return Answer(self, self.threads.submit(getattr(self.agent, what), *given))


@dataclass(eq=False)
class Answer:
    """What is still to come from an agent."""

    handle: Handle
    future: Future[Any]

    @property
    def silent(self) -> bool:
        """Whether nothing will come of it: a node that is cut off, or one that another run uses."""
        return self.handle.cut or self.handle.agent is None


@dataclass
class FakeRay:
    """A cluster of these nodes, by address, with their roles; and the agents that were placed."""

    roles: Mapping[str, Sequence[Role]]
    handles: list[Handle] = field(default_factory=list)
    away: set[str] = field(default_factory=set)
    """The nodes on which nothing can be placed: they are cut off."""

    def of(self, node: str) -> Handle:
        """The agent that was placed there last."""
        return [handle for handle in self.handles if handle.node == node][-1]

    def nodes(self) -> list[dict[str, Any]]:
        """As Ray lists them."""
        return [
            {
                "NodeID": address,
                "NodeManagerAddress": address,
                "Alive": True,
                "Resources": {calls.resource(role): 1.0 for role in roles},
            }
            for address, roles in self.roles.items()
        ]

    def remote(self, kind: type[NodeAgent]) -> types.SimpleNamespace:
        """What makes agents of that kind."""

        def options(
            *, resources: Mapping[str, float], scheduling_strategy: str, **_: object
        ) -> types.SimpleNamespace:
            return types.SimpleNamespace(remote=partial(self._placed, kind, scheduling_strategy, resources))

        return types.SimpleNamespace(options=options)

    def _placed(self, kind: type[NodeAgent], node: str, wanted: Mapping[str, float], address: str) -> Handle:
        held = next(iter(wanted), "")
        taken = any(one.held == held != "" and one.node == node and not one.gone for one in self.handles)
        made = Handle(node, held, None if taken or node in self.away else kind(address))
        self.handles.append(made)
        return made

    def get(self, reference: Answer, timeout: float) -> object:
        """The answer."""
        if reference.handle.gone:
            raise RayError("the actor died")
        if reference.silent:
            raise GetTimeoutError
        try:
            return reference.future.result(timeout)
        except TimeoutError:
            raise GetTimeoutError from None
        except Exception as problem:  # noqa: BLE001 - as Ray does with whatever it is
            raise RayTaskError(problem) from problem

    def wait(
        self, references: Sequence[Answer], num_returns: int, timeout: float
    ) -> tuple[list[Answer], list[Answer]]:
        """Which of them are there, and which are not."""
        for reference in references:
            if not reference.silent and not reference.handle.gone:
                with contextlib.suppress(TimeoutError):
                    reference.future.exception(timeout)
        there = [one for one in references if one.handle.gone or (one.future.done() and not one.silent)]
        return there[:num_returns], [one for one in references if one not in there]

    def kill(self, handle: Handle) -> None:
        """End an agent's process."""
        handle.gone = True
        if handle.agent is not None:
            handle.agent.forgotten()
        handle.threads.shutdown(wait=False)


@contextlib.contextmanager
def running(monkeypatch: pytest.MonkeyPatch, roles: Mapping[str, Sequence[Role]]) -> Iterator[FakeRay]:
    """Have `import ray` give a cluster of these nodes; agents that are left are ended."""
    fake = FakeRay(roles)
    module = types.ModuleType("ray")
    module.__dict__.update(
        nodes=fake.nodes,
        remote=fake.remote,
        get=fake.get,
        wait=fake.wait,
        kill=fake.kill,
        exceptions=types.SimpleNamespace(
            RayError=RayError, GetTimeoutError=GetTimeoutError, RayTaskError=RayTaskError
        ),
    )
    strategies = types.ModuleType("ray.util.scheduling_strategies")
    strategies.__dict__["NodeAffinitySchedulingStrategy"] = lambda node, soft: node  # noqa: ARG005
    monkeypatch.setitem(sys.modules, "ray", module)
    monkeypatch.setitem(sys.modules, "ray.util", types.ModuleType("ray.util"))
    monkeypatch.setitem(sys.modules, "ray.util.scheduling_strategies", strategies)
    monkeypatch.setattr(calls, "joined", lambda address: contextlib.nullcontext())  # noqa: ARG005
    # An agent's own watch would end what runs in this process, long after the test.
    monkeypatch.setattr(NodeAgent, "_watch", lambda self: None)  # noqa: ARG005
    try:
        yield fake
    finally:
        for handle in fake.handles:
            if not handle.gone:
                fake.kill(handle)


@contextlib.contextmanager
def three_nodes(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[FakeRay]:
    """A cluster of two generators and a server node, whose agents keep what they build in `cache`."""
    monkeypatch.setenv("ASSAY_CACHE", str(cache))
    with running(monkeypatch, {FIRST: ("generator",), SECOND: ("generator",), THIRD: ("server",)}) as made:
        yield made
