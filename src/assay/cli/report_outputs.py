"""What verbs write: files, whole or not at all, and the forms of a run as a table (one more is a line)."""

from __future__ import annotations

import argparse
import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from assay.cli.parser import FlagGroup, Parser
from assay.core import console
from assay.core.errors import EnvironmentLacks, InputError, reason_of
from assay.core.units import counted

if TYPE_CHECKING:
    from assay.model.run import Run
    from assay.report.model.profiles import ProfilePair


class OutputFile:
    """Where a flag said that something should be written; "-" is standard output."""

    def __init__(self, word: str, *, announce: bool = True) -> None:
        """Take the flag's word; `announce` says afterwards that the file was written."""
        self._word = word
        self._announce = announce

    def attempt(self) -> None:
        """EnvironmentLacks where it could not be written; nothing of what is there is changed."""
        if self._word == "-":
            return
        try:
            _attempt(_followed(Path(self._word)))
        except OSError as problem:
            raise _cannot_write(self._word, problem) from None

    def write(self, content: str | bytes) -> None:
        """Write a regular file through a temporary one beside it, so that no reader ever sees half of it;
        anything else (a pipe, a device, an open descriptor) as it is."""
        if self._word == "-":
            console.write_bytes(content) if isinstance(content, bytes) else console.write(content)
            return
        data = content.encode(errors="replace") if isinstance(content, str) else content
        try:
            _write(Path(self._word), data)
        except OSError as problem:
            raise _cannot_write(self._word, problem) from None
        if self._announce:
            console.note(f"wrote {self._word}")


def attempt_folder(folder: Path) -> None:
    """EnvironmentLacks where no file can be written into the folder; it is not made where there is none."""
    there = next((one for one in (folder, *folder.absolute().parents) if os.path.lexists(one)), folder)
    try:
        _attempt(there / "assay")
    except OSError as problem:
        raise _cannot_write(str(folder), problem) from None


def _attempt(target: Path) -> None:
    """OSError where a file cannot be put there, or what is there not be written to."""
    import tempfile

    if _own_descriptor(target) is not None:
        return
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if target.exists() and not target.is_file():
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return
    handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    Path(beside).unlink()


def is_standard_output(word: str | None) -> bool:
    """Whether what is written there comes out on standard output."""
    return word is not None and (word == "-" or _own_descriptor(_followed(Path(word))) == 1)


def write_files(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write files into a folder, which is made where there is none."""
    number = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files:
            _write(folder / name, data)
            number += 1
    except OSError as problem:
        raise _cannot_write(str(folder), problem) from None
    console.note(f"wrote {counted(number, 'file')} to {folder}")


def append(path: Path, text: str) -> None:
    """Add text to the end of a file that others write too."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as problem:
        raise _cannot_write(str(path), problem) from None


def _cannot_write(where: str, problem: OSError) -> EnvironmentLacks:
    return EnvironmentLacks(f"cannot write {where}: {reason_of(problem)}", "choose another path")


def _write(path: Path, data: bytes) -> None:
    """Replace a regular file, or make one; write through whatever else the path leads to.

    A symbolic link stays one: what it leads to is written. Nothing that is not a regular file is ever
    replaced: a rename over /dev/stdout, as root, would take it from the whole machine.
    """
    target = _followed(path)
    descriptor = _own_descriptor(target)
    if descriptor == 1:
        console.write_bytes(data)  # behind what was printed before, and quiet where the reader went away
        return
    if descriptor is not None:
        with os.fdopen(os.dup(descriptor), "wb") as opened:
            opened.write(data)
        return
    try:
        there = target.lstat().st_mode
    except FileNotFoundError:
        _replace(target, data, 0o666 & ~_umask())
        return
    if stat.S_ISREG(there):
        _replace(target, data, stat.S_IMODE(there))
    else:
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CLOEXEC | os.O_NOCTTY), "wb") as opened:
            opened.write(data)


_MOST_LINKS = 40
"""Links followed before a chain of them is called endless, as in Linux."""


def _followed(path: Path) -> Path:
    """Where the path leads, link by link, but not out of the folder of open descriptors: what its links
    say are names of pipes, or of files that lie elsewhere by now."""
    for _ in range(_MOST_LINKS):
        if not path.is_symlink() or _own_descriptor(path) is not None:
            return path
        path = path.parent / path.readlink()
    return path  # opening or replacing it tells


def _own_descriptor(path: Path) -> int | None:
    """The number of the open descriptor that the path names (/dev/fd/3, where /dev/stdout leads to)."""
    folders = {os.path.realpath(name) for name in ("/proc/self/fd", "/dev/fd")}
    named = path.name.isascii() and path.name.isdigit() and os.path.realpath(path.parent) in folders
    return int(path.name) if named else None


def _replace(path: Path, data: bytes, mode: int) -> None:
    import tempfile  # with every kind of compression; a load that writes no file goes without

    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(mode)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


Make = Callable[["Run", "ProfilePair | None"], Any]
"""What is written of a run and its pair with the run under the other profile, if there is one: text or bytes
of one file, or the names and bytes of several."""


class Output(msgspec.Struct, frozen=True):
    """`--flag PATH`: the whole run in one file, on standard output for "-"; or several files into a `folder`.
    The short help of every verb shows what is `common`."""

    flag: str
    help: str
    make: Make
    folder: bool = False
    common: bool = False


def _html(run: Run, pair: ProfilePair | None) -> str:
    from assay.report import pages

    return pages.of_run(run, pair)


def _markdown(run: Run, pair: ProfilePair | None) -> str:
    from assay.report import markdown
    from assay.report.model import profiles, run_document

    return markdown.render(profiles.document(pair) if pair else run_document.document(run))


