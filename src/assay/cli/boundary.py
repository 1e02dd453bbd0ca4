"""The edge of the program: every ending becomes one line and an exit code."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Sequence

from assay.core.errors import EXIT_INTERNAL, EXIT_INTERRUPTED, AssayError, EnvironmentLacks, reason_of

EXIT_BROKEN_PIPE = 141
"""128 + SIGPIPE, as the shell reports it of any tool whose reader went away."""


def guarded(call: Callable[[], int], words: Sequence[str]) -> int:
    """Run `call`; tell its errors in one line each; never let a traceback out."""
    from assay.core import console

    code = _ended(call, words)
    if code != EXIT_BROKEN_PIPE:
        code = _ended(lambda: _flushed(code), words)
    console.give_up_words()
    return code


def _flushed(code: int) -> int:
    """The code, after all is written; Python would try at exit, and complain itself."""
    from assay.core import console

    console.flush()
    return code


def _ended(call: Callable[[], int], words: Sequence[str]) -> int:
    """What it returns, or the exit code of how it ended."""
    try:
        code = call()
    except AssayError as problem:
        _tell(problem, words)
        return problem.exit_code
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else 0
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        return EXIT_BROKEN_PIPE
    except Exception as defect:  # noqa: BLE001 - the last boundary: whatever it is, it is ours to log
        lacks = _not_installed(defect) if isinstance(defect, ImportError) else _lacking(defect)
        if lacks is None:
            return _report_defect(defect, words)
        _tell(lacks, words)
        return lacks.exit_code
    return code


def _not_installed(problem: ImportError) -> EnvironmentLacks | None:
    """What an installation lacks; None where a module should be there."""
    from assay.core import extras

    if isinstance(problem, ModuleNotFoundError):
        return extras.lacking(problem.name)
    return _engine_unfit(problem) if "_engine" in str(problem.path or problem) else None


_OF_THE_MACHINE = {
    errno.ENOSPC: "make room",
    errno.EDQUOT: "make room",
    errno.EFBIG: "allow larger files: ulimit -f",
    errno.EMFILE: "allow more open files: ulimit -n",
    errno.ENFILE: "close other programs: the system has no open files left",
    errno.ENOMEM: "close other programs, or allow more memory: ulimit -v",
    errno.EROFS: "choose folders that can be written, and set TMPDIR to one",
    errno.EACCES: "ask for the permission, or choose another path",
    errno.EPERM: "ask for the permission, or choose another path",
}
"""What the system refuses whatever is asked of it, and what helps."""


def _lacking(problem: Exception) -> EnvironmentLacks | None:
    """What the machine lacks where that, and no defect, ended the program; None where it is a defect."""
    if isinstance(problem, MemoryError):
        return EnvironmentLacks("no memory is left", _OF_THE_MACHINE[errno.ENOMEM])
    if isinstance(problem, RuntimeError) and "start new thread" in str(problem):
        return EnvironmentLacks(
            "the system starts no more threads", "allow more processes or memory: ulimit -u, ulimit -v"
        )
    if not isinstance(problem, OSError):
        return None
    try:
        os.getcwd()  # noqa: PTH109 - it is asked whether it can be found
    except OSError:
        return EnvironmentLacks("the working directory is not there any more", "change to another one")
    named = os.fsdecode(problem.filename) if isinstance(problem.filename, str | bytes) else ""
    if named.startswith("/proc/") and not os.access("/proc/stat", os.R_OK):
        return EnvironmentLacks("/proc is not there: what the machine does stands in it", "mount it")
    if problem.errno not in _OF_THE_MACHINE:
        return None
    said = ": ".join(filter(None, (named, reason_of(problem))))
    return EnvironmentLacks(said, _OF_THE_MACHINE[problem.errno])


def _tell(problem: AssayError, words: Sequence[str]) -> None:
    from assay.core import console, credentials

    problem.message = credentials.without(problem.message, words, parts=False)
    with contextlib.suppress(OSError):  # nobody can be told, and the exit code still says it
        console.error(problem)


def _engine_unfit(broken: ImportError) -> EnvironmentLacks:
    """A wheel of another architecture, or of another C library, was unpacked here."""
    import platform

    reason = str(broken).rpartition(": ")[2]
    here = f"{platform.system()} {platform.machine()}"
    said = f"the load engine that is installed cannot be loaded on this machine ({here}): {reason}"
    return EnvironmentLacks(said, "install the wheel for it, or build one from a checkout: make wheel")


def _report_defect(defect: Exception, words: Sequence[str]) -> int:
    from assay.core.log import write_defect

    where = write_defect(defect, words)
    told = f"a log to paste into a report is in {where}" if where else "its log could not be written"
    _tell(AssayError(f"unexpected {type(defect).__name__}: {defect}", told), words)
    return EXIT_INTERNAL
