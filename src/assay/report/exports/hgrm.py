"""HdrHistogram's percentile text (.hgrm), as its plotter reads it: one file a trial and clock."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from assay import stats
from assay.model.measurement import Histogram
from assay.model.run import Run

TICKS_PER_HALF_DISTANCE = 5
_NS_PER_MS = 1_000_000


def files(run: Run) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file; values are milliseconds."""
    for trial in run.trials:
        if trial.measurement is None:
            continue
        stem = f"{re.sub(r'[^A-Za-z0-9._+-]+', '-', trial.case)}-block{trial.block + 1}"
        for clock, times in (
            ("service", trial.measurement.service_time),
            ("response", trial.measurement.response_time),
        ):
            if times is not None and times.count:
                yield f"{stem}-{clock}.hgrm", text(times)


def text(times: Histogram) -> bytes:
    """One histogram as percentile text."""
    out = io.BytesIO()
    ratio = _NS_PER_MS / times.unit_ns
    stats.decode(times).output_percentile_distribution(out, ratio, TICKS_PER_HALF_DISTANCE)
    # The library scales every figure of the footer but this one.
    deviation = f"StdDeviation   = {times.stdev_ns / _NS_PER_MS:12.3f}]".encode()
    return re.sub(rb"StdDeviation\s*=\s*[^\]]*\]", deviation, out.getvalue())
