"""ab and `assay ab`, with the same words on servers of the same kind."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import tool_pair
from wire import Answer, Last, Wire, recording

ASSAY = tool_pair.assay("ab")
PATIENCE_S = 60
_DOUBT = ("WARNING: The median", "ERROR: The median", "        These results", "       deviation apart")
_COUNTS = (
    "Document Length|Concurrency Level|Complete requests|Failed requests|Non-2xx responses|"
    "Keep-Alive requests|Total transferred|Total body sent|HTML transferred"
)


@dataclass(frozen=True)
class Told(tool_pair.Told):
    """What one of the two said and sent."""

    @property
    def masked(self) -> list[str]:
        """The lines after those that say who speaks, without doubts about times.

        Numbers in columns keep their width as "#"; others are "N".
        """
        _, _, rest = self.out.partition("</p>" if self.out.startswith("<p>") else "Benchmarking")
        lines = [line for line in (rest or self.out).splitlines() if not line.startswith(_DOUBT)]
        return [_masked(line) for line in lines if "ApacheBench" not in line and "Apache " not in line]

    @property
    def counts(self) -> list[str]:
        """The lines that a deterministic server determines."""
        return re.findall(rf"(?m)^(?:(?:{_COUNTS}):.*|   \(Connect.*)$", self.out)


def _masked(line: str) -> str:
    if re.match(r"(Connect|Processing|Waiting|Total):|  ?\s?\d+%", line):
        return re.sub(r" *\d+(\.\d+)?", lambda number: "#" * len(number[0]), line)
    line = re.sub(r"(?<=>) *\d+(?=<)", lambda number: "#" * max(5, len(number[0])), line)
    return re.sub(r"\d+(\.\d+)?", lambda number: "N.N" if number[1] else "N", line)


def closing(text: bytes = b"hello", head: bytes = b"Server: test/1.0 (x)\r\n") -> Answer:
    """Answers as an HTTP/1.0 server does: alive where that is asked for, else for the last time."""

    def answer(request: bytes) -> bytes:
        start = b"HTTP/1.1 200 OK\r\n" + head + b"Content-Length: %d\r\n" % len(text)
        body = b"" if request.startswith(b"HEAD") else text
        if b"Keep-Alive" in request:
            return start + b"Connection: Keep-Alive\r\n\r\n" + body
        return Last(start + b"Connection: close\r\n\r\n" + body)

    return answer


def run(
    program: Sequence[str], words: Sequence[str], wire: Wire, *, strict: bool = False, url: str = "/"
) -> Told:
    """Run one of the two; the port becomes PORT in what it says."""
    command = (*program, *words, *([url] if url else ()))
    return Told(*tool_pair.told(command, wire.port, PATIENCE_S, strict=strict), wire)


def both(
    words: Sequence[str],
    make: Callable[[], Answer] = closing,
    *,
    path: str = "/",
    strict: bool = False,
    tls: ssl.SSLContext | None = None,
    url: str | None = None,
) -> tuple[Told, Told]:
    """Run ab, then ours; each on a server of its own. `make` gives the answers of a new server."""
    told = []
    for program in (("ab",), ASSAY):
        with recording(make(), tls=tls) as wire:
            where = url if url is not None else f"http{'s' if tls else ''}://127.0.0.1:PORT{path}"
            told.append(run(program, words, wire, strict=strict, url=where))
    return told[0], told[1]
