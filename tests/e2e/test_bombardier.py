"""`assay bombardier` beside kept output of bombardier 2.0.2: the same lines, widths, keys and bytes."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import ssl
import struct
import subprocess
import termios
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
import tool_pair
from bombardier_pair import made
from wire import HELLO, Cut, recording

pytestmark = pytest.mark.beside

SAMPLES = Path(__file__).parents[1] / "golden" / "expected" / "bombardier"
ASSAY = tool_pair.assay("bombardier")
PATIENCE_S = 60
PARSING = "Error parsing the arguments: "
STARTING = "Error initializing bombardier: "
TEMPLATE_REFUSED = "-o path: is not supported here: use -o json, which has every figure"
QUIET = {**os.environ, "ASSAY_QUIET": "1"}


def run(*words: str, strict: bool = False) -> subprocess.CompletedProcess[str]:
    # Not as text mode has it: it would take the bar's returns for line ends.
    ended = tool_pair.ran([*ASSAY, *words], PATIENCE_S, strict=strict)
    out, err = ended.stdout.decode(), ended.stderr.decode()
    return subprocess.CompletedProcess(ended.args, ended.returncode, out, err)


def masked(text: str) -> list[str]:
    """Lines without figures: numbers at the end of a column become as many "#" as the column is wide."""
    lines = text.replace("\r\n", "\n").split("\n")
    return [re.sub(r" *\d[\d.]*(us|ms|s|[KMG]?B/s)?", "#", line.rpartition("\r")[2]) for line in lines]


def sample(name: str) -> str:
    return (SAMPLES / name).read_bytes().decode()


def test_plain_text_is_laid_out_as_in_the_sample() -> None:
    with recording() as wire:
        ended = run("-c", "10", "-n", "20000", "-l", wire.url())
    assert (ended.returncode, ended.stderr) == (0, "")
    ours, theirs = (
        text.replace("\r", "\n\r").split("\n") for text in (ended.stdout, sample("plain_notty.txt"))
    )
    assert ours[0] == theirs[0].replace("18080", str(wire.port))
    assert (ours[1], ours[-2][:13]) == (theirs[1], theirs[-2][:13])
    assert re.fullmatch(r"\r 20000 / 20000  100\.00% \d+/s \d+s", ours[ours.index("Done!") - 1])
    ours, theirs = (lines[lines.index("Done!") :] for lines in (ours, theirs))
    assert masked("\n".join(ours)) == masked("\n".join(theirs))
    fixed = [index for index, line in enumerate(theirs) if re.match(r"Stat|  (Req|Lat|Thr)|     \d", line)]
    assert [len(ours[index]) for index in fixed] == [len(theirs[index]) for index in fixed]


def test_a_server_that_is_not_there_is_told_as_in_the_sample() -> None:
    ended = run("-c", "4", "-n", "20", "-p", "r", "http://127.0.0.1:1/")
    assert ended.returncode == 0
    theirs = [line for line in sample("refused.txt").splitlines() if not line.startswith("  Latency")]
    ours = [line for line in ended.stdout.splitlines() if "latencies" not in line]
    assert masked("\n".join(ours)) == masked("\n".join(theirs))
    assert ours[2:] == theirs[2:]


def keys(value: object) -> object:
    if isinstance(value, dict):
        return [(key, keys(one)) for key, one in value.items()]
    return [keys(one) for one in value] if isinstance(value, list) else type(value) in (int, float)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("-c", "10", "-d", "1s", "-l"), "l.json"),
        (("-c", "10", "-n", "100", "-r", "1000", "-m", "POST", "-b", "x", "-H", "A: b"), "post_rate.json"),
    ],
)
def test_json_has_the_keys_of_the_sample_in_their_order(words: tuple[str, ...], name: str) -> None:
    with recording() as wire:
        ended = run(*words, "-o", "json", "-p", "r", wire.url(), strict=True)
    ours, theirs = json.loads(ended.stdout), json.loads(sample(name))
    assert keys(ours) == keys(theirs)
    theirs["spec"]["url"] = wire.url()
    assert ours["spec"] == theirs["spec"]
    assert not ended.stdout.endswith("\n")
    sent = sum(map(len, wire.requests[: ours["result"]["req2xx"]]))
    assert ours["result"]["bytesWritten"] >= sent
    assert ours["result"]["bytesRead"] == len(HELLO) * ours["result"]["req2xx"]


def test_bytes_over_tls_are_those_on_the_wire(tmp_path: Path) -> None:
    files = made(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files / "PEM")
    certificate = len(ssl.PEM_cert_to_DER_cert((files / "chain").read_text()))
    with recording(tls=context) as wire:
        words = ("-k", "-c1", "-n3", "-o", "json", "-p", "r")
        found = json.loads(run(*words, wire.url(scheme="https"), strict=True).stdout)["result"]
    # A record has 5 bytes of a head and at least 17 beside its text (RFC 8446, 5.2).
    assert found["bytesRead"] > 3 * (len(HELLO) + 22) + certificate
    assert found["bytesWritten"] > sum(map(len, wire.requests)) + 3 * 22


def test_json_has_the_keys_where_all_requests_failed() -> None:
    ended = run("-c", "4", "-n", "20", "-o", "j", "-p", "r", "http://127.0.0.1:1/", strict=True)
    ours, theirs = json.loads(ended.stdout), json.loads(sample("refused.json"))
    assert ours["spec"] == theirs["spec"]
    assert ours["result"]["errors"] == theirs["result"]["errors"]
    assert keys(ours) == keys(theirs)


def test_json_adds_exact_keys_of_ours_at_the_end() -> None:
    with recording() as wire:
        ended = run("-c", "2", "-n", "50", "-o", "json", "-p", "result", wire.url())
    latency = json.loads(ended.stdout)["result"]["latency"]
    assert list(latency) == ["mean", "stddev", "max", "count", "min"]
    assert latency["count"] == 50


def test_a_streamed_file_is_sent_in_chunks(tmp_path: Path) -> None:
    file = tmp_path / "body"
    file.write_bytes(b"0123456789" * 1000)
    with recording() as wire:
        run("-q", "-c", "1", "-n", "1", "-m", "POST", "-s", "-f", str(file), wire.url())
    body = wire.requests[0].partition(b"\r\n\r\n")[2]
    assert [int(size, 16) for size in re.findall(rb"(?:^|\r\n)([0-9a-f]+)\r\n", body)] == [
        4096,
        4096,
        1808,
        0,
    ]


def test_failed_connections_are_tried_again_at_once() -> None:
    ended = run("-c", "4", "-n", "4000", "-p", "r", "http://127.0.0.1:1/")
    # With ten attempts a second and connection it would take 100 s: far more than is waited here.
    assert "    others - 4000\n" in ended.stdout


def test_each_broken_connection_is_counted() -> None:
    with recording(lambda _: Cut(b"")) as wire:
        ended = run("-c", "1", "-n", "5", "-p", "r", wire.url())
    assert "    others - 5\n" in ended.stdout
    assert f"    read tcp 127.0.0.1:{wire.port}: read: connection reset by peer - 5\n" in ended.stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), PARSING + "required argument 'url' not provided"),
        (("-t", "5x", "u"), PARSING + 'time: unknown unit "x" in duration "5x"'),
        (("-H", "none", "u"), PARSING + "invalid header format"),
        (("-n0", "u"), STARTING + "invalid number of requests(must be > 0)"),
        (("-b", "\udcff", "127.0.0.1:1"), STARTING + "load plan: there is text in it that is not UTF-8"),
        (("-o", "path:", "u"), STARTING + TEMPLATE_REFUSED),
    ],
)
def test_refusals_are_told_on_standard_output(words: tuple[str, ...], line: str) -> None:
    ended = run(*words)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, line + "\n", "")


def test_flags_may_stand_anywhere_and_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "words"
    file.write_text("-c2\n--requests=6\n")
    with recording() as wire:
        ended = run(wire.url().replace("http://", ""), f"@{file}", "-lpi")
    assert ended.stdout == f"Bombarding {wire.url()} with 6 request(s) using 2 connection(s)\n"
    assert len(wire.requests) == 6


def test_a_path_is_escaped() -> None:
    with recording() as wire:
        run("-q", "-c1", "-n1", wire.url("/a b/ä?x=y z%20"))
    assert wire.requests[0].startswith(b"GET /a%20b/%C3%A4?x=y%20z%20 HTTP/1.1\r\n")


def test_help_and_version_are_no_errors() -> None:
    helped = run("--help")
    assert (helped.returncode, helped.stdout) == (0, "")
    assert helped.stderr.splitlines()[0] == "usage: bombardier [<flags>] <url>"
    version = run("--version")
    assert (version.returncode, version.stdout) == (0, "")
    assert version.stderr.startswith("bombardier version v2.0.2 linux/")


def on_terminal(words: Sequence[str], columns: int = 80) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([*ASSAY, *words], stdout=theirs, stderr=theirs, env=QUIET) as running:
        os.close(theirs)
        pieces = []
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            pieces.append(piece)
        assert running.wait(PATIENCE_S) == 0
    os.close(ours)
    return b"".join(pieces).decode()


@pytest.mark.parametrize(("words", "name"), [(("-d", "2s"), "tty_d.raw"), (("-n", "100000"), "tty_n.raw")])
def test_the_bar_fills_the_terminal(words: tuple[str, ...], name: str) -> None:
    with recording() as wire:
        shown = on_terminal([*words, "-c", "4", wire.url()])
    first, bar, rest = shown.split("\r\n", 2)
    theirs = sample(name).split("\r\n", 2)
    assert first == theirs[0].replace("18080", str(wire.port))
    frames, models = bar.split("\r")[1:], theirs[1].split("\r")[1:]
    assert frames[0] == models[0].ljust(80)
    assert {len(frame) for frame in frames} == {80}

    def plain(frame: str) -> str:
        return re.sub("=+", "=", re.sub(r"\d+(/?s)\b", r"N\1", frame.rstrip()))

    assert plain(frames[-1]) == plain(models[-1])
    shape = r"( \d+ / \d+ )?\[(=*>-+|-+|=+)\]( +\d+\.\d\d%( \d+/s)?)?( (\d\dm)?\d+s)? *"
    assert [frame for frame in frames if not re.fullmatch(shape, frame)] == []
    assert rest.startswith("Done!\r\nStatistics ")


def test_ctrl_c_ends_a_run_with_its_report() -> None:
    asked = threading.Event()

    def answer(_: bytes) -> bytes:
        asked.set()
        return HELLO

    with recording(answer) as wire:
        command = [*ASSAY, "-c", "2", "-d", "60s", "-p", "r", wire.url()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=QUIET) as running:
            assert asked.wait(PATIENCE_S)
            # Until the program waits for the load, its imports could be what is interrupted.
            while len(wire.requests) < 20_000:
                asked.clear()
                assert asked.wait(PATIENCE_S)
            running.send_signal(signal.SIGINT)
            out, _ = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0
    assert b"  HTTP codes:\n" in out


def test_a_template_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    file = tmp_path / "t"
    file.write_text("{{ .Result.Req2XX }}")
    with recording() as wire:
        ended = run("-n1", "-c1", "-o", f"path:{file}", wire.url())
    assert ended.returncode == 1
    assert ended.stdout == STARTING + TEMPLATE_REFUSED + "\n"
    assert wire.requests == []
