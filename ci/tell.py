"""Tell a pull or merge request what a gate found: one comment that is updated, annotations, assay.sarif.

    python tell.py FOLDER CODE    FOLDER is what gate.sh left, CODE its exit code

GitHub's or GitLab's variables say where. Nothing here fails a job: the gate decides.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

MOST_CHARACTERS = 60_000
"""GitHub takes 65,536."""
MOST_ANNOTATIONS = 10
"""GitHub shows so many of a kind for a step."""
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
A_PAGE = 100
PATIENCE_S = 30
KINDS = {0: "notice", 3: "error"}
"""Of an annotation, by the gate's exit code; any other is a warning."""


class Told(NamedTuple):
    """What was found: its kind ("error", "warning", "notice"), by which rule, of which server, in words."""

    kind: str
    code: str
    server: str
    title: str
    text: str


class Place(NamedTuple):
    """Where comments are: a list, one of them below `one`; with which headers, and how one is changed."""

    all: str
    one: str
    headers: dict[str, str]
    change: str


def main(words: list[str]) -> int:
    """Tell it; 0 whatever comes of it."""
    folder, code = Path(words[0]), int(words[1])
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    told, where = [*all_told(summary, folder / "run.json", code)], stands_at() or f"{folder}/summary.md"
    (folder / "assay.sarif").write_text(json.dumps(sarif(told, where), indent=1), encoding="utf-8")
    if os.environ.get("GITHUB_ACTIONS"):
        for one in told[:MOST_ANNOTATIONS]:
            say(annotation(one.kind, one.title, one.text))
    place = github() or gitlab()
    if place is None:
        say("no comment: this is no pull request, or there is no token")
        return 0
    marker = f"<!-- assay gate {os.environ.get('GATE_NAME', 'assay')} -->"
    try:
        say(comment(place, marker, f"{marker}\n{summary}"[:MOST_CHARACTERS]))
    except (OSError, ValueError) as problem:
        say(f"no comment: {problem}")
    return 0


def say(line: str) -> None:
    """A line of the job's log."""
    sys.stdout.write(f"{line}\n")


def all_told(summary: str, record: Path, code: int) -> Iterator[Told]:
    """The decision, then each error and warning of a rule."""
    first = next((line.strip("#* ") for line in summary.splitlines() if line.startswith("**")), "")
    ended = first or f"the gate ended with exit code {code}"
    yield Told(KINDS.get(code, "warning"), "gate", "", "Assay", ended)
    if not record.is_file() or not record.stat().st_size:
        return
    judgement = json.loads(record.read_text(encoding="utf-8")).get("judgement") or {}
    for one in judgement.get("findings", ()):
        if one["severity"] != "note":
            server, title = one["subject"].get("case") or "", f"{one['code']} {one['title']}"
            yield Told("warning", one["code"], server, title, f"{server and f'{server}: '}{one['evidence']}")


def stands_at() -> str:
    """The file that annotations are shown at: FILE, else the one that describes the job; empty if unknown."""
    workflow = os.environ.get("GITHUB_WORKFLOW_REF", "").partition("@")[0].split("/", 2)[2:]
    return os.environ.get("FILE") or "".join(workflow) or os.environ.get("CI_CONFIG_PATH", "")


def annotation(kind: str, title: str, text: str) -> str:
    """A command of a workflow; what would end it, or one of its properties, is escaped."""
    where = stands_at()
    for sign, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        title, text, where = (word.replace(sign, code) for word in (title, text, where))
    title, where = (word.replace(":", "%3A").replace(",", "%2C") for word in (title, where))
    return f"::{kind} {where and f'file={where},'}title={title}::{text}"


def sarif(told: list[Told], where: str) -> dict[str, Any]:
    """What is wrong as SARIF 2.1.0, with what GitHub's code scanning asks of it: each has a place, and one
    server's is not taken for another's."""
    wrong = [one for one in told if one.kind in ("error", "warning")]
    rules = {one.code: {"id": one.code, "shortDescription": {"text": one.title}} for one in wrong}
    results = [
        {
            "ruleId": one.code,
            "level": one.kind,
            "message": {"text": one.text},
            "locations": [
                {"physicalLocation": {"artifactLocation": {"uri": quote(where)}, "region": {"startLine": 1}}}
            ],
            "partialFingerprints": {"primaryLocationLineHash": f"{one.code}:{one.server}"},
        }
        for one in wrong
    ]
    run = {"tool": {"driver": {"name": "Assay", "rules": list(rules.values())}}, "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def github() -> Place | None:
    """The comments of the pull request that this job is of."""
    event, token = os.environ.get("GITHUB_EVENT_PATH"), os.environ.get("GITHUB_TOKEN")
    if not event or not token:
        return None
    number = json.loads(Path(event).read_text(encoding="utf-8")).get("pull_request", {}).get("number")
    if number is None:
        return None
    base = os.environ.get("GITHUB_API_URL", "https://api.github.com")
    issues = f"{base}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    return Place(f"{issues}/{number}/comments", f"{issues}/comments", headers, "PATCH")


def gitlab() -> Place | None:
    """The notes of the merge request that this job is of."""
    request, token = os.environ.get("CI_MERGE_REQUEST_IID"), os.environ.get("GITLAB_TOKEN")
    if not request or not token:
        return None
    project = f"{os.environ['CI_API_V4_URL']}/projects/{os.environ['CI_PROJECT_ID']}"
    notes = f"{project}/merge_requests/{request}/notes"
    return Place(notes, notes, {"PRIVATE-TOKEN": token}, "PUT")


def comment(place: Place, marker: str, body: str) -> str:
    """Change the comment that begins with the marker, or write one."""
    page = 0
    while True:
        page += 1
        found = ask(place, "GET", f"{place.all}?per_page={A_PAGE}&page={page}")
        own = [one["id"] for one in found if (one.get("body") or "").startswith(marker)]
        if own:
            ask(place, place.change, f"{place.one}/{own[0]}", body)
            return "the comment was updated"
        if len(found) < A_PAGE:
            ask(place, "POST", place.all, body)
            return "a comment was written"


def ask(place: Place, method: str, url: str, body: str | None = None) -> Any:  # noqa: ANN401 - it is JSON
    """What the API answers. OSError where it refuses."""
    data = None if body is None else json.dumps({"body": body}).encode()
    headers = {**place.headers, "Content-Type": "application/json", "User-Agent": "assay-gate"}
    asked = urllib.request.Request(url, data=data, method=method, headers=headers)
    with urllib.request.urlopen(asked, timeout=PATIENCE_S) as answer:
        return json.loads(answer.read())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
