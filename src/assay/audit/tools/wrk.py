"""wrk, wrk2 and rewrk."""

from __future__ import annotations

from assay.audit.tools.pattern import AuditTool, B, N, Pattern, T, ToolFlags

_K = r"[\d.]{1,20}[kMG]?"

WRK = AuditTool(
    name="wrk",
    closed=True,
    cues=("test @", "Latency ", "Thread Stats", "requests in", "Requests/sec:"),
    start=rf"Running \S{{1,12}} test @ \S|Thread Stats\s+Avg"
    rf"|(?:{N})[kM]? requests in .{{1,30}}, .{{1,20}} read|Latency\s+{T}\s+{T}\s+{T}\s+\d",
    lone=rf"^\W{{0,12}}Requests/sec:\s+(?:{N})\s*$",
    patterns=(
        Pattern("test @", rf"Running (?P<duration__t>{T}) test @"),
        Pattern(
            "connections", r"(?P<threads__c>\d{1,9}) threads and (?P<connections__c>\d{1,9}) connections"
        ),
        Pattern("calibration", r"mean lat\.: (?P<calibrated__c>\d{1,12})"),
        Pattern("Latency", rf"Latency\s+(?P<mean__t>{T})\s+(?P<stdev__t>{T})\s+(?P<max__t>{T})\s+[\d.]+%"),
        Pattern(
            "Req/Sec",
            rf"Req/Sec\s+(?P<thread_rate__n>{_K})\s+(?P<thread_rate_stdev__n>{_K})\s+{_K}\s+[\d.]+%",
        ),
        Pattern("%", rf"^\W{{0,20}}(?P<q>\d{{1,3}}(?:\.\d{{1,6}})?)%\s+(?P<at__t>{T})\s*$"),
        Pattern(
            "requests in",
            rf"(?P<requests__c>(?:{N})[kM]?) requests in (?P<took__t>{T}), (?P<bytes__b>{B}) read",
        ),
        Pattern(
            "Socket errors",
            r"connect (?P<connect_errors__c>\d{1,12}), read (?P<errors1__c>\d{1,12}), "
            r"write (?P<errors2__c>\d{1,12}), timeout (?P<timeouts__c>\d{1,12})",
        ),
        Pattern("Non-2xx", r"Non-2xx or 3xx responses: (?P<bad__c>\d{1,12})"),
        Pattern("Requests/sec", rf"Requests/sec:\s+(?P<rate__n>{N})"),
        Pattern("Transfer/sec", rf"Transfer/sec:\s+(?P<transfer__b>{B})"),
    ),
    flags=ToolFlags(
        values={
            "-c": ("connections", "n"),
            "--connections": ("connections", "n"),
            "-t": ("threads", "n"),
            "--threads": ("threads", "n"),
            "-d": ("duration", "t"),
            "--duration": ("duration", "t"),
            "-R": ("offered", "n"),
            "--rate": ("offered", "n"),
        },
        ignored=frozenset({"-H", "--header", "-s", "--script", "-T", "--timeout"}),
        opens=frozenset({"-R", "--rate"}),
        alive=True,
    ),
    names=("wrk", "wrk2"),
    joined=frozenset({"calibrated"}),
)
"""wrk's report: https://github.com/wg/wrk/blob/master/src/wrk.c; wrk2 adds HdrHistogram's summary."""

REWRK = AuditTool(
    name="rewrk",
    closed=True,
    cues=("Benchmarking ",),
    start=r"Benchmarking \d{1,9} connections @ \S",
    patterns=(
        Pattern(
            "connections @",
            rf"Benchmarking (?P<connections__c>\d{{1,9}}) connections @ \S{{1,300}} for (?P<duration__t>{T})",
        ),
        Pattern("connections @", rf"connections @ \S{{1,300}} for (?P<duration__s>{N}) second"),
        Pattern(
            "s",
            rf"^\W{{0,12}}(?P<mean__t>{T})\s+(?P<stdev__t>{T})\s+(?P<min__t>{T})\s+(?P<max__t>{T})\s*$",
        ),
        Pattern("Req/Sec", rf"Total:\s+(?P<requests__c>{N})\s+Req/Sec:\s+(?P<rate__n>{N})"),
        Pattern("Transfer Rate", rf"Total:\s+(?P<bytes__b>{B})\s+Transfer Rate"),
        Pattern("%", rf"^\W{{0,12}}(?P<q>\d{{2}}(?:\.\d{{1,3}})?)%\s+\|?\s*(?P<at__t>{T})"),
    ),
    flags=ToolFlags(
        values={
            "-c": ("connections", "n"),
            "--connections": ("connections", "n"),
            "-t": ("threads", "n"),
            "--threads": ("threads", "n"),
            "-d": ("duration", "t"),
            "--duration": ("duration", "t"),
        },
        ignored=frozenset({"-m", "--method", "-H", "--header", "-b", "--body"}),
        alive=True,
    ),
    names=("rewrk",),
)
"""rewrk's report: https://github.com/lnx-search/rewrk."""
