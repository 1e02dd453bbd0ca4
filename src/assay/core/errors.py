"""What can go wrong, as a small hierarchy; exit codes mean something.

Every error carries one line for its reader: what is wrong, where, and what to do. The command line prints
that line and nothing else; only an unexpected exception writes a log. The line of a program that failed is
found in its output: rarely the last one."""

from __future__ import annotations

import errno
import re

EXIT_OK = 0
EXIT_INVALID = 1
"""The run ended, but its figures are invalid."""
EXIT_USAGE = 2
"""Bad usage or input."""
EXIT_WORSE = 3
"""`assay compare` found what it was asked to fail on."""
EXIT_INTERNAL = 70
"""A defect of ours (EX_SOFTWARE of sysexits.h)."""
EXIT_INTERRUPTED = 130
EXIT_CODES = {
    EXIT_OK: "answered: the figures asked for stand",
    EXIT_INVALID: "not answered: figures are invalid, or a comparison is undecided",
    EXIT_USAGE: "bad usage or input, or something this machine lacks",
    EXIT_WORSE: "a limit is missed (compare, versus, load --slo)",
    EXIT_INTERNAL: "a defect of Assay, with a log to report",
    EXIT_INTERRUPTED: "interrupted, by Ctrl-C or SIGTERM; what was measured is reported",
}
"""What each means, as every help and document tells it."""


def reason_of(problem: OSError) -> str:
    """Why the system refused something, as it ends a line of ours."""
    return (problem.strerror or str(problem)).lower()


_CURES = {
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path",
    errno.EISDIR: "name a file in it",
    errno.EACCES: "ask for the permission, or name another file",
}


def cure_of(problem: OSError) -> str:
    """What to do where a file that was named cannot be read."""
    return _CURES.get(problem.errno or 0, "name another file")


class AssayError(Exception):
    """Base of everything a user is told in one line. `remedy` says what to do about it."""

    exit_code = EXIT_USAGE

    def __init__(self, message: str, remedy: str = "") -> None:
        """Keep the line's two halves apart so that a screen can set them apart."""
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        """The whole line."""
        return f"{self.message}; {self.remedy}" if self.remedy else self.message


class InputError(AssayError):
    """A flag, a URL, a study, a manifest or a record is not what it should be."""


class Unknown(InputError):
    """A name that is not there. `what` says so without the file in which it was looked for."""

    def __init__(self, what: str, remedy: str = "", where: str = "") -> None:
        """`where` is that file, if there is one."""
        super().__init__(f"{where}: {what}" if where else what, remedy)
        self.what = what


class EnvironmentLacks(AssayError):
    """The machine lacks something: a tool, a package, descriptors, room on the disk."""

    stage = "load"
    """The stage of a trial that this ended."""


class ServerFailed(AssayError):
    """A server could not be built, started, trusted or stopped. A row, not the end of a study."""

    exit_code = EXIT_INVALID

    def __init__(self, stage: str, message: str, log_tail: str = "") -> None:
        """`stage` is build, version, start, contract, load or stop; `log_tail` its last lines."""
        super().__init__(message)
        self.stage = stage
        self.log_tail = log_tail

    @property
    def reason(self) -> str:
        """What went wrong, with the server's own word for it where its log has one."""
        from assay.core.errors import last_words, message

        serving = self.stage in ("contract", "load")  # its last words are about something else
        said = message(self.log_tail) if serving else last_words(self.log_tail)
        return f"{self.message}; it said: {said}" if said else self.message


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
