"""`assay audit FILE|FOLDER…`: what a published benchmark can be believed for."""

from __future__ import annotations

import argparse
import os
import select
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from assay.core import console
from assay.core.errors import EXIT_INVALID, EXIT_OK, InputError, cure_of, reason_of

if TYPE_CHECKING:
    from assay.audit import Audit
    from assay.cli.parser import Parser

_TEXTS = frozenset(
    ".md .markdown .mdx .mkd .rst .rest .txt .html .htm .xhtml .ipynb .csv .tsv .json".split()  # noqa: SIM905
)
_PASSED_OVER = frozenset({"node_modules", "vendor", "target", "dist", "build", "__pycache__", "venv"})
_PIPE_PATIENCE_S = 2.0
"""For how long a pipe is waited for that nobody has opened to write."""
_MOST = 64 * 2**20
"""Bytes of a file that are read: a text of results has a thousandth of that."""


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument(
        "paths", metavar="FILE|FOLDER", nargs="+", help="texts with results; - is standard input"
    )
    parser.add_argument(
        "--explain", action="store_true", help="as --verbose, with what each finding means and its source"
    )
    parser.add_argument(
        "--ignore",
        metavar="CODE",
        action="append",
        default=[],
        help="leave a rule out, such as R3; repeatable",
    )
    output = parser.add_argument_group("output")
    output.add_argument("--verbose", action="store_true", common=True,
                        help="each place with its quote and arithmetic; what would settle it")  # fmt: skip
    output.add_argument("--json", action="store_true", help="the audit as JSON on standard output")
    output.add_argument("--markdown", metavar="PATH", help="a comment for a review; - for standard output")
    output.add_argument("--html", metavar="PATH", help="one page to read; - for standard output")
    output.add_argument(
        "--sarif", metavar="PATH", help="annotations of a pull request; - for standard output"
    )
    output.add_argument("--study", metavar="PATH", help="write a study that repeats the comparison")
    parser.examples(
        ("assay audit README.md", "what its results and conclusions can be believed for"),
        ("wrk -c 64 http://127.0.0.1:8080/ | assay audit -", "what wrk says, judged"),
        ("assay audit docs --sarif audit.sarif", "every text in a folder, for a pull request's annotations"),
        ("assay audit README.md --study studies/again.toml", "a study file that measures it properly"),
    )


def run(args: argparse.Namespace) -> int:
    """Audit each text; 1 where something stands against a figure."""
    from assay.audit import AUDIT_RULES

    ignored = frozenset(code.upper() for code in args.ignore)
    unknown = sorted(ignored - AUDIT_RULES.keys())
    if unknown:
        raise InputError(f"there is no rule {unknown[0]!r} in an audit", "docs/audit.md lists them")
    if args.study and Path(args.study).suffix != ".toml" and args.study != "-":
        raise InputError(f"--study writes TOML, and {args.study!r} does not end in .toml")
    audits = list(_audits(args.paths, ignored))
    if not audits and not args.study:
        raise InputError(f"there is no text in {', '.join(args.paths)}", "name one such as README.md")
    _show(args, audits)
    return EXIT_INVALID if any(one.against for one in audits) else EXIT_OK


def _show(args: argparse.Namespace, audits: list[Audit]) -> None:
    from assay.cli.report_outputs import OutputFile
    from assay.report import audit as exports
    from assay.report import html, markdown
    from assay.report.model.audit_document import of_all

    if args.study:
        _write_study(args.study, audits)
    if args.sarif:
        OutputFile(args.sarif).write(exports.as_sarif(audits))
    if args.markdown:
        OutputFile(args.markdown).write(markdown.render(of_all(audits, explain=args.explain)))
    if args.html:
        OutputFile(args.html).write(html.render(of_all(audits, explain=True)))
    if args.json:
        console.write(exports.as_json(audits))
    elif not (args.sarif or args.markdown or args.html or args.study):
        _print(audits, verbose=args.verbose or args.explain, explain=args.explain)


def _print(audits: list[Audit], *, verbose: bool, explain: bool) -> None:
    from assay.report.model.audit_document import document, silent
    from assay.report.terminal import in_full, on_screen

    for number, one in enumerate([one for one in audits if one.results or len(audits) == 1]):
        if number:
            console.write("")
        told = document(one, explain=explain)
        where = "more: --verbose, assay explain CODE" if one.results else ""
        named = replace(told, headline=tuple(f"{told.title}: {said}" for said in told.headline))
        console.show(in_full(told) if verbose else on_screen(named, where))
    for said in silent(audits) if len(audits) > 1 else ():
        console.write(f"\n{said}")


def _write_study(word: str, audits: list[Audit]) -> None:
    from assay.cli.report_outputs import OutputFile
    from assay.report.audit_study import study

    told = [one for one in audits if one.results]
    if len(told) != 1:
        raise InputError(
            f"a study is of one text, and {len(told)} of these have results", "name that text alone"
        )
    name = "audited" if word == "-" else Path(word).stem
    OutputFile(word).write(study(told[0], name))


def _audits(words: list[str], ignored: frozenset[str]) -> Iterator[Audit]:
    from assay.audit import audit, read

    for word in words:
        folder = word != "-" and Path(word).is_dir()
        for name in _texts(Path(word)) if folder else [word]:
            try:
                content = _content(name)
                found = audit(read("stdin" if name == "-" else name, content), ignored)
            except InputError as problem:
                if not folder:
                    raise
                console.error(problem)
                continue
            yield found


def _texts(folder: Path) -> Iterator[str]:
    """The texts below a folder in a fixed order, without hidden ones and what was built or installed."""
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in _PASSED_OVER)
        for name in sorted(files):
            path = Path(where) / name
            if path.suffix.lower() in _TEXTS and not name.startswith(".") and _is_file(path):
                yield str(path)


def _is_file(path: Path) -> bool:
    """Whether it is no pipe and no device, which would be waited for and might never end."""
    return path.is_file() or not path.exists()  # a link that leads nowhere is told


def _first_of(pipe: int, word: str) -> bytes:
    """The first byte of a pipe that was opened without waiting, or nothing where none is there yet.

    InputError where nobody has it open to write.
    """
    select.select([pipe], [], [], _PIPE_PATIENCE_S)
    try:
        first = os.read(pipe, 1)
    except BlockingIOError:
        return b""  # its writer is there, and has written nothing yet
    if not first:
        raise InputError(f"nothing comes out of the pipe {word}", "name a file, or write into it")
    return first


def _content(word: str) -> bytes:
    """The bytes of a text. A pipe that somebody names is read to its end: a shell's `<(…)` is one."""
    try:
        if word == "-":
            return sys.stdin.buffer.read(_MOST)
        descriptor = os.open(word, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            first = _first_of(descriptor, word) if stat.S_ISFIFO(os.fstat(descriptor).st_mode) else b""
            os.set_blocking(descriptor, True)
            return first + file.read(_MOST)
    except OSError as problem:
        where = "standard input" if word == "-" else word
        raise InputError(f"cannot read {where}: {reason_of(problem)}", cure_of(problem)) from None
