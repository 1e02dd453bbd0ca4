"""wrk2's percentile spectrum: HdrHistogram's classic table, times in ms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from assay.dropin.wrk.report import padded, time_us
from assay.model.measurement import Histogram, Measurement
from assay.stats.quantiles import decode

_PERCENTILES = (50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0)
_TICKS = 5
"""Lines for each halving of the distance to 100 %."""
_ROW = "{:12.3f} {:12.6f} {:12d} {:12.2f}"
_RECORDED = "Recorded Latency"
_UNCORRECTED = "Uncorrected Latency (measured without taking delayed starts into account)"


def spectra(measured: Measurement, uncorrected: bool) -> str:
    """The times from the intended starts; where asked for, those from the sends behind them."""
    recorded = measured.response_time or measured.service_time
    text = _spectrum(_RECORDED, recorded)
    return text + _spectrum(_UNCORRECTED, measured.service_time) if uncorrected else text


def _spectrum(title: str, times: Histogram) -> str:
    decoded = decode(times)
    unit_us, unit_ms = times.unit_ns / 1e3, times.unit_ns / 1e6
    lines = [f"  Latency Distribution (HdrHistogram - {title})"]
    for percentile in _PERCENTILES:
        value = decoded.get_value_at_percentile(percentile) * unit_us if times.count else 0
        lines.append(f"{percentile:7.3f}%{padded(time_us(int(value)), 10)}")
    heads = ("Value", "Percentile", "TotalCount", "1/(1-Percentile)")
    lines += ["", "  Detailed Percentile spectrum:", " ".join(f"{head:>12}" for head in heads), ""]
    slots = [
        (item.value_iterated_to, item.total_count_to_this_value) for item in decoded.get_recorded_iterator()
    ]
    for value, percent, below in rows(slots):
        distance = 100 / (100 - percent) if percent < 100 else math.inf
        lines.append(_ROW.format(value * unit_ms, percent / 100, below, distance))
    lines += [
        f"#[Mean    = {times.mean_ns / 1e6:12.3f}, StdDeviation   = {times.stdev_ns / 1e6:12.3f}]",
        f"#[Max     = {times.max_ns / 1e6:12.3f}, Total count    = {times.count:12d}]",
        f"#[Buckets = {decoded.bucket_count:12d}, SubBuckets     = {decoded.sub_bucket_count:12d}]",
        "-" * 58,
    ]
    return "\n".join(lines) + "\n"


def rows(slots: Sequence[tuple[int, int]]) -> Iterator[tuple[int, float, int]]:
    """The table's lines: value, percentile and the number of values up to it.

    `slots` are the distinct values, each with the number of values up to it. Lines come in equal
    steps, five for each halving of the distance to 100 %, each at the first value that reaches it.
    """
    percent = 0.0
    for value, below in slots:
        total = slots[-1][1]
        while percent <= 100 * below / total:
            yield value, percent, below
            halvings = int(math.log2(100 / (100 - percent))) + 1
            percent += 100 / (_TICKS * 2**halvings)
            if below == total:
                break
    if slots:
        yield slots[-1][0], 100.0, slots[-1][1]
