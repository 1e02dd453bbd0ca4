"""What all drop-ins say alike of a load, whatever their tools say."""

from __future__ import annotations

import os
import subprocess

import pytest
import tool_pair
from wire import HELLO, recording

pytestmark = pytest.mark.beside

WORDS = {
    "wrk": ("-d1", "-c1", "-t1"),
    "ab": ("-n30", "-k"),
    "bombardier": ("-n30", "-c1"),
    "h2load": ("--h1", "-n30"),
}
MISSING = HELLO.replace(b"200 OK", b"404 Not Found")


def said(tool: str, *answers: bytes) -> str:
    """What is said on standard error of a load whose answers are interleaved."""
    number = iter(range(10_000_000))
    environment = {name: value for name, value in os.environ.items() if name != "ASSAY_QUIET"}
    with recording(lambda _: answers[next(number) % len(answers)]) as wire:
        command = [*tool_pair.assay(tool), *WORDS[tool], wire.url()]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert ended.returncode == 0, ended.stderr
    return ended.stderr


@pytest.mark.parametrize("tool", WORDS)
def test_answers_that_are_all_404_are_found_as_failures(tool: str) -> None:
    lines = [line for line in said(tool, MISSING).splitlines() if " W2: " in line]
    assert len(lines) == 1
    assert lines[0].startswith(f"assay {tool}: error W2: ")
    assert "requests failed (100 %): unexpected status" in lines[0] and "404" in lines[0]


@pytest.mark.parametrize("tool", WORDS)
def test_some_404_are_found_too_and_nothing_else_is_said_of_them(tool: str) -> None:
    text = said(tool, HELLO, HELLO, MISSING)
    assert " W2: " in text
    assert " M3: " not in text  # the counts do not contradict each other
    assert " W2: " not in said(tool, HELLO)
