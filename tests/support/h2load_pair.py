"""h2load and `assay h2load`, with the same words on servers of the same kind."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import tool_pair
from wire import HELLO, Answer, recording

ASSAY = tool_pair.assay("h2load")
PATIENCE_S = 60
_ROW = re.compile(r"(time for|time to|req/s)")


@dataclass(frozen=True)
class Told(tool_pair.Told):
    """What one of the two said and sent."""

    @property
    def masked(self) -> list[str]:
        """The lines: numbers in columns keep their width as "#", those after "finished" are "N"."""
        report = self.out.find("finished in")
        before, after = (self.out, "") if report < 0 else (self.out[:report], self.out[report:])
        return [*before.splitlines(), *(_masked(line) for line in after.splitlines())]

    @property
    def counts(self) -> list[str]:
        """What a deterministic server determines; nothing where the clock does."""
        if "Timing-based" in self.out:
            return []
        found = re.findall(r"(?m)^(?:requests|status codes): .*$", self.out)
        return [*found, *re.findall(r"(?m)^traffic: (\S+ \S+ total).*, (\S+ \S+ data)", self.out)]


def _masked(line: str) -> str:
    if _ROW.match(line):
        return line[:17] + re.sub(r" +\d[\d.]*(us|ms|s|%)?", lambda number: "#" * len(number[0]), line[17:])
    return re.sub(r"\d+(\.\d+)?(us|ms|s|[KMG]?B)?(?![x\w])", "N", line)


def both(
    words: Sequence[str],
    make: Callable[[], Answer] = lambda: lambda _: HELLO,
    *,
    url: str = "http://127.0.0.1:PORT/",
    tls: ssl.SSLContext | None = None,
    http2_port: int | None = None,
    strict: bool = False,
) -> tuple[Told, Told]:
    """Run h2load, then ours; each on a server of its own, or on that of HTTP/2 at a port.

    `make` gives the answers of a new server.
    """
    told = []
    for program in (("h2load",), ASSAY):
        with recording(make(), tls=tls) as wire:
            command = (*program, *words, *url.split())
            ended = tool_pair.told(command, http2_port or wire.port, PATIENCE_S, strict=strict)
            told.append(Told(*ended, wire))
    return told[0], told[1]
