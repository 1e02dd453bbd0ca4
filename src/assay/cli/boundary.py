"""The edge of the program: every ending becomes one line and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from assay.errors import EXIT_INTERNAL, EXIT_INTERRUPTED, AssayError, EnvironmentLacks

EXIT_BROKEN_PIPE = 141
"""128 + SIGPIPE, as the shell reports it of any tool whose reader went away."""


def guarded(call: Callable[[], int], words: Sequence[str]) -> int:
    """Run `call`; tell its errors in one line each; never let a traceback out."""
    try:
        code = call()
        sys.stdout.flush()
    except AssayError as problem:
        _tell(problem)
        return problem.exit_code
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else 0
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        return EXIT_BROKEN_PIPE
    except ModuleNotFoundError as missing:
        from assay import extras

        lacks = extras.lacking(missing.name)
        if lacks is None:
            return _report_defect(missing, words)
        _tell(lacks)
        return lacks.exit_code
    except ImportError as broken:
        if "_engine" not in str(broken.path or broken):
            return _report_defect(broken, words)
        return _tell_engine_unfit(broken)
    except Exception as defect:  # noqa: BLE001 - the last boundary: whatever it is, it is ours to log
        return _report_defect(defect, words)
    return code


def _tell(problem: AssayError) -> None:
    from assay import console

    console.error(problem)


def _tell_engine_unfit(broken: ImportError) -> int:
    """A wheel of another architecture, or of another C library, was unpacked here."""
    import platform

    reason = str(broken).rpartition(": ")[2]
    here = f"{platform.system()} {platform.machine()}"
    said = f"the load engine that is installed cannot be loaded on this machine ({here}): {reason}"
    lacks = EnvironmentLacks(said, "install the wheel for it, or build one from a checkout: make wheel")
    _tell(lacks)
    return lacks.exit_code


def _report_defect(defect: Exception, words: Sequence[str]) -> int:
    from assay.log import write_defect

    where = write_defect(defect, words)
    told = f"a log to paste into a report is in {where}" if where else "its log could not be written"
    _tell(AssayError(f"unexpected {type(defect).__name__}: {defect}", told))
    return EXIT_INTERNAL
