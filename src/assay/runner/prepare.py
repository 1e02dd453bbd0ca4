"""Making the servers of a study ready: checked, built (several at a time), asked for their version."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from assay.core.errors import ServerFailed
from assay.core.settings import Settings
from assay.runner.observer import Observer
from assay.servers.build import Prepared
from assay.servers.manifest import ServerSpec
from assay.servers.site import Site

Ready = tuple[ServerSpec, Prepared | ServerFailed]


def prepare_all(
    specs: Sequence[ServerSpec],
    settings: Settings,
    cores: int,
    observer: Observer,
    jobs: int | None = None,
    site: Site | None = None,
    meanwhile: Callable[[ServerSpec, Prepared], None] = lambda spec, ready: None,
) -> list[Ready]:
    """Each server once, in order, ready or with why it is not; as many at a time as there are cores, but the
    variants of one server one after another.

    The observer is told in the calling thread alone, and there `meanwhile` is called with each server that is
    ready while others are not. Ctrl-C ends the builds under way.
    """
    distinct = [spec for place, spec in enumerate(specs) if spec not in specs[:place]]
    events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
    cancel = threading.Event()
    prepare = partial(_prepare_server, settings, cores, observer, events, cancel, site or Site())
    futures: list[Future[Prepared | ServerFailed]] = [Future() for _ in distinct]

    def ended(spec: ServerSpec, done: Future[Prepared | ServerFailed]) -> None:
        others_go_on = not all(future.done() for future in futures)
        if others_go_on and isinstance(ready := done.result(), Prepared):
            meanwhile(spec, ready)

    def announce(spec: ServerSpec, done: Future[Prepared | ServerFailed]) -> None:
        events.put(partial(ended, spec, done))

    # Builds of one server wait for each other: side by side, one would only keep another server waiting.
    of_a_server: dict[str, list[tuple[ServerSpec, Future[Prepared | ServerFailed]]]] = {}
    for spec, future in zip(distinct, futures, strict=True):
        future.add_done_callback(partial(announce, spec))
        of_a_server.setdefault(spec.id, []).append((spec, future))
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1, thread_name_prefix="prepare") as pool:
        try:
            for builds in of_a_server.values():
                pool.submit(_one_after_another, builds, prepare, cancel)
            while not all(future.done() for future in futures) or not events.empty():
                events.get()()
        except BaseException:
            cancel.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [(spec, future.result()) for spec, future in zip(distinct, futures, strict=True)]


def _one_after_another(
    builds: Sequence[tuple[ServerSpec, Future[Prepared | ServerFailed]]],
    prepare: Callable[[ServerSpec], Prepared | ServerFailed],
    cancel: threading.Event,
) -> None:
    """Prepare the variants of one server in this thread, until the whole is broken off."""
    for spec, future in builds:
        if cancel.is_set():
            return
        try:
            future.set_result(prepare(spec))
        except BaseException as error:  # noqa: BLE001  (whoever asks for the result is told)
            future.set_exception(error)


def _prepare_server(
    settings: Settings,
    cores: int,
    observer: Observer,
    events: queue.SimpleQueue[Callable[[], None]],
    cancel: threading.Event,
    site: Site,
    spec: ServerSpec,
) -> Prepared | ServerFailed:
    """Prepare one server in this thread; what there is to tell goes through the queue."""

    def say(step: str) -> None:
        events.put(lambda: observer.server_preparing(name, step))

    name = spec.name
    try:
        ready = site.prepare(spec, settings, cores, say, cancel)
    except ServerFailed as failed:
        told = failed  # the name `failed` ends with its block
        events.put(lambda: observer.server_failed(name, told.message))
        return told
    events.put(lambda: observer.server_prepared(name, ready.version, ready.built_s))
    return ready
