"""Tell a pull or merge request what a gate found: one comment that is updated, and annotations.

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

MOST_CHARACTERS = 60_000
"""GitHub takes 65,536."""
MOST_ANNOTATIONS = 10
"""GitHub shows so many of a kind for a step."""
A_PAGE = 100
PATIENCE_S = 30
KINDS = {0: "notice", 3: "error"}
"""Of an annotation, by the gate's exit code; any other is a warning."""


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
    if os.environ.get("GITHUB_ACTIONS"):
        for line in annotated(summary, folder / "run.json", code):
            say(line)
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


def annotated(summary: str, record: Path, code: int) -> Iterator[str]:
    """The decision, and each warning of a rule, as commands of a workflow."""
    first = next((line.strip("#* ") for line in summary.splitlines() if line.startswith("**")), "")
    yield annotation(KINDS.get(code, "warning"), "Assay", first or f"the gate ended with exit code {code}")
    if not record.is_file() or not record.stat().st_size:
        return
    found = json.loads(record.read_text(encoding="utf-8"))
    judgement = found.get("judgement") or {}
    told = [one for one in judgement.get("findings", ()) if one["severity"] != "note"]
    for one in told[: MOST_ANNOTATIONS - 1]:
        whom = f"{one['subject']['case']}: " if one["subject"].get("case") else ""
        yield annotation("warning", f"{one['code']} {one['title']}", f"{whom}{one['evidence']}")


def annotation(kind: str, title: str, text: str) -> str:
    """A command of a workflow; what would end it, or its title, is escaped."""
    for sign, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        title, text = title.replace(sign, code), text.replace(sign, code)
    return f"::{kind} title={title.replace(':', '%3A').replace(',', '%2C')}::{text}"


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
