"""ab, and the tools in C beside it, which ask for requests as it does: siege, h2load, weighttp."""

from __future__ import annotations

from assay.audit.tools.pattern import AuditTool, B, N, Pattern, T, ToolFlags

_FOREIGN = (
    r"^\W{0,12}(?:Completed requests:|min\s{1,20}avg\s{1,20}max\s{1,20}std\s*$"
    r"|\d{1,3}%\s{1,20}\d{1,12}(?:\.\d{1,9})?\s?(?:ns|us|µs|ms|s)\s*$)"
)
"""Other benchmarks print ab's report with words of their own: SeaweedFS's of a storage counts no requests of
a web server. ab says "Complete requests", and its percentiles have no unit."""

AB = AuditTool(
    name="ab",
    closed=True,
    cues=(
        "ApacheBench",
        "Server Software:",
        "Concurrency Level:",
        "Time taken for tests:",
        "[#/sec]",
        "Percentage of the requests",
    ),
    start=r"Requests per second:\s+\d|This is ApacheBench|Server Software:|Concurrency Level:"
    r"|Time taken for tests:",
    lone=r"^\W{0,12}Percentage of the requests served within a certain time",
    foreign=_FOREIGN,
    patterns=(
        Pattern("Completed ", r"^\W{0,12}Completed (?P<progress__c>\d{1,12}) requests"),
        Pattern("Document Length", rf"Document Length:\s+(?P<document__c>{N}) bytes"),
        Pattern("Concurrency Level", rf"Concurrency Level:\s+(?P<connections__c>{N})"),
        Pattern("Time taken", rf"Time taken for tests:\s+(?P<took__s>{N}) seconds"),
        Pattern("Complete requests", rf"Complete requests:\s+(?P<requests__c>{N})"),
        Pattern("Failed requests", rf"Failed requests:\s+(?P<failed__c>{N})"),
        Pattern(
            "Length:", r"\(Connect: (?P<connect_errors__c>\d{1,12}),.{0,40} Length: (?P<uneven__c>\d{1,12}),"
        ),
        Pattern("Non-2xx", rf"Non-2xx responses:\s+(?P<bad__c>{N})"),
        Pattern("Keep-Alive requests", rf"Keep-Alive requests:\s+(?P<kept__c>{N})"),
        Pattern("HTML transferred", rf"HTML transferred:\s+(?P<document_bytes__c>{N}) bytes"),
        Pattern("Total transferred", rf"Total transferred:\s+(?P<bytes__c>{N}) bytes"),
        Pattern("Requests per second", rf"Requests per second:\s+(?P<rate__n>{N}) "),
        Pattern("(mean)", rf"Time per request:\s+(?P<mean__ms>{N}) \[ms\] \(mean\)"),
        Pattern(
            "Total:",
            rf"Total:\s+(?P<min__ms>{N})\s+(?P<spread_mean__ms>{N})\s+(?P<stdev__ms>{N})\s+(?P<median__ms>{N})"
            rf"\s+(?P<max__ms>{N})",
        ),
        Pattern("%", rf"^\W{{0,20}}(?P<q>\d{{2,3}})%\s+(?P<at__ms>{N})(?:\s+\(longest request\))?\s*$"),
    ),
    flags=ToolFlags(
        values={"-n": ("requests", "n"), "-c": ("connections", "n"), "-t": ("duration", "s")},
        ignored=frozenset(f"-{letter}" for letter in "puTHCAPXsbBvyxzgemfZE"),
        keep_alive={"-k": True},
        alive=False,
        defaults={"connections": 1},
    ),
    names=("ab",),
    joined=frozenset({"progress"}),
)
"""ab's report: https://github.com/apache/httpd/blob/trunk/support/ab.c."""


def _line(text: str, json: str, name: str) -> tuple[Pattern, Pattern]:
    group = rf"(?P<{name}>{N})"
    return Pattern(text, rf"{text}:\s+{group}"), Pattern(f'"{json}"', rf'"{json}":\s+{group}')