def _made(module: str, function: str) -> Make:
    """What a function of a module of `assay.report`, imported once it is asked for, makes of the run."""
    return lambda run, pair: getattr(import_module(f"assay.report.{module}"), function)(run)


def _without_bounds(flag: str) -> Make:
    """A format that holds no bounds: who looks for a figure there is told why it is missing."""

    def make(run: Run, pair: ProfilePair | None) -> str:
        from assay.report import exports

        bounds = exports.left_out(run)
        if bounds:
            console.note(f"assay: --{flag}: {bounds}")
        text: str = getattr(exports, flag)(run)
        return text

    return make


def _junit(run: Run, pair: ProfilePair | None) -> bytes:
    from assay.report import exports
    from assay.verdict import exit_codes

    return exports.as_junit(run, exit_codes.failing(run))


def _pictures(ending: str) -> Make:
    def make(run: Run, pair: ProfilePair | None) -> Iterator[tuple[str, bytes]]:
        from assay.report.charts import about, charts
        from assay.report.picture import to_png, to_svg

        said = about(run)
        for chart in charts(run):
            drawn = to_png(chart, said) if ending == "png" else to_svg(chart, said).encode()
            yield f"{chart.name}.{ending}", drawn

    return make


OUTPUTS = (
    Output("html", "one page with charts, readable without a network", _html, common=True),
    Output("markdown", "tables and findings, for a README", _markdown),
    Output("png", "each chart as a picture, for slides", _pictures("png"), folder=True),
    Output("svg", "each chart as a picture that scales", _pictures("svg"), folder=True),
    Output("csv", "one row a trial", _made("exports", "as_csv")),
    Output("csv-windows", "one row a value, over time and by request", _made("series", "windows_csv")),
    Output("influx", "the same as Influx's line protocol", _made("series", "line_protocol")),
    Output("openmetrics", "counters, as Prometheus reads them", _made("metrics", "open_metrics")),
    Output("hgrm", "percentiles for HdrHistogram's plotter", _made("exports", "hgrm_files"), folder=True),
    Output("benchstat", "the Go benchmark format, for benchstat", _without_bounds("benchstat")),
    Output("bmf", "Bencher Metric Format", _without_bounds("bmf")),
    Output("junit", "JUnit XML: what the exit code fails on fails", _junit),
)


def _word(args: argparse.Namespace, output: Output) -> str | None:
    """Where that output goes; None where it was not asked for."""
    word: str | None = getattr(args, output.flag.replace("-", "_"))
    return word


def add_verbose(parser: Parser | FlagGroup, *, common: bool = True) -> None:
    """Add the flag that shows everything where a summary is shown else, which says so itself."""
    parser.add_argument(
        "--verbose", action="store_true", common=common, help="all of it: every table, finding and reason"
    )


def add_to(parser: Parser, *, common: bool = False) -> None:
    """Add a flag for each output, and GitHub's step summary; `common` ones of a verb that only writes."""
    group = parser.add_argument_group("write it as", "PATH may be - for standard output")
    for output in OUTPUTS:
        metavar = "DIR" if output.folder else "PATH"
        group.add_argument(
            f"--{output.flag}", metavar=metavar, help=output.help, common=common or output.common
        )
    group.add_argument(
        "--step-summary", action="store_true", help="add to the summary of a GitHub Actions step"
    )


def is_any_asked(args: argparse.Namespace) -> bool:
    """Whether any of them was asked for."""
    return args.step_summary or any(_word(args, output) is not None for output in OUTPUTS)


def takes_standard_output(args: argparse.Namespace) -> bool:
    """Whether something goes there that a reader expects alone: JSON, or a file given as "-"."""
    return args.json or any(is_standard_output(_word(args, output)) for output in OUTPUTS)


def check_standard_output(args: argparse.Namespace) -> None:
    """InputError where two outputs would mix there."""
    files = [f"--{output.flag}" for output in OUTPUTS if is_standard_output(_word(args, output))]
    there = [*(["--json"] if args.json else []), *files]
    if len(there) > 1:
        raise InputError(f"{there[0]} and {there[1]} would mix on standard output", "give one of them a PATH")


def attempt(args: argparse.Namespace, results: Path | None = None) -> None:
    """Try all places that were named, and the folder of `results`, before a load is offered for them.

    EnvironmentLacks or InputError where one could not be written, or a package for it is not there.
    """
    from assay.core import extras

    check_standard_output(args)
    for output in OUTPUTS:
        word = _word(args, output)
        if word is None:
            continue
        lacks = extras.not_installed(_EXTRAS[output.flag]) if output.flag in _EXTRAS else None
        if lacks is not None:
            raise lacks
        attempt_folder(Path(word)) if output.folder else OutputFile(word).attempt()
    if args.step_summary:
        OutputFile(str(_summary_path())).attempt()
    if results is not None:
        attempt_folder(results)


_EXTRAS = {"png": "charts", "openmetrics": "metrics"}
"""Extras of the distribution that outputs are made with."""


def write_all(run: Run, pair: ProfilePair | None, args: argparse.Namespace) -> None:
    """Write every output that was asked for."""
    for output in OUTPUTS:
        word = _word(args, output)
        if word is not None and output.folder:
            write_files(Path(word), output.make(run, pair))
        elif word is not None:
            OutputFile(word).write(output.make(run, pair))
    if args.step_summary:
        from assay.report import markdown
        from assay.report.model.run_document import document

        # Other steps of GitHub Actions wrote to it before.
        append(_summary_path(), markdown.render(document(run), brief=True))


def _summary_path() -> Path:
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        raise InputError(
            "--step-summary: GITHUB_STEP_SUMMARY is not set", "it is within a GitHub Actions step"
        )
    return Path(path)
