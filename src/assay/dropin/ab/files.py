"""ab's files: percentiles as CSV (`-e`) and every request for gnuplot (`-g`)."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from assay.dropin.ab.figures import AbFigures, times_us
from assay.dropin.ab.report import ms
from assay.dropin.request_log import columns


class Unwritable(Exception):
    """A file cannot be written; the line is ab's."""


def write_csv(path: Path, figures: AbFigures) -> None:
    """Write 0 to 100 percent of the requests, and the time within which so many ended."""
    rows = [f"{percent},{figures.row_of_csv_us(percent) / 1000:.3f}" for percent in range(101)]
    _write(path, ["Percentage served,Time in ms", *rows], "CSV")


def write_gnuplot(path: Path, log: bytes, started_at_unix_ns: int) -> None:
    """Write each request with its times, shortest first. Times of day are local, as in ab."""
    table = columns(log)
    times = times_us(table)
    lines = ["starttime\tseconds\tctime\tdtime\tttime\twait"]
    for index in sorted(range(len(table)), key=times["Total"].__getitem__):
        seconds = (started_at_unix_ns + table.begun_ns[index]) // 1_000_000_000
        kinds = ("Connect", "Processing", "Total", "Waiting")
        numbers = "\t".join(str(ms(times[kind][index])) for kind in kinds)
        lines.append(f"{time.ctime(seconds)}\t{seconds}\t{numbers}")
    _write(path, lines, "gnuplot")


def _write(path: Path, lines: Iterable[str], kind: str) -> None:
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as problem:
        raise Unwritable(f"Cannot open {kind} output file: {problem.strerror}") from None
