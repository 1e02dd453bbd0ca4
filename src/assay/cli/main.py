"""`assay`: find the verb, run it; every ending becomes one line and an exit code."""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import PurePath
from types import FrameType

from assay import dropin
from assay.cli import verbs
from assay.core import console, signals
from assay.core.errors import (
    EXIT_CODES,
    EXIT_INTERNAL,
    EXIT_INTERRUPTED,
    EXIT_OK,
    AssayError,
    EnvironmentLacks,
    InputError,
    reason_of,
)
from assay.core.settings import version

EXIT_BROKEN_PIPE = 141
"""128 + SIGPIPE, as the shell reports it of any tool whose reader went away."""


def guarded(call: Callable[[], int], words: Sequence[str]) -> int:
    """Run `call`; tell its errors in one line each; never let a traceback out."""
    code = _ended(call, words)
    if code != EXIT_BROKEN_PIPE:
        code = _ended(lambda: _flushed(code), words)
    console.give_up_words()
    return code


def _flushed(code: int) -> int:
    """The code, after all is written; Python would try at exit, and complain itself."""
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
    from assay.core import credentials

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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the process's exit code is what is returned."""
    gc.set_threshold(50_000)  # objects of a start stay: to look for garbage among them costs a twentieth
    if argv is None:
        console.open_closed_streams()
        console.write_to_the_end()
    words = list(argv) if argv is not None else _spoken(sys.argv)
    if argv is None and not (words and dropin.find(words[0])):  # the tools spoken for end as they do
        # Whoever stops a job, a container or a service sends SIGTERM; what runs in the background of a
        # script does not even hear Ctrl-C. All of them want what was measured.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        _hear_hangups()
        signals.listen()
    console.use_any_encoding()
    code = guarded(lambda: _dispatch(words), words)
    if argv is None:
        signals.ignore()
        _leave(code)
    return code


def _leave(code: int) -> None:
    """End the process as Python does, but for taking apart all that it has loaded: all is written, and that
    would take a tenth of a second. Without effect where a thread has something left to do."""
    if threading.active_count() == 1:
        atexit._run_exitfuncs()  # noqa: SLF001 - there is no other way to have them run
        os._exit(code)


def _hear_hangups() -> None:
    """A terminal that is closed ends a run in order too, unless `nohup` says otherwise."""
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL:
        return
    terminals = [stream.fileno() for stream in (sys.stdout, sys.stderr) if stream.isatty()]

    def hung_up(number: int, frame: FrameType | None) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in terminals:  # nobody reads there any more, and writing would fail
            os.dup2(nowhere, descriptor)
        os.close(nowhere)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGHUP, hung_up)


def _spoken(argv: list[str]) -> list[str]:
    """The words after the program's name; a link with a drop-in's name is its verb."""
    tool = dropin.find(PurePath(argv[0]).name)
    return [tool.name, *argv[1:]] if tool else argv[1:]


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "--help-all", "help"):
        return _help(words[1:], everything=words[:1] == ["--help-all"])
    if words[0] in ("-V", "--version", "version"):
        _check_alone(words)
        console.write(f"assay {version()}")
        return EXIT_OK
    tool = dropin.find(words[0])
    if tool is not None:
        return tool.main(words[1:])
    verb = verbs.find(words[0])
    if verb is None:
        raise _unknown(words[0])
    return verb.module().run(verb.parser().read(words[1:]))


def _help(words: list[str], *, everything: bool) -> int:
    if words:
        _check_alone(words)
        return _dispatch([words[0], "--help"])
    console.write(f"{overview()}\n\n{environment()}" if everything else overview())
    return EXIT_OK


def _check_alone(words: list[str]) -> None:
    if len(words) > 1:
        raise InputError(f"unexpected argument {words[1]!r}", "`assay VERB --help` tells a verb's options")


def overview() -> str:
    """What `assay --help` prints: the verbs, on one screen."""
    lines = [
        "usage: assay VERB [...]",
        "",
        "Load and compare web servers, and say which figures can be believed.",
        "",
        "examples:",
        "  assay load http://127.0.0.1:8080/",
        "  assay versus './old --port {port}' './new --port {port}'",
    ]
    width = max(len(verb.name) for verb in verbs.VERBS)
    group = ""
    for verb in verbs.VERBS:
        if verb.group != group:
            group = verb.group
            lines += ["", f"{group}:"]
        lines.append(f"  {verb.name:<{width}}  {verb.purpose}")
    tools = ", ".join(tool.name for tool in dropin.TOOLS)
    lines += [
        "",
        f"Speak another tool's language: {tools}",
        "`assay VERB --help` shows a verb's options and examples;",
        "`assay --help-all` exit codes and variables of the environment.",
    ]
    return "\n".join(lines)


def environment() -> str:
    """What `assay --help-all` adds: the tools spoken for, exit codes, variables of the environment."""
    from assay.core.settings import VARIABLES

    lines = [
        "tools whose flags and reports are spoken:",
        *(f"  {tool.name:<10}  {tool.purpose}" for tool in dropin.TOOLS),
        "",
        "exit codes:",
        *(f"  {code:<3}  {meaning}" for code, meaning in EXIT_CODES.items()),
        "",
        "variables of the environment:",
        *(f"  {name:<13}  {meaning}" for name, meaning in VARIABLES.items()),
    ]
    return "\n".join(lines)


def _unknown(word: str) -> InputError:
    """A first word that is no verb: a name like one, or what belongs behind one."""
    from assay.cli.mistakes import nearest

    names = [verb.name for verb in verbs.listed()]
    if word.startswith("-"):
        near = nearest(word, ("--help", "--help-all", "--version"))
        remedy = f"did you mean {near}?" if near else "a verb comes first: `assay load URL`"
        return InputError(f"unknown flag {word!r}", remedy)
    if "://" in word or re.fullmatch(r"[\w.-]+:\d+(/.*)?", word):
        return InputError("a URL is no verb", "write `assay load URL`")
    near = nearest(word, names, alike=0.5)
    return InputError(
        f"unknown verb {word!r}", f"did you mean {near!r}?" if near else "`assay --help` lists the verbs"
    )


if __name__ == "__main__":
    sys.exit(main())
