"""`assay`: find the verb, run it, turn what went wrong into one line and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import assay
from assay import console
from assay.cli import verbs
from assay.cli.boundary import guarded
from assay.cli.parser import Parser
from assay.errors import EXIT_OK, InputError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the process's exit code is what is returned."""
    words = list(sys.argv[1:] if argv is None else argv)
    console.use_any_encoding()
    return guarded(lambda: _dispatch(words), words)


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        return _help(words[1:])
    if words[0] in ("-V", "--version", "version"):
        return _version()
    verb = verbs.find(words[0])
    if verb is None:
        raise _unknown(words[0])
    module = verb.module()
    parser = Parser(prog=f"assay {verb.name}", description=_sentence(verb.purpose))
    module.configure(parser)
    return module.run(parser.read(words[1:]))


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
    lines = [
        "usage: assay VERB [...]",
        "",
        "Assay weighs web servers honestly: it drives load, runs whole comparisons of",
        "servers, and says of every number whether it can be believed.",
    ]
    width = max(len(verb.name) for verb in verbs.VERBS)
    group = ""
    for verb in verbs.VERBS:
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
        "`assay VERB --help` shows a verb's flags and examples. Exit codes: 0 clean,",
        "1 figures withheld, 2 bad usage or input, 70 a defect of Assay, 130 interrupted.",
    ]
    return "\n".join(lines)


def _unknown(word: str) -> InputError:
    from difflib import get_close_matches

    near = get_close_matches(word, [verb.name for verb in verbs.VERBS], n=1, cutoff=0.5)
    what = "flag" if word.startswith("-") else "verb"
    remedy = f"did you mean {near[0]!r}?" if near else "`assay --help` lists the verbs"
    return InputError(f"unknown {what} {word!r}", remedy)


def _sentence(purpose: str) -> str:
    return purpose[0].upper() + purpose[1:] + "."


if __name__ == "__main__":
    sys.exit(main())
