"""The cases of bombardier's flags: words, the server's manner, and what differs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wire import HELLO, Cut, Last

NOT_FOUND = Last(b"HTTP/1.1 404 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")


@dataclass(frozen=True)
class Case:
    """Words, the server's manner, and what differs. FILE and PEM are files; URL stands for the server's."""

    words: tuple[str, ...]
    row: str = ""
    differs: tuple[str, ...] = ()
    answer: Callable[[bytes], bytes | None] = lambda _: HELLO
    url: str = "http://127.0.0.1:PORT/"
    tls: bool = False

    @property
    def name(self) -> str:
        """What it is recorded under."""
        return " ".join((*self.words, self.url, *(("TLS",) if self.tls else ()), *self._manner))

    @property
    def _manner(self) -> tuple[str, ...]:
        return () if self.answer(b"") == HELLO else (repr(self.answer(b"")),)


ONE = ("-c1", "-n2")
FAST = tuple(
    Case((*ONE, "-q", *words))
    for words in (
        (), ("-m", "POST"), ("-m", "DELETE"), ("-m", "POST", "-b", "xy"),
        ("-m", "PUT", "--body-file", "FILE"),
        ("-b", "xy"), ("-m", "POST", "-s"), ("-m", "PATCH", "--stream", "-b", "xy"),
        ("-H", "a: 1", "-H", "a:2", "-H", "x-two-words: c "), ("-H", "host: h", "--header=Connection: close"),
        ("-H", "content-type: a", "-H", "content-length: 9", "-m", "POST", "-b", "abc"),
        ("-H", "cookie: a=b", "-H", "X:", "-H", "user-agent: me"), ("-a",),
    )
)  # fmt: skip
NET = tuple(
    Case((*ONE, "-q", "--http1", *words))
    for words in (
        (), ("-m", "POST"), ("-m", "DELETE"), ("-m", "POST", "-b", "xy"), ("-m", "OPTIONS", "-f", "FILE"),
        ("-m", "PUT", "-s", "-b", "xy"), ("-H", "b: 1", "-H", "a:2"), ("-a", "-H", "Accept: */*"),
        ("-H", "Accept-Encoding: x", "-H", "User-Agent: me"), ("--http2", "--fasthttp"), ("--fasthttp",),
    )
)  # fmt: skip
URLS = tuple(
    Case((*ONE, "-p", "i", *client), url=url)
    for client in ((), ("--http1",))
    for url in (
        "127.0.0.1:PORT", "HTTP://127.0.0.1:PORT?q=1", "//127.0.0.1:PORT/a/../b//c/./d?x=y#frag",
        "http://127.0.0.1:PORT/%41%2f+a b", "http://127.0.0.1:PORT/x/..", "http://u:p@127.0.0.1:PORT/",
        "http://u%20:p%40x@127.0.0.1:PORT/", "http://u@127.0.0.1:PORT/", "http://@127.0.0.1:PORT/",
    )
)  # fmt: skip
SAID = (
    Case(("-c2", "-n20")),
    Case(("-c2", "-n20", "-l", "--print", "intro,result")),
    Case(("-c", "2", "--requests", "9", "--latencies", "-p", "r")),
    Case(("-c2", "-d", "1s", "-p", "i")),
    Case(("--connections=2", "--duration=1s", "--rate", "50", "-p", "i")),
    Case(("-n4", "-c2", "-q", "--no-latencies")),
    Case(("-t0s", *ONE, "-p", "r")),
    Case((*ONE, "-k", "-p", "r"), url="https://localhost:PORT/", tls=True),
    Case(
        (*ONE, "--insecure", "-q", "--cert", "PEM", "--key", "PEM"), url="https://localhost:PORT/", tls=True
    ),
    Case(("-p", "r", "-c1", "-n3"), answer=lambda _: NOT_FOUND),
)
REFUSED = tuple(
    Case(words, url=url)
    for url, words in (
        *(("", tuple(words.split())) for words in (
            "-c", "--nope u", "-x u", "a b", "@", "@/missing x", "x --help y", "-x --help", "-c=4 u",
            "-c4 -c5 u", "-c 4 --connections=5 u", "-l -l u", "--http1 --http1 u", "-m GET -m POST u",
            "--no-latencies -l u", "--latencies=false u", "--help=3 u", "-l=true u", "-", "-c -l u",
            "-lc4x u",
            "--no-connections u", "-h", "-c x", "-d 5 u", "-d 1d u", "-t x u", "-p q -o z u", "ftp://u",
            "-q --print i,p,r,i u", "-n 0x1 u", "-r -1 u", "-n 18446744073709551616 u", "-H none u", "a_b",
            "http://",
            "-c0 -n0 u", "-n0 u", "-r0 -n0 u", "-d 0.5s u", "--timeout=-1s u", "-m get u", "-m HEAD -f y u",
            "-b x -f y u", "--cert x u", "--key x u", "-o xml u", "-f /missing u",
        )),
        ("", ("--print=", "u")),
    )
)  # fmt: skip
TEMPLATE = ("exit code", "lines", "requests")
DIFFERENT = (
    Case(
        ("-n4", "-c2", "-p", "r", "-o", "path:TEMPLATE", "-l", "-H", "A: b"),
        row="`-o path:FILE`",
        differs=TEMPLATE,
    ),
    Case(
        ("-n4", "-c2", "-p", "r", "--format=path:TEMPLATE", "-r", "1000", "--timeout", "1m1.5s"),
        row="`-o path:FILE`",
        differs=TEMPLATE,
    ),
    Case(("-o", "path:/missing", "u"), url="", row="`-o path:FILE`", differs=("lines",)),
    Case((*ONE, "-p", "r", "-o", "json"), row="`-o json`", differs=("lines",)),
    Case(
        (*ONE, "-p", "r", "-l", "-o", "j", "-m", "POST", "-b", "x", "-H", "A: b", "-r", "100"),
        row="`-o json`",
        differs=("lines",),
    ),
    Case(
        (*ONE, "-o", "j", "-p", "r"),
        url="http://127.0.0.1:1/",
        row="`-o json`, all failed",
        differs=("lines",),
    ),
    Case((*ONE, "-p", "r"), url="http://127.0.0.1:1/", row="plain text, all failed", differs=("lines",)),
    Case(
        (*ONE, "-p", "r"),
        answer=lambda _: Cut(b""),
        row="a connection that breaks",
        differs=("lines", "requests"),
    ),
    Case(
        (*ONE, "-p", "r"),
        url="http://no-such-host.invalid/",
        row="a host without an address",
        differs=("lines",),
    ),
    Case(
        (*ONE, "-p", "r"), url="https://localhost:PORT/", tls=True, row="words of errors", differs=("lines",)
    ),
    *(
        Case((*ONE, "-p", "r", *client), url=url, row="plain text, all failed", differs=("lines",))
        for client in ((), ("--http1",))
        for url in ("http://127.0.0.1:70000/", "https://u:p@127.0.0.1:99999999999/")
    ),
    Case((*ONE, "-q"), url="http://127.0.0.1:PORT/?x=y z", row="a blank in the query", differs=("requests",)),
    Case((*ONE, "-q", "--http1", "-s", "-b", "xy"), row="`-s` with GET and `--http1`", differs=("requests",)),
    Case(
        (*ONE, "-p", "i", "--http2", "-k"),
        url="https://localhost:PORT/",
        tls=True,
        row="`--http2`",
        differs=("requests",),
    ),
    Case(("--help",), url="", row="`--help`", differs=("standard error",)),
    Case(("--help-long",), url="", row="`--help`", differs=("lines",)),
    Case(("--help-man",), url="", row="`--help`", differs=("lines",)),
    Case(("--version", "--nope"), url="", row="`--version`", differs=("standard error",)),
    Case(("--completion-script-bash",), url="", row="`--completion-…`", differs=("exit code", "lines")),
)
CASES = (*FAST, *NET, *URLS, *SAID, *REFUSED, *DIFFERENT)
