"""Ctrl-C and its kin: what each of several signals means to a run that goes on, or that is ending.

The first signal ends what is measured. While servers are stopped and the run is judged and shown, one more
signal is only noted, since all of that is short and what was measured is worth it. The next gives up.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType

Handler = Callable[[int, FrameType | None], object]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_NOTE = b"assay: it is ending: what was measured is kept and shown; one more signal gives up\n"
_STDERR = 2


class _State:
    """What the next signal means."""

    running = False
    ending = False
    noted = False
    came = False


def listen() -> None:
    """From here on signals mean what this module says; each handler that is there is asked first."""
    for number in _SIGNALS:
        before = signal.getsignal(number)
        if callable(before):
            signal.signal(number, partial(_hear, before))


@contextlib.contextmanager
def run() -> Iterator[None]:
    """A run, from its first server to its last report; outside of it each signal is KeyboardInterrupt."""
    _State.running, _State.ending, _State.noted, _State.came = True, False, False, False
    try:
        yield
    finally:
        _State.running = False


def ending() -> None:
    """Nothing more is measured in this run: the next signal is only noted."""
    _State.ending = True


def came() -> bool:
    """Whether a signal has come in this run, or in the last one if it is over."""
    return _State.came


def ignore() -> None:
    """Hear no signal any more that `listen` has been told of: the program's last line is being said."""
    for number in _SIGNALS:
        if getattr(signal.getsignal(number), "func", None) is _hear:
            signal.signal(number, signal.SIG_IGN)


def _hear(before: Handler, number: int, frame: FrameType | None) -> None:
    with contextlib.suppress(KeyboardInterrupt):  # whether it interrupts is said here
        before(number, frame)
    if _State.running:
        _State.came = True
        if _State.ending and not _State.noted:
            _State.noted = True
            with contextlib.suppress(OSError):
                os.write(_STDERR, _NOTE)  # no stream: it may be amidst a line of its own
            return
        _State.ending, _State.noted = True, False
    raise KeyboardInterrupt
