"""No credential that a study's or contract's files hold is left in what its runs keep, or on a screen."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from test_secrets import FORMS, Told, secret

from assay.core.vault import TOKEN

pytestmark = pytest.mark.beside

IN_REQUEST = ("header", "cookie", "query", "body", "json", "load-header")
"""What a request of the load carries, a kind each."""
TESTED_ONLY = ("tested-header", "tested-query", "tested-body")
"""What a request carries that is only asked before and after the load."""
OF_SERVER = ("variable", "entry-variable", "flag", "entry-flag")
KINDS = (*IN_REQUEST, *TESTED_ONLY, *OF_SERVER)
PUBLIC = "a right body"
"""What an answer is held to: what a server says to anybody who asks."""

CONTRACT = f"""
format = 1
name = "echoing"
title = "A greeting"
[[routes]]
name = "hello"
method = "POST"
target = "/hello?page=2&sig={secret("query")}"
headers = {{ X-Api-Key = "{secret("header")}", Cookie = "sid={secret("cookie")}" }}
body = '{secret("body")}'
[routes.answer]
body = {{ equals = "{PUBLIC}" }}
[[routes]]
name = "json"
method = "POST"
target = "/json"
body = '{{"pw": "{secret("json")}"}}'
[routes.answer]
[[routes]]
name = "tested"
method = "POST"
target = "/tested?code={secret("tested-query")}"
headers = {{ Authorization = "Bearer {secret("tested-header")}" }}
body = '{secret("tested-body")}'
[routes.answer]
status = 200
body = {{ equals = "{PUBLIC}" }}
"""
PROGRAM = r"""
import http.server, os, sys

BODY = b"a right body"

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        said = f"{body} {self.path} {self.headers.items()} {dict(os.environ)} {sys.argv}".encode()
        path = os.path.join(os.path.dirname(__file__), "got")
        if not os.path.exists(path) or os.path.getsize(path) < 200_000:
            with open(path, "ab") as got:
                got.write(said)
        wrong = os.environ["MOOD"] == "tells" and "/tested" in self.path
        self.answer(said if wrong else BODY)

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *given):
        pass

at = os.environ["HOST"], int(os.environ["PORT"])
http.server.ThreadingHTTPServer(at, Handler).serve_forever()
"""
SERVER = """
format = 1
title = "{mood}"
language = "python"
framework = "none"
[version]
command = ["{python}", "--version"]
[run]
command = ["{python}", "{folder}/server.py", "--password", "{flag}"]
[run.env]
MOOD = "{mood}"
API_TOKEN = "{variable}"
"""
STUDY = f"""
format = 1
name = "told"
title = "What is told"
question = "Who tells?"
[[servers]]
server = "echoing/right"
env = {{ OTHER_TOKEN = "{secret("entry-variable")}" }}
args = ["--secret={secret("entry-flag")}"]
[[servers]]
server = "echoing/tells"
[[workloads]]
name = "both"
routes = ["hello", "json"]
[profiles.fair]
blocks = 1
control_blocks = 0
interleaved = false
[[profiles.fair.loads]]
connections = 1
threads = 1
requests = 20
headers = {{ X-Of-Load = "{secret("load-header")}" }}
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """A study with a secret in everything, asked about, refused, run, and written in every form."""
    outside = tmp_path_factory.mktemp("outside")
    told = Told(tmp_path_factory.mktemp("study"))
    contract = told.folder / "servers" / "echoing"
    contract.mkdir(parents=True)
    (contract / "contract.toml").write_text(CONTRACT)
    (outside / "server.py").write_text(PROGRAM)
    for mood in ("right", "tells"):
        (contract / mood).mkdir()
        (contract / mood / "server.toml").write_text(
            SERVER.format(
                mood=mood,
                python=sys.executable,
                folder=outside,
                flag=secret("flag"),
                variable=secret("variable"),
            )
        )
    (told.folder / "studies").mkdir()
    (told.folder / "studies" / "told.toml").write_text(STUDY)
    told.assay("run", "told", ASSAY_TRUST="0")
    told.assay("run", "told")
    told.assay("run", "told", "--server", "echoing/right", "--json")
    told.assay("report", "latest", *FORMS)
    told.assay("report", "latest")
    assert told.code[0] == 2 and told.code[2] in (0, 1), told.said
    got = (outside / "got").read_text()
    assert [kind for kind in KINDS if secret(kind) not in got] == []
    yield told


def found_in(told: Told, kind: str) -> list[str]:
    """Where a secret is left that is not of the study's own files."""
    own = (str(told.folder / "servers"), str(told.folder / "studies"))
    return [where for where, content in told.left()
            if secret(kind).encode() in content and not where.startswith(own)]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_leaves_no_secret(told: Told, kind: str) -> None:
    assert found_in(told, kind) == []


def test_what_a_right_answer_is_stays_readable(told: Told) -> None:
    records = [path.read_text() for path in (told.folder / "results").glob("*/run.jsonl")]
    assert records
    assert all(PUBLIC in record and "page=2" in record and TOKEN.search(record) for record in records)
    assert "POST /tested?code=hidden-" in told.said
