"""Before a run: the machine is taken, and its servers are made ready, several at a time."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import queue
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

from assay.core.errors import EnvironmentLacks, ServerFailed
from assay.core.settings import Settings
from assay.runner.bench import Observer
from assay.servers.build import Prepared
from assay.servers.manifest import ServerSpec
from assay.servers.site import Site
from assay.servers.supervised import sweep

_NAME_OTHERWISE = "set ASSAY_LOCK to the path of another lock for all runs here"


@contextlib.contextmanager
def machine_lock(settings: Settings) -> Iterator[None]:
    """Hold the machine, free of what killed runs left. The lock ends with the process, however that ends.

    EnvironmentLacks where another run holds it, naming its process, and where the lock cannot be had.

    The lock lies where every user finds it, so it may have been put there by anyone: it is opened for
    reading only and never written, no link is followed, and nothing but a plain file is locked.
    """
    descriptor = _opened(settings.lock)
    try:
        _lock(descriptor, settings.lock)
        sweep()
        yield
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    """The lock's descriptor; it is made where there is none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            made = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
            os.fchmod(made, 0o444)  # whatever the umask: every user must be able to lock it
            os.close(made)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        reason = "it is a symbolic link" if error.errno == errno.ELOOP else (error.strerror or "").lower()
        raise EnvironmentLacks(f"cannot open the machine's lock {path}: {reason}", _NAME_OTHERWISE) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise EnvironmentLacks(f"the machine's lock {path} is not a plain file", _NAME_OTHERWISE)
    return descriptor


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            reason = (error.strerror or "").lower()
            raise EnvironmentLacks(f"cannot lock {path}: {reason}", _NAME_OTHERWISE) from error
        raise EnvironmentLacks(
            f"another run measures on this machine ({_holder(descriptor)})",
            "wait for its end: two would measure each other",
        ) from error


def _holder(descriptor: int) -> str:
    """Who holds the lock, as far as the system tells (proc_locks(5)): its process and its user."""
    import psutil

    # By the inode alone: the device is another one there on overlay file systems.
    number = str(os.fstat(descriptor).st_ino)
    with contextlib.suppress(OSError, psutil.Error, ValueError, IndexError):
        for line in Path("/proc/locks").read_text(encoding="utf-8").splitlines():
            _, kind, _, _, process, place, *_ = line.split()
            if kind == "FLOCK" and place.rpartition(":")[2] == number:
                return f"process {process} of {psutil.Process(int(process)).username()}"
    return "another process"


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
