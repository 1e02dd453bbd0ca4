"""The GitHub action and the GitLab template: their own steps, in a shell with the platform's variables.

A busy machine may leave the decision open: what is held is that code, summary, annotation and comment agree.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from made_candidates import PATIENCE_S

pytestmark = pytest.mark.beside

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GITLAB = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text(encoding="utf-8"))[".assay-gate"]
DECIDED = {0: "notice", 3: "error"}
"""The kind of the annotation by exit code."""
SHORT = "--budget 20s -d 500ms --warm-up 0 --no-control --sequential -c 2 -t 1"
SERVER = """
import http.server, pathlib, sys, threading

PAUSE = float(pathlib.Path("pause").read_text())

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        threading.Event().wait(PAUSE)
        self.wfile.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nhello")

    def log_message(self, *given):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


class Api(BaseHTTPRequestHandler):
    """The comments of one request, as both platforms keep them."""

    comments: list[dict[str, Any]]
    asked: list[tuple[str, str, str]]

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path, _, query = self.path.partition("?")
        key = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN") or ""
        self.asked.append((self.command, path, key))
        told: Any = self.comments[100 * (int(query[-1]) - 1) :][:100] if query else {}
        if self.command == "POST":
            self.comments.append({"id": 900 + len(self.comments), "body": json.loads(body)["body"]})
        elif self.command in ("PATCH", "PUT"):
            [found] = (one for one in self.comments if str(one["id"]) == path.rpartition("/")[2])
            found["body"] = json.loads(body)["body"]
        data = json.dumps(told).encode()
        self.send_response(200 if key.endswith("t0ken") else 403)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = do_PUT = answer

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def api() -> Iterator[str]:
    Api.asked, Api.comments = [], [{"id": number, "body": "seen"} for number in range(100)]
    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def checkouts(tmp_path: Path) -> Path:
    """Base and head of a server that a build makes; head's answers take much longer."""
    for side, pause in (("base", "0.001"), ("head of it's", "0.05")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "source").write_text(SERVER)
        (tmp_path / side / "pause").write_text(pause)
    return tmp_path


def run(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A script in a shell of the platform, where `assay` is this checkout's."""
    commands = folder / "bin"
    commands.mkdir(exist_ok=True)
    (commands / "assay").write_text(f'#!/bin/sh\nexec {sys.executable} -m assay.cli.main "$@"\n')
    (commands / "assay").chmod(0o755)
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "PYTHONPATH") if name in os.environ}
    path = f"{commands}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/sh", "-e", "-c", script], cwd=folder,
        env={**kept, "PATH": path, "ASSAY_LOCK": str(folder / "lock"), **variables},
        capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip


def github(folder: Path, api: str, inputs: dict[str, str]) -> tuple[int, str]:
    """All steps of the action, as a runner takes them; the gate's code, and what was said."""
    (folder / "event.json").write_text('{"pull_request": {"number": 7}}')
    given = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()} | inputs
    runner = {
        "GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(ROOT), "GITHUB_API_URL": api,
        "GITHUB_EVENT_PATH": str(folder / "event.json"), "GITHUB_REPOSITORY": "o/r",
        "GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_WORKFLOW_REF": "o/r/.github/workflows/a,b.yml@refs/heads/main",
    }  # fmt: skip
    code, said = 0, ""
    for step in ACTION["runs"]["steps"]:
        if step["name"] == "Install" and not given["install"]:
            continue
        variables = {name: filled(value, given, folder / "output") for name, value in step["env"].items()}
        ended = run(step["run"], folder, **runner, **variables)
        said += ended.stdout + ended.stderr
        code = code or ended.returncode
    return code, said


def filled(text: str, given: dict[str, str], output: Path) -> str:
    """The expressions of the action, each of a kind that it has."""

    def value(found: re.Match[str]) -> str:
        word = found[1].strip()
        if word == "steps.gate.outputs.code":
            return output.read_text().strip().rpartition("=")[2]
        if word == "inputs.comment == 'true' && inputs.token || ''":
            return given["token"] if given["comment"] == "true" else ""
        return given[word.removeprefix("inputs.")]

    return re.sub(r"\$\{\{(.*?)\}\}", value, text)


