"""Every flag of wrk beside Debian's wrk, and each difference beside its row in docs/drop-ins.md."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import differential
import pytest
from wire import HELLO, Answer, Cut, Last
from wrk_pair import Told, both, header_sets

pytestmark = [
    pytest.mark.beside,
    pytest.mark.skipif(not shutil.which("wrk"), reason="the original wrk is not installed"),
]


def hello() -> Answer:
    return lambda _: HELLO


def silent() -> Answer:
    return lambda _: b""


def first(count: int, answer: bytes = HELLO) -> Callable[[], Answer]:
    """Servers that give so many answers and then no more: every count is determined."""

    def make() -> Answer:
        left: dict[bytes, int] = {}

        def answered(request: bytes) -> bytes:
            # The two programs say the ports of their own servers.
            host = re.findall(rb"(?i)host: ?(.*)\r\n", request)[0]
            left[host] = left.get(host, count) - 1
            return answer if left[host] >= 0 else b""

        return answered

    return make


@dataclass(frozen=True)
class Case:
    """Words, a server's manner, and what differs. SCRIPT is a file with `script` in it."""

    words: tuple[str, ...]
    answer: Callable[[], Answer] = hello
    script: str = ""
    row: str = ""
    differs: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    is_counted: bool = False
    """Whether the server determines every count."""
    is_kept: bool = False
    """Whether it also determines how many connections are opened: no more than once each."""


