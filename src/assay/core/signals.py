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


class _SignalState:
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
    _SignalState.running, _SignalState.ending, _SignalState.noted, _SignalState.came = (
        True,
        False,
        False,
        False,
    )
    try:
        yield
    finally:
        _SignalState.running = False


def ending() -> None:
    """Nothing more is measured in this run: the next signal is only noted."""
    _SignalState.ending = True


def came() -> bool:
    """Whether a signal has come in this run, or in the last one if it is over."""
    return _SignalState.came


def ignore() -> None:
    """Hear no signal any more that `listen` has been told of: the program's last line is being said."""
    for number in _SIGNALS:
        if getattr(signal.getsignal(number), "func", None) is _hear:
            signal.signal(number, signal.SIG_IGN)


def _hear(before: Handler, number: int, frame: FrameType | None) -> None:
    with contextlib.suppress(KeyboardInterrupt):  # whether it interrupts is said here
        before(number, frame)
    if _SignalState.running:
        _SignalState.came = True
        if _SignalState.ending and not _SignalState.noted:
            _SignalState.noted = True
            with contextlib.suppress(OSError):
                os.write(_STDERR, _NOTE)  # no stream: it may be amidst a line of its own
            return
        _SignalState.ending, _SignalState.noted = True, False
    raise KeyboardInterrupt
