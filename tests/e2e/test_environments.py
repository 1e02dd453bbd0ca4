"""Every verb in environments that nobody wishes for: one line and a documented exit code, never a traceback.

Environments are drawn for verbs (with a seed, so that a failure is found again): closed or full standard
streams, a folder that is gone, no home, odd locales and terminals, words and variables that are not UTF-8,
limits of the system, a read-only file system, no /proc.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from assay import dropin
from assay.core.errors import EXIT_CODES, EXIT_INTERNAL

pytestmark = pytest.mark.beside

KEPT = Path(__file__).parents[1] / "golden" / "records" / "sample" / "run.jsonl"
PATIENCE_S = 120.0
DRAWN = 200
RUN = 'exec "$@"'
DOCUMENTED = {*EXIT_CODES, 141} - {EXIT_INTERNAL}
"""A defect of ours is what must not be; 141 says that the reader of standard output went away."""


@dataclass(frozen=True)
class Environment:
    """What a shell does before it becomes the command, and the variables that differ (None: not set)."""

    shell: str = RUN
    variables: Mapping[str, str | None] = field(default_factory=dict)
    mounts: bool = False
    """Whether it needs a mount namespace of its own."""


def _variables(**variables: str | None) -> Environment:
    return Environment(variables=variables)


def _alone(shell: str) -> Environment:
    return Environment(f"{shell} && {RUN}", mounts=True)


ENVIRONMENTS: Mapping[str, Environment] = {
    "stdin closed": Environment(f"{RUN} <&-"),
    "stdout closed": Environment(f"{RUN} >&-"),
    "stderr closed": Environment(f"{RUN} 2>&-"),
    "all closed": Environment(f"{RUN} <&- >&- 2>&-"),
    "both outputs closed": Environment(f"{RUN} >&- 2>&-"),
    "stdin only to be written": Environment(f"{RUN} 0>/dev/null"),
    "stdout only to be read": Environment(f"{RUN} 1</dev/null"),
    "stdout full": Environment(f"{RUN} >/dev/full"),
    "stderr full": Environment(f"{RUN} 2>/dev/full"),
    "both outputs full": Environment(f"{RUN} >/dev/full 2>&1"),
    "reader gone": Environment('"$@" | true'),
    "folder gone": Environment(f"mkdir gone && cd gone && rmdir ../gone && {RUN}"),
    "folder read-only": Environment(f"mkdir ro && chmod 555 ro && cd ro && {RUN}"),
    "folder not UTF-8": Environment(f"""f="$(printf 'f\\377')"; mkdir "$f" && cd "$f" && {RUN}"""),
    "no home": _variables(HOME=None, XDG_CACHE_HOME=None, XDG_STATE_HOME=None),
    "home not there": _variables(HOME="/nonexistent/home"),
    "home is a file": _variables(HOME="/dev/null"),
    "home empty": _variables(HOME=""),
    "caches in a file": _variables(
        XDG_CACHE_HOME="/dev/null", XDG_STATE_HOME="/dev/null", ASSAY_CACHE="/dev/null/x"
    ),
    "results in a file": _variables(ASSAY_RESULTS="/dev/null"),
    "lock in a folder": _variables(ASSAY_LOCK="/"),
    "lock not there": _variables(ASSAY_LOCK="/nonexistent/lock"),
    "servers and studies not there": _variables(ASSAY_SERVERS="/nonexistent", ASSAY_STUDIES="/dev/null"),
    "no PATH": _variables(PATH=None),
    "empty PATH": _variables(PATH=""),
    "locale C": _variables(LC_ALL="C"),
    "locale unknown": _variables(LC_ALL="xx_YY.KOI-9", LANG="\udcff"),
    "locale Latin-1": _variables(
        LC_ALL=None, LANG="de_DE.ISO-8859-1", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0"
    ),
    "output in ASCII": _variables(PYTHONIOENCODING="ascii:strict"),
    "output in UTF-16": _variables(PYTHONIOENCODING="utf-16"),
    "variables not UTF-8": _variables(
        USER="\udcff\udcfe", LANGUAGE="\udcff", ASSAY_RESULTS="r\udcff", EDITOR="\udce9"
    ),
    "no variables": Environment('exec env -i "$@"'),
    "terminal unknown": _variables(TERM="\udcff-no-such"),
    "terminal dumb": _variables(TERM="dumb"),
    "no terminal type": _variables(TERM=None),
    "0 columns": _variables(COLUMNS="0", LINES="0"),
    "1 column": _variables(COLUMNS="1"),
    "columns without end": _variables(COLUMNS="99999999999999999999"),
    "columns below 0": _variables(COLUMNS="-5"),
    "columns no number": _variables(COLUMNS="²"),
    "forced colours": _variables(FORCE_COLOR="1", CLICOLOR_FORCE="1", NO_COLOR=None),
    "no TMPDIR": _variables(TMPDIR="/nonexistent/tmp", TMP="/nonexistent", TEMP="/nonexistent"),
    "TMPDIR is a file": _variables(TMPDIR="/dev/null"),
    "time zone odd": _variables(TZ="\udcff/../x"),
    "debugging Python": _variables(PYTHONWARNINGS="error", PYTHONDONTWRITEBYTECODE="1"),
    "proxies odd": _variables(http_proxy="::::", https_proxy="\udcff", no_proxy="*"),
    "24 descriptors": Environment(f"ulimit -n 24 && {RUN}"),
    "8 descriptors": Environment(f"ulimit -n 8 && {RUN}"),
    "files of 0 bytes": Environment(f"ulimit -f 0 && {RUN}"),
    "files of 512 bytes": Environment(f"ulimit -f 1 && {RUN}"),
    "400 MB of memory": Environment(f"ulimit -v 400000 && {RUN}"),
    "no core files, no locks": Environment(f"ulimit -c 0 -l 0 && {RUN}"),
    "small stack": Environment(f"ulimit -s 256 && {RUN}"),
    "hang-ups ignored": Environment(f"trap '' HUP INT PIPE TERM; {RUN}"),
    "no permissions by default": Environment(f"umask 777 && {RUN}"),
    "no /proc": _alone("mount -t tmpfs none /proc"),
    "no /sys": _alone("mount -t tmpfs none /sys"),
    "no /dev": _alone("mount -t tmpfs none /dev"),
    "no /tmp": _alone("mount -t tmpfs -o ro none /tmp"),
    "read-only file system": _alone("mount -o remount,bind,ro / / 2>/dev/null || mount -o remount,ro,bind /"),
    "no network": Environment('exec unshare -rn "$@"', mounts=True),
}
"""By what is odd in it."""


def verbs(url: str, folder: Path) -> Mapping[str, list[str]]:
    """Each verb with words that are right."""
    text = folder / "results.md"
    short = ["-d", "200ms", "--warm-up", "0s", "-c", "2"]
    return {
        "help": ["--help"],
        "version": ["--version"],
        "mistake": ["lod"],
        "not UTF-8": ["l\udcffd"],
        "load": ["load", url, "-n", "20", "-c", "2"],
        "load --json": ["load", url, *short, "--json"],
        "load --html": ["load", url, *short, "--html", "page\udcff.html", "--save"],
        "load of nobody": ["load", "http://127.0.0.1:1/", "-n", "2"],
        "load not UTF-8": ["load", f"{url}\udcff", "-n", "2", "-H", "x: \udcff"],
        "run": ["run", "no-such-study"],
        "run not UTF-8": ["run", "stud\udcffy.toml"],
        "capacity": ["capacity", url],
        "versus": ["versus", "exit 3"],
        "versus not UTF-8": ["versus", "exit 3; \udcff", "--name", "\udcff"],
        "report": ["report", str(KEPT)],
        "report latest": ["report", "latest"],
        "report --html": ["report", str(KEPT), "--html", "r.html", "--csv", "r.csv"],
        "report --markdown": ["report", str(KEPT), "--markdown", "-"],
        "judge": ["judge", str(KEPT), "--dry-run"],
        "compare": ["compare", str(KEPT), str(KEPT), "--markdown", "-"],
        "history": ["history"],
        "history not UTF-8": ["history", "--results", "r\udcffs"],
        "audit": ["audit", str(text)],
        "audit -": ["audit", "-"],
        "audit not UTF-8": ["audit", str(folder), "--sarif", "-"],
        "doctor": ["doctor"],
        "setup": ["setup", "no/such"],
        "init": ["init", "mine"],
        "servers": ["servers"],
        "studies": ["studies"],
        "rules": ["rules"],
        "explain": ["explain", "G1"],
        "schema": ["schema", "run"],
        "completion": ["completion", "bash"],
        "manual": ["manual"],
        "view": ["view", "--help"],
        "nodes": ["nodes"],
        "wrk": ["wrk", "-d", "1", "-c", "2", "-t", "1", url],
        "ab": ["ab", "-n", "20", "-c", "2", url],
        "bombardier": ["bombardier", "-n", "20", "-c", "2", url],
        "h2load": ["h2load", "--h1", "-n", "20", "-c", "2", url],
    }


class Hello(BaseHTTPRequestHandler):
    """Answers with a word."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server on loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def texts(folder: Path) -> None:
    """Texts for an audit, one of a name that is not UTF-8."""
    said = "wrk -c 64\n\n  Requests/sec:  100.00\n"
    (folder / "results.md").write_text(said)
    (folder / "r\udce9sum\udce9.md").write_text(said)


