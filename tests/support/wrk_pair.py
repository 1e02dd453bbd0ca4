"""wrk and `assay wrk`, run at the same time with the same words on servers of the same kind."""

from __future__ import annotations

import re
import ssl
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tool_pair
from wire import Answer, recording

SCRIPTS = Path(__file__).parent / "wrk-scripts"
ASSAY = tool_pair.assay("wrk")
PATIENCE_S = 120
_NUMBER = re.compile(r" *-?(?:nan|\d[\d.]*)(?:us|ms|[smhkKMGT])?(?=[,%B\s]|$)")


@dataclass(frozen=True)
class Told(tool_pair.Told):
    """What one of the two said and sent."""

    @property
    def masked(self) -> list[str]:
        """The lines of the output, every number as "#"."""
        return [_NUMBER.sub("#", line) for line in self.out.splitlines()]

    @property
    def widths(self) -> list[int]:
        """The widths of the lines whose width wrk fixes."""
        return [
            len(line) for line in self.out.splitlines() if re.match("    (Latency|Req|  )|Trans|Requ", line)
        ]

    @property
    def figures(self) -> dict[str, int]:
        """The counts that a deterministic server determines."""
        found = re.search(r"  (\d+) requests in \S+, (\S+?)B read", self.out)
        assert found, self.out + self.err
        errors = {name: int(n) for name, n in re.findall(r"(connect|read|write|timeout) (\d+)", self.out)}
        statuses = re.search(r"Non-2xx or 3xx responses: (\d+)", self.out)
        return {"requests": int(found[1]), "statuses": int(statuses[1]) if statuses else 0, **errors}


def both(
    words: Sequence[str],
    answer: Answer | None = None,
    path: str = "/",
    rest: Sequence[str] = (),
    strict: bool = False,
    tls: ssl.SSLContext | None = None,
) -> tuple[Told, Told]:
    """Run both, each on a server of its own that answers with `answer`; `words` come before the URL."""
    answers = () if answer is None else (answer,)
    scheme = "http" if tls is None else "https"
    with recording(*answers, tls=tls) as first, recording(*answers, tls=tls) as second:
        runs = [
            subprocess.Popen(
                [*program, *words, wire.url(path, scheme), *rest],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=tool_pair.environment(strict=strict),
            )
            for program, wire in ((("wrk",), first), (ASSAY, second))
        ]
        told = []
        for run, wire in zip(runs, (first, second), strict=True):
            out, err = tool_pair.without_port(wire.port, run.communicate(timeout=PATIENCE_S))
            told.append(Told(run.returncode, out, err, wire))
    return told[0], told[1]


def header_sets(requests: Sequence[bytes]) -> list[tuple[bytes, frozenset[bytes], bytes]]:
    """Requests with their header fields as sets: wrk's own order differs from run to run."""
    taken = []
    for request in requests:
        head, _, body = request.partition(b"\r\n\r\n")
        first, *fields = head.split(b"\r\n")
        taken.append((first, frozenset(re.sub(rb":\d+$", b":PORT", text) for text in fields), body))
    return taken
