"""bombardier, and plow, which was made after it."""

from __future__ import annotations

from assay.audit.tools.pattern import AuditTool, B, N, Pattern, T, ToolFlags

BOMBARDIER = AuditTool(
    name="bombardier",
    closed=True,
    cues=("Bombarding", "Statistics"),
    start=r"Bombarding \S+|Statistics\s+Avg\s+Stdev\s+Max",
    patterns=(
        Pattern("Bombarding", rf"for (?P<duration__t>{T}) using (?P<connections__c>\d{{1,9}}) connection"),
        Pattern(
            "Bombarding",
            r"with (?P<asked__c>\d{1,12}) request.{1,12}using (?P<connections__c>\d{1,9}) connection",
        ),
        Pattern("Reqs/sec", rf"Reqs/sec\s+(?P<rate__n>{N})\s+(?P<rate_stdev__n>{N})\s+(?:{N})"),
        Pattern("Latency", rf"Latency\s+(?P<mean__t>{T})\s+(?P<stdev__t>{T})\s+(?P<max__t>{T})"),
        Pattern("%", rf"^\W{{0,20}}(?P<q>\d{{1,3}}(?:\.\d{{1,4}})?)%\s+(?P<at__t>{T})\s*$"),
        Pattern(
            "2xx -",
            r"1xx - \d{1,12}, 2xx - (?P<good1__c>\d{1,12}), 3xx - (?P<good2__c>\d{1,12}), "
            r"4xx - (?P<bad1__c>\d{1,12}), 5xx - (?P<bad2__c>\d{1,12})",
        ),
        Pattern("others -", r"others - (?P<broken__c>\d{1,12})"),
        Pattern("dial", r"\bdial(?:ing)?\b.{1,120} - (?P<connect_errors__c>\d{1,12})$"),
        Pattern("Throughput", rf"Throughput:\s+(?P<transfer__b>{B})/s"),
    ),
    flags=ToolFlags(
        values={
            "-c": ("connections", "n"),
            "--connections": ("connections", "n"),
            "-n": ("requests", "n"),
            "--requests": ("requests", "n"),
            "-d": ("duration", "t"),
            "--duration": ("duration", "t"),
            "-r": ("offered", "n"),
            "--rate": ("offered", "n"),
        },
        ignored=frozenset(
            [
                "-t",
                "--timeout",
                "-H",
                "--header",
                "-m",
                "--method",
                "-b",
                "--body",
                "-f",
                "--body-file",
                "-o",
                "--format",
                "-p",
                "--print",
            ]
        ),
        opens=frozenset({"-r", "--rate"}),
        alive=True,
        defaults={"connections": 125},
    ),
    names=("bombardier",),
    joined=frozenset({"broken"}),
)
"""bombardier's report: https://github.com/codesenberg/bombardier/blob/master/template.go."""

PLOW = AuditTool(
    name="plow",
    closed=True,
    cues=(),
    start="",
    patterns=(),
    flags=ToolFlags(
        values={
            "-c": ("connections", "n"),
            "--concurrency": ("connections", "n"),
            "-n": ("requests", "n"),
            "--requests": ("requests", "n"),
            "-d": ("duration", "t"),
            "--duration": ("duration", "t"),
            "--rate": ("offered", "n"),
        },
        ignored=frozenset({"-H", "-m", "-b", "--body", "-T", "--timeout", "--method", "--content"}),
        opens=frozenset({"--rate"}),
        alive=True,
    ),
    names=("plow",),
)
"""https://github.com/six-ddc/plow."""
