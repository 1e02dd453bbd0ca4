"""A Lua script around a load: before it, in its place of the requests, and after it."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import msgspec

from assay import _engine
from assay.dropin.wrk.flags import WrkFlags
from assay.engine import target_policy
from assay.engine.driver import ScriptFailed

if TYPE_CHECKING:
    from assay.dropin.reports import Tally
    from assay.dropin.wrk.figures import WrkFigures


class Script:
    """One of wrk's scripts, loaded. Whatever of it fails raises `ScriptFailed` with wrk's line.

    It prints through C's buffer of standard output: `flush` before anything of ours is printed.
    """

    def __init__(
        self, file: str, flags: WrkFlags, headers: dict[str, str], addresses: Sequence[target_policy.Endpoint]
    ) -> None:
        """Load `file` for what the command line asks for, on a host with these addresses."""
        url = flags.url
        self._file = file
        self._asked = {str(endpoint) for endpoint in addresses}
        settings = {
            "file": file,
            "scheme": url.scheme,
            "host": url.host,
            "port": url.port,
            "addresses": [str(endpoint) for endpoint in addresses],
            "path": url.path,
            "headers": list(headers.items()),
            "threads": flags.threads,
            "may_reach_others": target_policy.may_reach_others(),
            "arguments": [flags.text, *flags.rest],
        }
        with _in_the_script():
            self.engine_script = _engine.Script(msgspec.json.encode(settings))

    def messages(self) -> list[str]:
        """Why the script could not be loaded, once for each time it was tried: the test goes on without."""
        return self.engine_script.messages()

    def prepare(self) -> tuple[bytes, list[str]]:
        """Set up and initialise every thread; the first requests, and where each thread's go ("ip:port").

        InputError where the script leads a thread to a machine of others without their leave.
        """
        try:
            with _in_the_script():
                first, places = self.engine_script.prepare()
        finally:
            self.flush()
        target_policy.ask_leave(
            self._file, [target_policy.without_port(at) for at in places if at not in self._asked]
        )
        return first, places

    def done(self, figures: WrkFigures, strict: bool) -> None:
        """Give the script the figures."""
        per_thread = figures.per_thread
        summary = {
            "duration_us": figures.runtime_us,
            "requests": figures.requests,
            "bytes": figures.bytes_read,
            "errors": asdict(figures.errors),
        }
        latency = _statistics(figures.latency_us, figures.latency_mean_us, figures.latency_stdev_us, strict)
        of_threads = _statistics(per_thread, per_thread.mean, per_thread.stdev, strict)
        try:
            with _in_the_script():
                self.engine_script.done(msgspec.json.encode((summary, latency, of_threads)))
        finally:
            self.flush()

    def flush(self) -> None:
        """Write out what the script has printed so far."""
        self.engine_script.flush()


@contextlib.contextmanager
def _in_the_script() -> Iterator[None]:
    """While the script has the program. Ctrl-C then ends it at once, as it ends wrk: a script that loops
    would never come back to hear of it. What the script fails with is raised as `ScriptFailed`."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL) if _is_main() else None
    try:
        yield
    except _engine.ScriptError as error:
        raise ScriptFailed(str(error)) from None
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def _is_main() -> bool:
    """Whether this thread may say what signals do, and they are heard at all: behind `&` they are not."""
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    return threading.current_thread() is threading.main_thread() and not ignored


def _statistics(tally: Tally, mean: float, stdev: float, strict: bool) -> dict[str, Any]:
    counted = {"counts": tally.counts, "min": tally.low, "max": tally.high}
    return {**counted, "mean": mean, "stdev": stdev, "is_strict": strict}
