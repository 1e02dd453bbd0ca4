"""`assay`: find the verb, run it, turn what went wrong into one line and an exit code."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import PurePath
from types import FrameType

import assay
from assay import dropin
from assay.cli import verbs
from assay.cli.boundary import guarded
from assay.core import console, signals
from assay.core.errors import EXIT_CODES, EXIT_OK, InputError


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
    return code


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
    if not words or words[0] in ("-h", "--help", "help"):
        return _help(words[1:])
    if words[0] in ("-V", "--version", "version"):
        return _version()
    tool = dropin.find(words[0])
    if tool is not None:
        return tool.main(words[1:])
    verb = verbs.find(words[0])
    if verb is None:
        raise _unknown(words[0])
    return verb.module().run(verb.parser().read(words[1:]))


def _help(words: list[str]) -> int:
    if words:
        return _dispatch([words[0], "--help"])
    console.write(overview())
    return EXIT_OK


def _version() -> int:
    console.write(f"assay {assay.version()}")
    return EXIT_OK


def overview() -> str:
    """What `assay --help` prints."""
    from assay.core.settings import VARIABLES

    lines = [
        "usage: assay VERB [...]",
        "",
        "Assay weighs web servers honestly: it drives load, runs whole comparisons of",
        "servers, and says of every number whether it can be believed.",
    ]
    listed = verbs.listed()
    width = max(len(verb.name) for verb in listed)
    group = ""
    for verb in listed:
        if verb.group != group:
            group = verb.group
            lines += ["", f"{group}:"]
        lines.append(f"  {verb.name:<{width}}  {verb.purpose}")
    lines += [
        "",
        "examples:",
        "  assay load http://127.0.0.1:8080/",
        "  assay run franklin --quick",
        "  assay report latest --markdown results.md",
        "",
        "`assay VERB --help` shows a verb's flags and examples.",
        "",
        "exit codes:",
        *(f"  {code:<3}  {meaning}" for code, meaning in EXIT_CODES.items()),
        "",
        "variables of the environment:",
        *(f"  {name:<13}  {meaning}" for name, meaning in VARIABLES.items()),
    ]
    return "\n".join(lines)


def _unknown(word: str) -> InputError:
    from difflib import get_close_matches

    names = [verb.name for verb in verbs.listed()]
    near = get_close_matches(word, names, n=1, cutoff=0.5)
    what = "flag" if word.startswith("-") else "verb"
    remedy = f"did you mean {near[0]!r}?" if near else "`assay --help` lists the verbs"
    return InputError(f"unknown {what} {word!r}", remedy)


if __name__ == "__main__":
    sys.exit(main())