def ended(name: str, words: list[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    """The end of a verb in an environment."""
    environment = ENVIRONMENTS[name]
    variables = {key: word for key, word in os.environ.items() if not key.startswith("ASSAY_")}
    variables.pop("PYTHONUNBUFFERED", None)  # with it nothing is left to be written at the end
    variables |= {
        "ASSAY_LOCK": str(folder / "lock"),
        "XDG_STATE_HOME": str(folder / "state"),
        "TERM": "xterm",
    }
    for key, word in environment.variables.items():
        variables.pop(key, None)
        if word is not None:
            variables[key] = word
    shell = ["/bin/sh", "-c", environment.shell, "sh", sys.executable, "-m", "assay.cli.main", *words]
    apart = [shutil.which("unshare") or "", "-m"] if environment.mounts else []
    return subprocess.run(
        [*apart, *shell], cwd=folder, env=variables, capture_output=True, stdin=subprocess.DEVNULL,
        timeout=PATIENCE_S,
    )  # fmt: skip


def drawn() -> list[tuple[str, int]]:
    """Each environment at least once, and so many in all; which verb, is drawn by number."""
    draw = random.Random(23)
    names = list(ENVIRONMENTS)
    return [(names[n % len(names)], draw.randrange(10**6)) for n in range(DRAWN)]


@pytest.mark.parametrize(("name", "number"), drawn())
def test_no_environment_brings_out_a_traceback(name: str, number: int, url: str, tmp_path: Path) -> None:
    if ENVIRONMENTS[name].mounts and os.geteuid():
        pytest.skip("a mount namespace needs root")
    if name == "no /tmp" and sys.executable.startswith("/tmp/"):
        pytest.skip("this checkout lies there")
    texts(tmp_path)
    offered = verbs(url, tmp_path)
    verb = sorted(offered)[number % len(offered)]
    check(name, verb, ended(name, offered[verb], tmp_path))


def check(name: str, verb: str, done: subprocess.CompletedProcess[bytes]) -> None:
    told = (done.stdout + done.stderr).decode(errors="replace")
    where = f"{verb!r} with {name}: {done.returncode}\n{told[-2000:]}"
    assert not re.search("Traceback|Exception ignored|panicked|Fatal Python|most recent call", told), where
    spoken = dropin.find(verb) is not None and 0 <= done.returncode < 128  # as the tool: ab with an errno
    assert done.returncode in DOCUMENTED or (spoken and done.returncode != EXIT_INTERNAL), where


def test_figures_that_cannot_be_written_are_an_error_and_words_on_the_way_are_not(
    url: str, tmp_path: Path
) -> None:
    for name, code in (
        ("stdout closed", 2),
        ("stderr closed", 0),
        ("stderr full", 0),
        ("stdin closed", 0),
        ("stdout full", 2),
    ):
        done = ended(name, ["load", url, "-n", "20", "-c", "2"], tmp_path)
        told = done.stderr.decode()
        assert done.returncode in ({code, 1} if code == 0 else {code}), (name, told)
        assert ("cannot write to standard output" in told) == (code == 2), (name, told)
        assert (b"requests" in done.stdout) == (code == 0), name


def test_a_folder_that_is_gone_is_told_in_one_line(tmp_path: Path) -> None:
    for words in (["history"], ["run", "franklin"], ["init", "shop"], ["report", "latest"]):
        done = ended("folder gone", words, tmp_path)
        assert done.returncode == 2
        assert done.stderr.count(b"\n") == 1 and b"the working directory cannot be found" in done.stderr


def test_texts_of_names_that_are_not_utf_8_are_audited(tmp_path: Path) -> None:
    texts(tmp_path)
    for form in (["--sarif", "-"], ["--json"], ["--markdown", "-"], []):
        done = ended("locale C", ["audit", str(tmp_path), *form], tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count(b"sum") >= 1
    done = ended("locale C", ["audit", str(tmp_path), "--sarif", "-"], tmp_path)
    assert b"r%E9sum%E9.md" in done.stdout  # RFC 3986: its bytes


def test_pipes_and_devices_named_like_texts_are_passed_over(tmp_path: Path) -> None:
    texts(tmp_path)
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "zero.md").symlink_to("/dev/zero")
    (tmp_path / "link.md").symlink_to(tmp_path / "pipe.md")
    done = ended("terminal dumb", ["audit", str(tmp_path)], tmp_path)
    told = done.stdout.replace(b"\n", b"")  # a long path is folded
    assert done.returncode == 0 and b"results.md" in told and done.stderr == b""
    alone = ended("terminal dumb", ["audit", str(tmp_path / "pipe.md")], tmp_path)
    assert alone.returncode == 2 and b"nothing comes out of the pipe" in alone.stderr
    written = subprocess.run(
        ["bash", "-c", f'{sys.executable} -m assay.cli.main audit <(cat "$0")', str(tmp_path / "results.md")],
        capture_output=True,
        timeout=PATIENCE_S,
        check=True,
    )
    assert b"1 result" in written.stdout
