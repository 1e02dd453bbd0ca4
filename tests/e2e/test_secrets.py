"""No credential of any kind is left in a file of a run, in a name, or on a screen, whatever the command."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from interrupting import interrupted
from made_candidates import ASSAY, PATIENCE_S, QUICK, command, environment, left_of
from wire import recording

from assay.cli.main import main

pytestmark = pytest.mark.beside

FORMS = ("--html", "p.html", "--markdown", "p.md", "--csv", "p.csv", "--junit", "p.xml", "--svg", "svg",
         "--benchstat", "p.txt", "--bmf", "p.bmf", "--json")  # fmt: skip
TINY = ("-d", "60ms", "--warm-up", "0", "-t", "1")
SEARCH = ("--slo", "p99<1s", "--from", "20", "--to", "40", "--budget", "1s", *TINY)


def secret(kind: str) -> str:
    """A secret that nothing else is spelled like."""
    return f"qZ-{kind}-Xw"


@dataclass
class Told:
    """All that a command said, and where it ran."""

    folder: Path
    said: str = ""
    code: list[int] = field(default_factory=list)

    def left(self) -> Iterator[tuple[str, bytes]]:
        """Every file below the folder that is not an input of the test, and what was said."""
        yield "standard output and error", self.said.encode()
        for path in self.folder.rglob("*"):
            yield f"the name {path}", str(path.relative_to(self.folder)).encode()
            if path.is_file() and not path.name.startswith("given"):
                yield str(path), path.read_bytes()

    def assay(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run Assay there, with `more` variables."""
        state = {"XDG_STATE_HOME": str(self.folder / "state")} | more
        ended = subprocess.run(
            [*ASSAY, *words], cwd=self.folder, env=environment(self.folder) | state, capture_output=True,
            text=True, check=False, timeout=PATIENCE_S, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert "Traceback" not in ended.stderr and left_of(self.folder) == [], ended.stderr
        self.said += ended.stdout + ended.stderr
        self.code.append(ended.returncode)
        return ended


LOADED = {
    "authorization": ("-H", "Authorization: Digest {}"),
    "api-key": ("-H", "X-Api-Key: {}"),
    "unknown-header": ("-H", "X-Whatever: {}"),
    "proxy-authorization": ("-H", "Proxy-Authorization: Basic {}"),
    "cookie": ("-H", "Cookie: theme=dark; sid={}"),
    "csrf": ("-H", "X-CSRF-Token: {}"),
    "referer": ("-H", "Referer: http://a/?code={}"),
    "agent-in-url": ("-H", "User-Agent: x http://me:{}@h/"),
    "form": ("-F", "password={}"),
    "form-harmless-name": ("-F", "who={}"),
}
"""Flags of `assay load`, a kind each."""
ASKED = {
    "bearer": ("--bearer", "{}"),
    "header": ("-H", "X-Other: {}"),
    "body": ("-b", '{{"login": "{}"}}'),
}
"""Flags that `versus` and `capacity` have too."""
IN_QUERIES = ("access_token", "sig", "key", "X-Amz-Signature", "code", "email", "password")
BEFORE = {
    "variable": "PGPASSWORD={}",
    "quoted-variable": "OTHER='a {}'",
    "harmless-variable": "WHO={}",
    "database": "DATABASE_URL=postgres://me:{}@db/x",
    "java-options": 'JAVA_OPTS="-Ddb.password={}"',
    "env": "env -u NOTHING MYSQL_PWD={}",
}
AFTER = {
    "flag": "--password {}",
    "flag-equals": "--api-key={}",
    "flag-camel": "--dbPass {}",
    "url-flag": "--db mysql://me:{}@db/x",
    "dsn": "--store 'me:{}@tcp(127.0.0.1:3306)/x'",
    "query-flag": "--hook 'http://h/?a=1&sig={}'",
    "json-flag": """--config '{{"secret": "{}"}}'""",
    "header-flag": "--header 'X-Key: {}'",
    "property": "auth.token={}",
}
AROUND = {
    "export": "export A_B={}; exec {command}",
    "nested-shell": "sh -c 'exec env TOP={} {command}'",
}
"""What a server's command holds before, after and around the program, a kind each."""
COMMANDS = (*BEFORE, *AFTER, *AROUND)


@pytest.fixture(scope="module")
def loads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """`assay load` with a secret in everything, kept and written in every form."""
    told = Told(tmp_path_factory.mktemp("loads"))
    flags = [word.format(secret(kind)) for kind, words in LOADED.items() for word in words]
    query = "&".join(f"{name}={secret(name)}" for name in IN_QUERIES)
    lines = [
        {"path": f"/?t={secret('path')}", "headers": {"X-Key": secret("file-header"), "Accept": "*/*"}},
        {"path": "/b", "json": {"pw": secret("file-json")}},
        {"path": "/c", "method": "POST", "body": secret("file-body"), "expect": {"headers": {"X-S": "x"}}},
    ]
    (told.folder / "given.jsonl").write_text("\n".join(map(json.dumps, lines)))
    few = ("-n", "6", "-c", "1", "-t", "1", "--save")
    with recording() as wire:
        told.assay("load", wire.url(f"/?{query}"), *flags, *few, "--name", "a", *FORMS)
        told.assay("load", wire.url(), "--user", f"me:{secret('user')}", *few)
        told.assay("load", wire.url(), *few[:-1], "--requests", "given.jsonl", "--save", *FORMS)
        told.assay("load", wire.url(f"/?sig={secret('unnamed')}"), *few)
        told.assay("load", f"http://me:{secret('user-info')}@127.0.0.1:{wire.port}/", *few)
        _recorded(told, wire.url("/recorded"), few)
        told.assay("report", "latest", "--html", "again.html")
        told.assay("history")
        sent = b"".join(wire.requests)
    assert told.code[:4] == [0, 0, 1, 2], told.said
    assert told.code[5:12] == [0] * 7, told.said
    everything = (*LOADED, *REFERRED, *IN_QUERIES, "path", "file-header", "file-json", "file-body")
    assert [kind for kind in everything if secret(kind).encode() not in sent] == []
    assert "--name" in told.said.splitlines()[-1] or "--name" in told.said
    yield told


REFERRED = ("bearer-file", "header-file", "bearer-variable", "header-variable", "curl-header", "curl-body",
            "curl-user", "har-header", "har-query", "har-body")  # fmt: skip
"""Secrets that come from files, variables and recordings."""


def _recorded(told: Told, url: str, few: tuple[str, ...]) -> None:
    """Loads whose secrets are referred to, or that were recorded with them."""
    (told.folder / "given.token").write_text(f"{secret('bearer-file')}\n")
    (told.folder / "given.headers").write_text(f"# of the gateway\nAccept: {secret('header-file')}\n")
    told.assay("load", url, "--bearer-file", "given.token", "--header-file", "given.headers", *few, *FORMS)
    told.assay("load", url, "--bearer", "env:A_TOKEN", *few, *FORMS, A_TOKEN=secret("bearer-variable"))
    told.assay("load", url, "-H", "Accept: env:A_KEY", *few, *FORMS, A_KEY=secret("header-variable"))
    command = f"curl {url} -H 'X-Key: {secret('curl-header')}' -d '{secret('curl-body')}'"
    told.assay("load", "--curl", command, *few, *FORMS)
    # Base64 of the credentials is what is sent.
    told.assay("load", "--curl", f"curl -u '{secret('curl-user')}:x' -b s={secret('curl-user')} {url}", *few)
    asked = {"method": "POST", "url": f"{url}?sig={secret('har-query')}",
             "headers": [{"name": "X-Key", "value": secret("har-header")}],
             "postData": {"mimeType": "text/plain", "text": secret("har-body")}}  # fmt: skip
    (told.folder / "given.har").write_text(json.dumps({"log": {"entries": [{"request": asked}]}}))
    told.assay("load", "--har", "given.har", *few, *FORMS)
    told.assay("load", url, "-u", "env:A_USER", *few, A_USER=f"me:{secret('user-variable')}")


PROGRAM = r"""
import http.server, os, sys

told = []

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not told:
            told.append(self)
            with open(os.path.dirname(__file__) + "/got", "a") as got:
                print(self.path, self.headers.items(), sys.argv, dict(os.environ), body, file=got)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    do_POST = do_GET

    def log_message(self, *given):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
"""A server that takes any flags and writes down what it is told."""


@pytest.fixture(scope="module")
def comparisons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """`assay versus` and `capacity` of commands and URLs that hold secrets."""
    told = Told(tmp_path_factory.mktemp("comparisons"))
    outside = tmp_path_factory.mktemp("outside")
    (outside / "candidate.py").write_text(PROGRAM)
    server = f"{sys.executable} {outside}/candidate.py {{port}}"
    before, after = ([text.format(secret(kind)) for kind, text in of.items()] for of in (BEFORE, AFTER))
    around = [text.format(secret(kind), command=server) for kind, text in AROUND.items()]
    given = [" ".join((*before, server, *after)), *around]
    asked = [word.format(secret(kind)) for kind, words in ASKED.items() for word in words]
    hooks = [word for one in ("setup", "prepare", "cleanup")
             for word in (f"--{one}", f"HOOK={secret(one)} sh -c 'echo $HOOK >>{outside}/got'")]  # fmt: skip
    short = ("--no-control", "--sequential", "--budget", "1500ms", *TINY)
    names = ("--name", "a", "--name", "b", "--name", "c")
    told.assay("versus", *given, *names, *hooks, *asked, *short, *FORMS)
    told.assay("report", "latest")
    for text in (*(f"{word} {server}" for word in before), *(f"{server} {word}" for word in after), *around):
        unnamed = io.StringIO()
        with contextlib.redirect_stderr(unnamed):
            assert main(["capacity", "--command", text, *SEARCH]) == 2, text
        assert "--name" in unnamed.getvalue(), text
        told.said += unnamed.getvalue()
    with recording() as one, recording() as other:
        urls = [wire.url(f"/?sig={secret('url-sig')}&n=1") for wire in (one, other)]
        told.assay("versus", *urls, "-u", f"me:{secret('versus-user')}", *short, *FORMS)
        told.assay(
            "capacity", urls[0], "--name", "it", "--bearer", secret("capacity-bearer"), *SEARCH, *FORMS
        )
        sent = b"".join(one.requests + other.requests)
    assert all(secret(kind).encode() in sent for kind in ("url-sig", "capacity-bearer")), told.said
    told.assay("capacity", "--command", f"WHY={secret('last-words')} sh -c 'echo error: bad $WHY; exit 1'",
               "--name", "it", *SEARCH)  # fmt: skip
    got = (outside / "got").read_text()
    assert [
        kind for kind in (*COMMANDS, *ASKED, "setup", "prepare", "cleanup") if secret(kind) not in got
    ] == []
    yield told


LOAD_KINDS = (
    *LOADED,
    *IN_QUERIES,
    "user",
    "user-info",
    "unnamed",
    "path",
    "file-header",
    "file-json",
    "file-body",
)
COMPARISON_KINDS = (
    *COMMANDS, *ASKED, "setup", "prepare", "cleanup",
    "url-sig", "versus-user", "capacity-bearer", "last-words",
)  # fmt: skip


def found_in(told: Told, kind: str) -> list[str]:
    """Where a secret is left, also as Basic credentials have it."""
    coded = b64encode(f"me:{secret(kind)}".encode())
    return [where for where, content in told.left() if secret(kind).encode() in content or coded in content]


@pytest.mark.parametrize("kind", LOAD_KINDS)
def test_a_load_leaves_no_secret(loads: Told, kind: str) -> None:
    assert found_in(loads, kind) == []


@pytest.mark.parametrize("kind", COMPARISON_KINDS)
def test_a_comparison_or_a_search_leaves_no_secret(comparisons: Told, kind: str) -> None:
    assert found_in(comparisons, kind) == []


def test_records_and_logs_are_their_users_alone(loads: Told, comparisons: Told) -> None:
    for told in (loads, comparisons):
        records = [*(told.folder / "results").glob("*/run.jsonl"), *(told.folder / "results").glob("*/logs")]
        assert records
        assert [
            path for path in (*records, told.folder / "state/assay/key") if path.stat().st_mode & 0o077
        ] == []


def test_a_resumed_run_asks_for_its_secret_and_takes_it(tmp_path: Path) -> None:
    words = [f"PASSWORD=hunter-two {command(tmp_path)}", command(tmp_path), "--name", "a", "--name", "b"]
    flags = ("-u", "me:hunter-three", *QUICK, "--budget", "8s", "--margin", "0.001%", "--no-control")
    env = environment(tmp_path) | {"XDG_STATE_HOME": str(tmp_path / "state")}
    stopped = interrupted([*ASSAY, "versus", *words, *flags], tmp_path, env, "1 block")
    assert stopped.returncode == 130, stopped.stderr
    told = Told(tmp_path)
    asked = told.assay("run", "--resume", "latest")
    assert (asked.returncode, len(asked.stderr.splitlines())) == (2, 1)
    assert "the command or URL of a" in asked.stderr and "header Authorization" in asked.stderr
    assert "--secret" in asked.stderr
    wrong = told.assay("run", "--resume", "latest", "--secret", "hunter-two", "--secret", "me:hunter-four")
    assert wrong.returncode == 2 and "the command or URL" not in wrong.stderr
    before = (tmp_path / "results").glob("*/run.jsonl")
    lines = len(next(before).read_text().splitlines())
    ended = told.assay("run", "--resume", "latest", "--secret", "hunter-two", "--secret", "me:hunter-three")
    assert ended.returncode in (0, 1), ended.stderr
    [record] = (tmp_path / "results").glob("*/run.jsonl")
    assert len(record.read_text().splitlines()) > lines
    assert "hunter" not in record.read_text()
