"""h2load's report: its lines, their widths and its units."""

from __future__ import annotations

from collections.abc import Callable

from assay.dropin.h2load.figures import H2loadFigures, StatisticsRow
from assay.dropin.h2load.numbers import decimal, octets, time

_UNKNOWN = "-"


def report(found: H2loadFigures) -> str:
    """Everything from "finished in" on."""
    second, third, fourth, fifth = found.classes
    traffic = ", ".join(
        f"{octets(number)}B ({number}) {what}"
        for number, what in (
            (found.bytes_read, "total"),
            (found.head_bytes, f"headers (space savings {found.saved})"),
            (found.body_bytes, "data"),
        )
    )
    return "\n".join(
        (
            "",
            f"finished in {time(found.time_s)}, {decimal(found.per_s)} req/s, {octets(found.bytes_per_s)}B/s",
            f"requests: {found.total} total, {found.started} started, {found.done} done, "
            f"{found.succeeded} succeeded, {found.failed} failed, {found.errored} errored, "
            f"{found.timeouts} timeout",
            f"status codes: {second} 2xx, {third} 3xx, {fourth} 4xx, {fifth} 5xx",
            f"traffic: {traffic}",
            f"{'':<18}{'min':>6}{'max':>12}{'mean':>13}{'sd':>11}{'+/- sd':>14}",
            _row("time for request:", found.request_time, time),
            _row("time for connect:", found.connect_time, time),
            _row("time to 1st byte:", found.first_byte_time, time),
            _row("req/s           :", found.rates, decimal),
        )
    )


def _row(name: str, row: StatisticsRow, form: Callable[[float], str]) -> str:
    numbers = (row.low, row.high, row.mean, row.deviation)
    cells = "  ".join(f"{_UNKNOWN if number is None else form(number):>10}" for number in numbers)
    near = f"{_UNKNOWN:>10}" if row.near is None else f"{decimal(row.near):>9}%"
    return f"{name} {cells}{near}"
