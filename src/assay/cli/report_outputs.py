"""The forms in which `assay report` writes a run, as a table: adding one is adding a line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.parser import Parser
from assay.core import console
from assay.core.errors import InputError

if TYPE_CHECKING:
    from assay.model.run import Run
    from assay.report.model.profiles import ProfilePair

Content = str | bytes
Files = Iterable[tuple[str, bytes]]


@dataclass(frozen=True)
class OutputRun:
    """What is written: a run, and its pair with the run under the other profile, if there is one."""

    run: Run
    pair: ProfilePair | None


@dataclass(frozen=True)
class OneFile:
    """`--flag PATH`: the whole run in one file, or on standard output for "-"."""

    flag: str
    help: str
    make: Callable[[OutputRun], Content]


@dataclass(frozen=True)
class Folder:
    """`--flag DIR`: several files into a folder."""

    flag: str
    help: str
    make: Callable[[OutputRun], Files]


def _html(shown: OutputRun) -> Content:
    from assay.report import html

    return html.render(shown.run, shown.pair)


def _markdown(shown: OutputRun) -> Content:
    from assay.report import comparison, markdown

    return comparison.side_by_side_markdown(shown.pair) if shown.pair else markdown.render(shown.run)


def _csv(shown: OutputRun) -> Content:
    from assay.report import exports

    return exports.as_csv(shown.run)


def _benchstat(shown: OutputRun) -> Content:
    from assay.report import exports

    _tell_bounds(shown, "benchstat")
    return exports.benchstat(shown.run)


def _bmf(shown: OutputRun) -> Content:
    from assay.report import exports

    _tell_bounds(shown, "bmf")
    return exports.bmf(shown.run)


def _tell_bounds(shown: OutputRun, flag: str) -> None:
    """Who looks for a figure there is told why it is missing."""
    from assay.report import exports

    bounds = exports.left_out(shown.run)
    if bounds:
        console.note(f"assay: --{flag}: {bounds}")


def _junit(shown: OutputRun) -> Content:
    from assay.cli import exit_codes
    from assay.report import exports

    return exports.as_junit(shown.run, exit_codes.failing(shown.run))


def _png(shown: OutputRun) -> Files:
    from assay.report.charts import about, charts, to_png

    said = about(shown.run)
    return ((f"{chart.name}.png", to_png(chart, said)) for chart in charts(shown.run))


def _svg(shown: OutputRun) -> Files:
    from assay.report.charts import about, charts, to_svg

    said = about(shown.run)
    return ((f"{chart.name}.svg", to_svg(chart, said).encode()) for chart in charts(shown.run))


def _hgrm(shown: OutputRun) -> Files:
    from assay.report import exports

    return exports.hgrm_files(shown.run)


OUTPUTS: tuple[OneFile | Folder, ...] = (
    OneFile("html", "one page with charts, for a browser without a network", _html),
    OneFile("markdown", "tables and findings, for a README", _markdown),
    Folder("png", "each chart as a picture, for slides", _png),
    Folder("svg", "each chart as a picture that scales", _svg),
    OneFile("csv", "one row a trial", _csv),
    Folder("hgrm", "percentiles for HdrHistogram's plotter", _hgrm),
    OneFile("benchstat", "the Go benchmark format, for benchstat", _benchstat),
    OneFile("bmf", "Bencher Metric Format", _bmf),
    OneFile("junit", "JUnit XML: what the exit code fails on fails", _junit),
)


def add_to(parser: Parser) -> None:
    """Add a flag for each output, and GitHub's step summary."""
    group = parser.add_argument_group("write it as", "PATH may be - for standard output")
    for output in OUTPUTS:
        metavar = "PATH" if isinstance(output, OneFile) else "DIR"
        group.add_argument(f"--{output.flag}", metavar=metavar, help=output.help)
    group.add_argument(
        "--step-summary", action="store_true", help="add to the summary of a GitHub Actions step"
    )


def is_any_asked(args: argparse.Namespace) -> bool:
    """Whether any of them was asked for."""
    return args.step_summary or any(getattr(args, output.flag) is not None for output in OUTPUTS)


def takes_standard_output(args: argparse.Namespace) -> bool:
    """Whether something goes there that a reader expects alone: JSON, or a file given as "-"."""
    from assay.cli.output import is_standard_output

    return args.json or any(is_standard_output(getattr(args, output.flag)) for output in OUTPUTS)


def attempt(args: argparse.Namespace, results: Path | None = None) -> None:
    """Try all places that were named, and the folder of `results`, before a load is offered for them.

    EnvironmentLacks or InputError where one could not be written, or a package for it is not there.
    """
    from assay.cli.output import OutputFile, attempt_folder
    from assay.core import extras

    for output in OUTPUTS:
        word = getattr(args, output.flag)
        if word is None:
            continue
        lacks = extras.not_installed(_EXTRAS[output.flag]) if output.flag in _EXTRAS else None
        if lacks is not None:
            raise lacks
        OutputFile(word).attempt() if isinstance(output, OneFile) else attempt_folder(Path(word))
    if args.step_summary:
        OutputFile(str(_summary_path())).attempt()
    if results is not None:
        attempt_folder(results)


_EXTRAS = {"png": "charts"}
"""Extras of the distribution that outputs are made with."""


def write_all(run: Run, pair: ProfilePair | None, args: argparse.Namespace) -> None:
    """Write every output that was asked for."""
    from assay.cli.output import OutputFile, write_files

    shown = OutputRun(run, pair)
    asked = [output for output in OUTPUTS if getattr(args, output.flag) is not None]
    for output in asked:
        word = getattr(args, output.flag)
        if isinstance(output, OneFile):
            OutputFile(word).write(output.make(shown))
        else:
            write_files(Path(word), output.make(shown))
    if args.step_summary:
        _step_summary(run)


def _step_summary(run: Run) -> None:
    """Append to the file that GitHub Actions names; other steps wrote to it before."""
    from assay.cli.output import append
    from assay.report import markdown

    append(_summary_path(), markdown.summary(run))


def _summary_path() -> Path:
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        raise InputError(
            "--step-summary: GITHUB_STEP_SUMMARY is not set", "it is within a GitHub Actions step"
        )
    return Path(path)
