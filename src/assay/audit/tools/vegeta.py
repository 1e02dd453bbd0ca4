"""The tools that send at a rate: vegeta, ali and fortio."""

from __future__ import annotations

from assay.audit.tools.pattern import AuditTool, N, Pattern, T, ToolFlags

_L = rf"(?:{T})"

VEGETA = AuditTool(
    name="vegeta",
    closed=False,
    cues=("[total,", "[min,", "[mean,"),
    start=r"Requests\s+\[total|Latencies\s+\[|Duration\s+\[total",
    patterns=(
        Pattern("throughput]", rf"\]\s+(?P<requests__c>{N}), (?P<offered__n>{N}), (?P<rate__n>{N})\s*$"),
        Pattern("[total, rate]", rf"\]\s+(?P<requests__c>{N}), (?P<offered__n>{N})\s*$"),
        Pattern("attack, wait]", rf"\]\s+(?P<took__t>{T}), (?P<attack__t>{T}), {_L}\s*$"),
        Pattern(
            "[min, mean, 50, 90, 95, 99, max]",
            rf"\]\s+(?P<min__t>{T}), (?P<mean__t>{T}), (?P<p50__t>{T}), (?P<p90__t>{T}), (?P<p95__t>{T}), "
            rf"(?P<p99__t>{T}), (?P<max__t>{T})",
        ),
        Pattern(
            "[mean, 50, 95, 99, max]",
            rf"\]\s+(?P<mean__t>{T}), (?P<p50__t>{T}), (?P<p95__t>{T}), (?P<p99__t>{T}), (?P<max__t>{T})",
        ),
        Pattern("Bytes In", rf"\]\s+(?P<bytes__c>{N}), (?P<bytes_each__n>{N})"),
        Pattern("[ratio]", rf"\]\s+(?P<good_share__p>{N})%"),
    ),
    flags=ToolFlags(
        values={
            "-rate": ("offered", "n"),
            "--rate": ("offered", "n"),
            "-duration": ("duration", "t"),
            "--duration": ("duration", "t"),
            "-connections": ("pool", "n"),
        },
        ignored=frozenset(
            [
                "-targets",
                "-header",
                "-body",
                "-output",
                "-workers",
                "-max-workers",
                "-timeout",
                "-name",
                "-type",
                "-format",
            ]
        ),
        keep_alive={"-keepalive=false": False, "--keepalive=false": False},
        alive=True,
        opens=frozenset({"attack"}),
        words=("attack",),
    ),
    names=("vegeta",),
)
"""vegeta's text report: https://github.com/tsenart/vegeta/blob/master/lib/reporters.go."""

ALI = AuditTool(
    name="ali",
    closed=False,
    cues=(),
    start="",
    patterns=(),
    flags=ToolFlags(
        values={
            "-r": ("offered", "n"),
            "--rate": ("offered", "n"),
            "-d": ("duration", "t"),
            "--duration": ("duration", "t"),
            "-c": ("connections", "n"),
            "--connections": ("connections", "n"),
        },
        ignored=frozenset({"-m", "--method", "-b", "--body", "-H", "--header", "-t", "--timeout"}),
        opens=frozenset({"-r", "--rate"}),
        alive=True,
    ),
    names=("ali",),
)
"""https://github.com/nakabonne/ali, which sends at a rate, 50 a second without a word."""

FORTIO = AuditTool(
    name="fortio",
    closed=None,
    cues=(),
    start="",
    patterns=(),
    flags=ToolFlags(
        values={
            "-c": ("connections", "n"),
            "-n": ("requests", "n"),
            "-t": ("duration", "t"),
            "-qps": ("offered", "n"),
        },
        ignored=frozenset({"-H", "-p", "-r", "-labels", "-payload", "-timeout"}),
        keep_alive={"-keepalive=false": False},
        alive=True,
    ),
    names=("fortio load", "fortio"),
)
"""https://github.com/fortio/fortio: a closed loop that holds itself to a rate."""