SIEGE = AuditTool(
    name="siege",
    closed=True,
    cues=("Transactions:", '"transactions"', "Transaction rate:", "Elapsed time:"),
    start=r"Transactions:\s+\d|\"transactions\":|Transaction rate:\s+\d|Elapsed time:\s+[\d.]+ secs",
    patterns=(
        *_line("Transactions", "transactions", "requests__c"),
        *_line("Elapsed time", "elapsed_time", "took__s"),
        *_line("Response time", "response_time", "mean__s"),
        Pattern("Response time", rf"Response time:\s+(?P<mean__ms>{N}) ms"),
        *_line("Transaction rate", "transaction_rate", "rate__n"),
        *_line("Concurrency", "concurrency", "in_flight__n"),
        *_line("Failed transactions", "failed_transactions", "failed__c"),
        *_line("Longest transaction", "longest_transaction", "max__s"),
        *_line("Shortest transaction", "shortest_transaction", "min__s"),
    ),
    flags=ToolFlags(
        values={
            "-c": ("connections", "n"),
            "--concurrent": ("connections", "n"),
            "-r": ("repetitions", "n"),
            "--reps": ("repetitions", "n"),
            "-t": ("duration", "siege"),
            "--time": ("duration", "siege"),
        },
        ignored=frozenset(
            ["-d", "--delay", "-f", "--file", "-H", "--header", "-R", "--rc", "-l", "--log", "-A", "-T"]
        ),
    ),
    names=("siege",),
)
"""siege's report, as text and as the JSON that it prints since 4.1: https://github.com/JoeDog/siege."""

H2LOAD = AuditTool(
    name="h2load",
    closed=True,
    cues=("finished in", "starting benchmark", "time for request"),
    start=r"starting benchmark\.\.\.|finished in \S{1,20}, \S{1,20} req/s",
    patterns=(
        Pattern("progress: ", r"progress: (?P<progress__c>\d{1,3})% done"),
        Pattern("total client(s)", r"(?P<connections__c>\d{1,9}) total client\(s\)"),
        Pattern(
            "finished in", rf"finished in (?P<took__t>{T}), (?P<rate__n>{N}) req/s, (?P<transfer__b>{B})/s"
        ),
        Pattern(
            "requests:",
            r"requests: (?P<requests__c>\d{1,15}) total, \d{1,15} started, \d{1,15} done, "
            r"(?P<good__c>\d{1,15}) succeeded, (?P<failed__c>\d{1,15}) failed",
        ),
        Pattern("status codes", r"(?P<bad1__c>\d{1,15}) 4xx, (?P<bad2__c>\d{1,15}) 5xx"),
        Pattern("traffic:", r"traffic: .{1,20}\((?P<bytes__c>\d{1,18})\) total"),
        Pattern(
            "time for request",
            rf"time for request:\s+(?P<min__t>{T})\s+(?P<max__t>{T})\s+(?P<mean__t>{T})\s+(?P<stdev__t>{T})"
            rf"\s+[\d.]+%",
        ),
    ),
    flags=ToolFlags(
        values={
            "-n": ("requests", "n"),
            "--requests": ("requests", "n"),
            "-c": ("connections", "n"),
            "--clients": ("connections", "n"),
            "-t": ("threads", "n"),
            "--threads": ("threads", "n"),
            "-m": ("pipelining", "n"),
            "--max-concurrent-streams": ("pipelining", "n"),
            "-D": ("duration", "s"),
            "--duration": ("duration", "t"),
        },
        ignored=frozenset(["-i", "-w", "-W", "-H", "-p", "-d", "-r", "-T", "-N", "-B"]),
        alive=True,
        defaults={"pipelining": 1},
    ),
    names=("h2load",),
    joined=frozenset({"progress"}),
)
"""h2load's report: https://github.com/nghttp2/nghttp2/blob/master/src/h2load.cc."""

WEIGHTTP = AuditTool(
    name="weighttp",
    closed=True,
    cues=(),
    start="",
    patterns=(),
    flags=ToolFlags(
        values={"-n": ("requests", "n"), "-c": ("connections", "n"), "-t": ("threads", "n")},
        ignored=frozenset({"-H", "-m"}),
        keep_alive={"-k": True},
        alive=False,
    ),
    names=("weighttp",),
)
"""https://github.com/lighttpd/weighttp, which closes connections without -k, as ab does."""