BATCH = "function request() return wrk.format():rep(3) end"
FAILING = "local n = 0; function response() n = n + 1; if n == 3 then error('third') end end"
ELSEWHERE = "function setup(thread) thread.addr = wrk.lookup('127.0.0.1', '1')[1] end"
ERROR = b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"
CLOSING = Last(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
SHORT = Last(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")
UNTIL_CLOSE = Last(b"HTTP/1.1 200 OK\r\n\r\nhello")
ONE = ("-t1", "-c1", "-d1")

SAME = (
    Case(("-t2", "-c4", "-d1"), first(40), is_counted=True, is_kept=True),
    Case(("--threads", "1", "--connections", "2", "--duration", "1s"), first(9, ERROR), is_counted=True),
    Case(("-t1", "-c2", "-d1", "--latency", "--timeout", "1s"), first(30, CHUNKED), is_counted=True),
    Case(("-t1", "-c2", "-L", "-T2", "-d1"), first(9, CLOSING)),
    Case((*ONE, "-H", "X: y", "--header", "Host: other", "-H", "none", "-H", "X: z")),
    Case((*ONE, "-s", "SCRIPT"), first(9), BATCH, is_counted=True, is_kept=True),
    Case(("--script", "SCRIPT", *ONE), first(9), "function init(a) print(#a, a[1]) end", rest=("a", "b")),
    Case((*ONE, "-s", "SCRIPT"), hello, FAILING),
    Case((*ONE, "-s", "SCRIPT"), hello, "function done(s, l, r) print(s.requests > 0, #l > 0) end"),
    Case((*ONE, "-s", "SCRIPT"), hello, "function init() os.exit(7) end"),
    Case((*ONE, "-s", "SCRIPT"), hello, "function request() return 'GET / HTTP/1.1\\r\\n' end"),
    Case(("-x",)),
    Case(("-h",)),
    Case(("-r", *ONE)),
    Case(("--c", "1")),
    Case(("-c",)),
    Case(("-c", "1k1", "-d1")),
    Case(("-c1", "-t2")),
    Case(("-t0",)),
    Case(("-d", "0")),
    Case(("-d", "1.5")),
)
NOTHING = (
    Case(("-t1", "-c2", "-d1", "--latency"), silent),
    Case((*ONE, "-s", "SCRIPT"), hello, ELSEWHERE),
    Case(ONE, lambda: lambda _: None),
    Case(ONE, lambda: lambda _: Cut(b"")),
    Case(ONE, lambda: lambda _: SHORT),
    Case(ONE, lambda: lambda _: Last(b"no answer at all\r\n\r\n")),
)
DIFFERENT = (
    *(replace(case, row="nothing measured", differs=("not a number",)) for case in NOTHING),
    Case(
        ("-t2", "-c5", "-d1"),
        first(40),
        row="`-c` that `-t` does not divide",
        differs=("connections",),
        is_counted=True,
        is_kept=True,
    ),
    Case(
        ("-t1", "-c2", "-d2", "-T1"),
        first(9),
        row="a request that hangs",
        differs=("lines", "counts"),
    ),
    Case(
        ONE,
        first(7, UNTIL_CLOSE),
        row="an answer that only the close ends",
        differs=("lines", "counts"),
        is_counted=True,
    ),
    Case(
        (*ONE, "-s", "SCRIPT"),
        hello,
        "this is no Lua",
        row="a script that cannot be loaded",
        differs=("exit code", "standard error", "lines", "counts", "requests"),
    ),
    Case(
        (*ONE, "-s", "SCRIPT"),
        hello,
        "function setup(t) t:set('t', { a = { b = 1 } }) end",
        row="tables within tables in `thread:set`",
        differs=("exit code", "lines", "counts", "requests"),
    ),
    Case(("-v",), row="`-v`", differs=("version",)),
    Case(("--help",), row="`--help`", differs=("words",)),
    Case(
        ("-T", "2h", *ONE),
        row="`-T` of more than an hour",
        differs=("exit code", "standard error"),
    ),
    Case(
        (*ONE, "-R", "50", "-U", "-B"),
        row="`-R`, `-U`, `-B`",
        differs=("exit code", "standard error", "lines", "counts", "requests"),
    ),
)
CASES = (*SAME, *DIFFERENT)


def differences(case: Case, script: Path, strict: bool) -> dict[str, str]:
    """In what the two differ: what they say, their exit codes, and what they send."""
    script.write_text(case.script)
    words = [str(script) if word == "SCRIPT" else word for word in case.words]
    theirs, ours = both(words, case.answer(), rest=case.rest, strict=strict)
    respects = {name: (of(theirs, case), of(ours, case)) for name, of in RESPECTS.items()}
    return {
        what: f"{what}:\n  wrk {one!r}\n  here {other!r}"
        for what, (one, other) in respects.items()
        if one != other
    }


def lines(told: Told, _: Case) -> object:
    """The lines with their numbers masked; of the usage its flags and columns."""
    return [
        line[:26] if line.startswith("    -") else line[:2] if line.startswith("  ") and usage(told) else line
        for line in told.masked
        if not line.startswith("wrk")
    ]


def usage(told: Told) -> str:
    """What is said of the flags, where it is said."""
    return told.out[told.out.find("Usage:") :] if "Usage:" in told.out else ""


def sent(told: Told, _: Case) -> object:
    """The first requests, in as far as both have come to them."""
    return header_sets(told.wire.requests[:3])


def counts(told: Told, case: Case) -> object:
    if "requests in" not in told.out:
        return None
    if case.is_counted:
        return told.figures
    return sorted(told.figures)


RESPECTS: dict[str, Callable[[Told, Case], object]] = {
    "exit code": lambda told, _: told.code,
    "standard error": lambda told, _: told.err,
    "lines": lines,
    "words": lambda told, case: case.row == "`--help`" and usage(told),
    "version": lambda told, _: re.findall(r"(?m)^wrk .*", told.out),
    "not a number": lambda told, _: told.out.count("nan%"),
    "counts": counts,
    "connections": lambda told, case: case.is_kept and len(told.wire.peers),
    "requests": sent,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case.words))
def test_a_case_is_alike_or_told(case: Case, tmp_path: Path) -> None:
    differential.check("wrk", case, lambda strict: differences(case, tmp_path / "script.lua", strict))


def test_every_flag_and_every_row_has_a_case() -> None:
    told = subprocess.run(["wrk"], capture_output=True, text=True).stdout
    flags = re.findall(r"(?m)^ +(-\w), --|(--\w+)", told)
    named = [short or long for short, long in flags]
    assert len(named) >= 8
    assert differential.without_case(named, CASES) == []
    assert differential.rows_without_case("wrk", CASES) == []
