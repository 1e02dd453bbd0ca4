"""h2load's log (`--log-file`): a line a request."""

from __future__ import annotations

from typing import TextIO

from assay.dropin.request_log import columns


def write(file: TextIO, log: bytes, started_at_unix_ns: int) -> None:
    """Write each request's start in µs since 1970, its status, -1 where it failed, and its time in µs."""
    table = columns(log)
    for index in range(len(table)):
        sent_ns = started_at_unix_ns + table.begun_ns[index] + table.connect_ns[index]
        status = -1 if table.failure[index] else table.status[index]
        time_us = (table.total_ns[index] - table.connect_ns[index]) // 1000
        file.write(f"{sent_ns // 1000}\t{status}\t{time_us}\n")
