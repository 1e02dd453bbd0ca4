"""The line of a program's output that says what went wrong: rarely the last one.

Compilers end with a count, Node with its version, Go with "exit status", make with the target, stack traces
with the innermost or the outermost call, and the reason stands above.
"""

from __future__ import annotations

import re

_LONGEST = 300
_SPEAKS = re.compile(
    r"error\b|exception\b|panic|fatal|traceback|denied|refused|unable|failed|cannot|can't|could not|"
    r"not found|no such|in use|missing|undefined|unknown|invalid|not supported",
    re.IGNORECASE,
)
_SAYS_NOTHING = re.compile(
    r"\s|at |Emitted 'error' event|\.\.\. |File \"|Traceback \(most|make(\[\d+\])?: |exit status|"
    r"npm (ERR!|error) (A complete log|code|path)|"
    r"\[INFO\]|\[ERROR\] (-> )?(\[Help|For more|Re-run|To see|After)|"
    r"error: could not compile|error: aborting due|note: |help: |\d+ errors? generated",
)
"""Frames of a trace (they are indented), quotations of the source, and summaries of what was said above."""


def message(output: str) -> str:
    """The line that tells the reason: of several the last; empty where no line looks like one."""
    found = [line for line in output.splitlines() if _SPEAKS.search(line) and not _SAYS_NOTHING.match(line)]
    return found[-1].strip()[:_LONGEST] if found else ""


def last_words(output: str) -> str:
    """The message, or else the last line that is not empty."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return message(output) or (lines[-1][:_LONGEST] if lines else "")
