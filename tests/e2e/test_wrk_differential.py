"""`assay wrk` beside Debian's wrk: the same words, the same kind of server, the same lines."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from wire import HELLO, Last
from wrk_pair import SCRIPTS, Told, both, header_sets

pytestmark = [
    pytest.mark.beside,
    pytest.mark.skipif(not shutil.which("wrk"), reason="the original wrk is not installed"),
]


class Counted:
    """Answers so many requests of each program, and leaves all others without an answer: every count is
    determined. `answer_of` makes the answer to a request from its number, counted down to 0."""

    def __init__(self, count: int, answer_of: Callable[[int], bytes]) -> None:
        self.count = count
        self.answer_of = answer_of
        self.left: dict[bytes, int] = {}
        self.lock = threading.Lock()

    def __call__(self, request: bytes) -> bytes:
        with self.lock:
            # Each program has a server of its own, and says its port in Host.
            number = self.left[request] = self.left.get(request, self.count) - 1
        return self.answer_of(number) if number >= 0 else b""


def alike(theirs: Told, ours: Told) -> None:
    assert ours.code == theirs.code, ours.err
    assert ours.err == theirs.err
    if theirs.out.startswith("Usage:"):
        assert usage_layout(ours) == usage_layout(theirs)
        return
    assert ours.masked == theirs.masked
    assert ours.widths == theirs.widths


def usage_layout(told: Told) -> list[tuple[str, int]]:
    """Flags with their columns, and the width of each line: what scripts may look for."""
    lines = told.out.splitlines()
    return [(line[:26] if "--" in line else line[:2], len(line)) for line in lines]


@pytest.mark.parametrize(
    "words",
    [
        ("-t1", "-c1", "-d1"),
        ("-t2", "-c5", "-d1s", "--latency"),
        ("-d", "1", "-c=3"),
        ("-t1", "-c2", "-d1", "-H", "Host: x.test"),
        ("-t1", "-c2", "-d1", "-H", "Accept-Encoding: gzip", "-H", "nothing", "-H", "A: ", "-H", "A: b: c"),
    ],
)
def test_lines_widths_and_exit_codes_are_the_same(words: tuple[str, ...]) -> None:
    theirs, ours = both(words, path="/p?q=1#f")
    alike(theirs, ours)
    if theirs.code == 0:
        assert header_sets(ours.wire.requests[:1]) == header_sets(theirs.wire.requests[:1])


def test_a_plain_request_is_the_same_byte_for_byte() -> None:
    theirs, ours = both(("-t1", "-c1", "-d1"), path="/a/b?c=d&e#f")
    expected = f"GET /a/b?c=d&e#f HTTP/1.1\r\nHost: 127.0.0.1:{ours.wire.port}\r\n\r\n".encode()
    assert set(ours.wire.requests) == {expected}
    assert set(theirs.wire.requests) == {expected.replace(b"%d" % ours.wire.port, b"%d" % theirs.wire.port)}


@pytest.mark.parametrize("strict", [False, True])
def test_a_deterministic_server_gives_the_same_counts(strict: bool) -> None:
    def third_is_500(number: int) -> bytes:
        return HELLO if number % 3 else HELLO.replace(b"200 OK", b"500 No")

    answer = Counted(40, third_is_500)
    theirs, ours = both(("-t2", "-c4", "-d1"), answer, strict=strict)
    alike(theirs, ours)
    assert ours.figures == theirs.figures
    assert ours.figures["requests"] == 40


def test_late_answers_are_timeouts_in_strict_mode() -> None:
    def late(request: bytes) -> bytes:
        threading.Event().wait(1.2)
        return HELLO

    theirs, ours = both(("-t1", "-c2", "-d2", "--timeout", "1"), late, strict=True)
    alike(theirs, ours)
    assert ours.figures == theirs.figures
    assert ours.figures["timeout"] == 2


def test_tls_takes_any_certificate(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    words = ("req", "-x509", *kind, "-days", "2", "-subj", "/CN=nobody")
    files = ("-keyout", str(key), "-out", str(certificate))
    subprocess.run(["openssl", *words, *files], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    theirs, ours = both(("-t1", "-c2", "-d1"), tls=tls)
    alike(theirs, ours)
    assert ours.figures["requests"] > 0


def test_connections_that_the_server_drops_are_read_errors() -> None:
    theirs, ours = both(("-t1", "-c1", "-d1"), lambda _: None, strict=True)
    alike(theirs, ours)
    assert ours.figures["read"] > 0
    assert ours.figures["connect"] == ours.figures["timeout"] == 0


def test_answers_that_end_the_connection_are_complete() -> None:
    closing = HELLO.replace(b"Content-Type", b"Connection: close\r\nContent-Type")
    theirs, ours = both(("-t1", "-c2", "-d1"), lambda _: closing)
    alike(theirs, ours)
    assert ours.figures["requests"] > 0


@pytest.mark.parametrize("strict", [False, True])
def test_an_answer_that_only_the_close_ends_is_an_error_for_wrk_too(strict: bool) -> None:
    theirs, ours = both(
        ("-t1", "-c1", "-d1"), Counted(7, lambda _: Last(b"HTTP/1.1 200 OK\r\n\r\nhello")), strict=strict
    )
    if strict:
        alike(theirs, ours)
        assert ours.figures == theirs.figures
        assert (ours.figures["requests"], ours.figures["read"]) == (7, 7)
    else:
        assert ours.figures == {"requests": 7, "statuses": 0}


def test_a_hung_request_is_a_timeout_by_default() -> None:
    theirs, ours = both(("-t1", "-c2", "-d2", "--timeout", "1"), lambda _: b"")
    assert theirs.figures == {"requests": 0, "statuses": 0}
    assert ours.figures["timeout"] >= 2
    assert "-nan" not in ours.out


def test_nothing_measured_is_no_number_in_strict_mode() -> None:
    theirs, ours = both(("-t1", "-c2", "-d1", "--latency"), lambda _: b"", strict=True)
    alike(theirs, ours)
    assert ours.out.count("-nan%") == 2


@pytest.mark.parametrize(
    ("script", "rest"),
    [
        ("addr", ()),
        ("counter", ()),
        ("delay", ()),
        ("pipeline", ()),
        ("pipeline", ("--", "?from=args")),
        ("post", ()),
        ("report", ()),
        ("setup", ("--", "-x", "y")),
        ("hotels", ()),
        ("stop", ()),
    ],
)
def test_a_script_runs_as_in_wrk(script: str, rest: tuple[str, ...]) -> None:
    theirs, ours = both(("-t1", "-c1", "-d1", "-s", str(SCRIPTS / f"{script}.lua")), rest=rest)
    alike(theirs, ours)
    count = min(len(theirs.wire.requests), len(ours.wire.requests), 20)
    assert count > 0
    assert header_sets(ours.wire.requests[:count]) == header_sets(theirs.wire.requests[:count])
    if script == "stop":
        assert ours.figures == theirs.figures == {"requests": 5, "statuses": 0}
    if script == "delay":
        # One at once, then one after each 100 ms, for a second.
        assert 9 <= ours.figures["requests"] <= 11


def test_a_token_of_the_first_answer_is_sent_from_then_on() -> None:
    def answer(request: bytes) -> bytes:
        return HELLO.replace(b"\r\n\r\n", b"\r\nX-Token: t0\r\n\r\n")

    theirs, ours = both(("-t1", "-c1", "-d1", "-s", str(SCRIPTS / "auth.lua")), answer)
    alike(theirs, ours)
    assert header_sets(ours.wire.requests[:5]) == header_sets(theirs.wire.requests[:5])
    assert ours.wire.requests[0].startswith(b"GET /login ")
    assert b"X-Token: t0\r\n" in ours.wire.requests[1]


@pytest.mark.parametrize(
    "text",
    [
        "function request() return 'GEX / HTTP/1.1\\r\\n' end",
        "function request() return 'GET / HTTP/1.1\\r\\nContent-Length: 1\\r\\n'"
        " .. 'Content-Length: 1\\r\\n\\r\\n' end",
        "function request() return 'GET / HTXP/1.1\\r\\n\\r\\n' end",
        "function request() return 'GET /' end",
        "function request() return 'GET a.b HTTP/1.1\\r\\n\\r\\n' end",
        "function request() return 'POST / HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\nz' end",
        "function init() error('no') end",
        "function setup(thread) thread.name = 1 end",
        "function setup(thread) thread:set('f', print) end",
        "function setup(thread) thread.addr = 1 end",
        "function setup(thread) thread.addr = nil end",
        "function setup() wrk.lookup('no-such-name.invalid', '80') end",
        "function init() os.exit(7) end",
        "function init() nothing.at_all() end",
    ],
)
def test_what_a_script_does_wrong_is_told_alike(tmp_path: Path, text: str) -> None:
    script = tmp_path / "wrong.lua"
    script.write_text(text)
    theirs, ours = both(("-t1", "-c1", "-d1", "-s", str(script)))
    assert (ours.code, ours.out, ours.err) == (theirs.code, theirs.out, theirs.err)


def test_a_module_in_c_makes_bodies_and_reads_answers() -> None:
    def answer(request: bytes) -> bytes:
        return b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"ok":true}'

    theirs, ours = both(("-t1", "-c1", "-d1", "-s", str(SCRIPTS / "cjson.lua")), answer)
    alike(theirs, ours)
    assert header_sets(ours.wire.requests[:5]) == header_sets(theirs.wire.requests[:5])
    assert ours.wire.requests[1].endswith(b'[3,"x",{"a":null}]')


NOT_LOADED = pytest.mark.parametrize(
    "text", ["this is no Lua", "error('at once')", "require 'no_such_module'", None]
)


@NOT_LOADED
def test_a_script_that_does_not_load_ends_the_test_before_anything_is_sent(
    tmp_path: Path, text: str | None
) -> None:
    script = tmp_path / "unread.lua"
    if text is not None:
        script.write_text(text)
    theirs, ours = both(("-t1", "-c1", "-d1", "-s", str(script)), path="/p")
    assert (theirs.code, ours.code) == (0, 1)
    assert ours.out == ""
    assert ours.err.startswith(theirs.err.partition("\n")[0])
    assert ours.err.endswith(
        "\nwrk: no script, so nothing was sent; ASSAY_STRICT=1 goes on without it, as wrk does, with GET /p\n"
    )
    assert ours.wire.requests == []


@NOT_LOADED
def test_a_script_that_does_not_load_is_left_out_in_strict_mode(tmp_path: Path, text: str | None) -> None:
    script = tmp_path / "unread.lua"
    if text is not None:
        script.write_text(text)
    theirs, ours = both(("-t2", "-c2", "-d1", "-s", str(script)), strict=True)
    if text is not None and "module" in text:
        # The two search different folders.
        theirs, ours = (without_folders(told) for told in (theirs, ours))
    alike(theirs, ours)
    assert ours.err.count(str(script)) >= 3


def without_folders(told: Told) -> Told:
    err = "".join(line for line in told.err.splitlines(keepends=True) if not line.startswith("\tno file"))
    return replace(told, err=err)


def test_an_error_while_the_load_goes_on_ends_it(tmp_path: Path) -> None:
    script = tmp_path / "late.lua"
    script.write_text("local n = 0\nfunction response() n = n + 1; if n == 3 then error('third') end end")
    theirs, ours = both(("-t1", "-c1", "-d9", "-s", str(script)))
    assert (ours.code, ours.err) == (theirs.code, theirs.err)
    assert ours.err.startswith("PANIC: unprotected error in call to Lua API (")