def assert_sarif(log: dict[str, Any], *, broken: bool) -> None:
    """What the published schema and code scanning ask for: versions, rules by their results, places."""
    assert log["version"] == "2.1.0" and set(log) == {"$schema", "version", "runs"}
    [only] = log["runs"]
    assert only["tool"]["driver"]["name"] == "Assay"
    rules = [one["id"] for one in only["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules) and set(rules) == {one["ruleId"] for one in only["results"]}
    assert all(one["shortDescription"]["text"] for one in only["tool"]["driver"]["rules"])
    for one in only["results"]:
        assert one["level"] in ("error", "warning") and one["message"]["text"]
        [place] = one["locations"]
        assert place["physicalLocation"]["artifactLocation"] == {"uri": ".github/workflows/a%2Cb.yml"}
        assert place["physicalLocation"]["region"]["startLine"] == 1
        assert one["partialFingerprints"]["primaryLocationLineHash"].startswith(one["ruleId"])
    assert ("gate" in rules) == broken


def test_the_action_tells_what_the_gate_found_and_updates_its_comment(checkouts: Path, api: str) -> None:
    inputs = {
        "head": "head of it's", "build": "cp source server.py", "args": SHORT, "token": "t0ken",
        "serve": f"{sys.executable} server.py {{port}}", "install": "touch installed",
    }  # fmt: skip
    code, said = github(checkouts, api, inputs)
    assert code in DECIDED, said
    assert (checkouts / "installed").exists()
    assert (checkouts / "output").read_text() == f"code={code}\n"
    assert f"::{DECIDED[code]} file=.github/workflows/a%2Cb.yml,title=Assay::head is " in said
    out = checkouts / "assay-gate"
    assert_sarif(json.loads((out / "assay.sarif").read_text()), broken=code == 3)
    summary = (out / "summary.md").read_text()
    assert summary and (checkouts / "summary").read_text() == summary
    assert ("is broken" in summary) == (code == 3)
    suite = ElementTree.parse(out / "junit.xml").find("testsuite")
    assert suite is not None and suite.get("failures") == str(int(code == 3))
    assert "<html" in (out / "report.html").read_text()
    own = [one for one in Api.comments if one["body"] != "seen"]
    assert [one["body"] for one in own] == [f"<!-- assay gate assay -->\n{summary}"]
    assert [one[0] for one in Api.asked] == ["GET", "GET", "POST"]
    again = run(ACTION["runs"]["steps"][2]["run"], checkouts, CODE=str(code), GITHUB_TOKEN="t0ken",
                GITHUB_ACTION_PATH=str(ROOT), GITHUB_API_URL=api, GITHUB_REPOSITORY="o/r",
                GITHUB_EVENT_PATH=str(checkouts / "event.json"))  # fmt: skip
    assert again.stdout == "the comment was updated\n" and again.returncode == 0
    assert [one[:2] for one in Api.asked[-2:]] == [
        ("GET", "/repos/o/r/issues/7/comments"), ("PATCH", f"/repos/o/r/issues/comments/{own[0]['id']}"),
    ]  # fmt: skip
    assert len(Api.comments) == 101


def test_a_build_that_fails_ends_the_gate_and_is_told(checkouts: Path, api: str) -> None:
    code, said = github(checkouts, api, {"build": "exit 5", "serve": "x", "token": "no"})
    assert code == 2
    assert "base could not be built: exit 5" in said
    assert "no comment: HTTP Error 403" in said


def test_the_template_of_gitlab_does_the_same(checkouts: Path, api: str) -> None:
    lines = [line for line in GITLAB["script"] if "worktree" not in line]
    variables = {
        **GITLAB["variables"], "INSTALL": "true", "ASSAY_HOME": str(ROOT), "HEAD_DIR": "head of it's",
        "BASE_DIR": "base", "BUILD": "cp source server.py", "ARGS": SHORT, "GITLAB_TOKEN": "t0ken",
        "SERVE": f"{sys.executable} server.py {{port}}", "CI_API_V4_URL": api, "CI_PROJECT_ID": "3",
        "CI_MERGE_REQUEST_IID": "4",
    }  # fmt: skip
    ended = run("\n".join(lines), checkouts, **variables)
    assert ended.returncode in DECIDED, ended.stderr
    assert "::error" not in ended.stdout and "a comment was written" in ended.stdout
    assert Api.asked[-1] == ("POST", "/projects/3/merge_requests/4/notes", "t0ken")
    [report] = GITLAB["artifacts"]["reports"].values()
    assert ElementTree.parse(checkouts / report).getroot().tag == "testsuites"


@pytest.mark.parametrize(("code", "kind"), [(0, "notice"), (1, "warning"), (3, "error")])
def test_an_annotation_is_of_one_line_whatever_the_summary_says(tmp_path: Path, code: int, kind: str) -> None:
    (tmp_path / "summary.md").write_text("# gate\n\n**50 % slower\r::error::no**\n")
    ended = run(f"python3 {ROOT}/ci/tell.py . {code}", tmp_path, GITHUB_ACTIONS="true")
    assert ended.stdout.splitlines() == [
        f"::{kind} title=Assay::50 %25 slower", "no comment: this is no pull request, or there is no token",
    ]  # fmt: skip


def test_the_action_has_the_documented_keys_alone() -> None:
    assert set(ACTION) == {"name", "description", "inputs", "outputs", "runs"}
    for name, one in ACTION["inputs"].items():
        assert re.fullmatch(r"[a-z_][a-z0-9_-]*", name)
        assert set(one) <= {"description", "required", "default", "deprecationMessage"}
        assert isinstance(one["description"], str) and isinstance(one.get("default", ""), str)
    assert all(set(one) == {"description", "value"} for one in ACTION["outputs"].values())
    assert set(ACTION["runs"]) == {"using", "steps"} and ACTION["runs"]["using"] == "composite"
    for step in ACTION["runs"]["steps"]:
        assert set(step) <= {"name", "id", "if", "shell", "env", "run", "working-directory"}
        assert {"run", "shell"} <= set(step), "a composite step says its shell"
        assert "${{" not in step["run"], "an input that is put into a script would be run"
        used = re.findall(r"inputs\.([\w-]+)", json.dumps(step))
        assert set(used) <= set(ACTION["inputs"])
