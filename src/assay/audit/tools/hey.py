"""hey (and boom, as it was called before), and oha, whose report is hey's but for its first line."""

from __future__ import annotations

from assay.audit.document import Figure
from assay.audit.tools.pattern import AuditTool, B, N, Pattern, T, ToolFlags

_MOST_COUNTED = 1e6
"""Answers that hey counts at most; its rate goes on."""


def settle(figures: dict[str, Figure]) -> None:
    """What was asked for is rate × time; answers that are not among the counted ones never came."""
    rate, took, counted = (figures.get(name) for name in ("rate", "took", "requests"))
    good = figures.get("good")
    if rate is None or took is None or counted is None or good is None:
        return
    asked = rate.value * took.value
    if counted.value.high >= _MOST_COUNTED:
        del figures["requests"]
    elif counted.value.high < 0.99 * asked.low:
        lost = asked - counted.value
        figures["failed"] = Figure(lost, good.line, good.quote)
        figures["requests"] = Figure(asked, rate.line, rate.quote)


HEY = AuditTool(
    name="hey",
    closed=True,
    cues=("Summary:",),
    start=r"^\W{0,12}Summary:\s*$",
    patterns=(
        Pattern("Total:", rf"Total:\s+(?P<took__s>{N}) secs"),
        Pattern("Slowest:", rf"Slowest:\s+(?P<max__s>{N}) secs"),
        Pattern("Fastest:", rf"Fastest:\s+(?P<min__s>{N}) secs"),
        Pattern("Average:", rf"Average:\s+(?P<mean__s>{N}) secs"),
        Pattern("Requests/sec", rf"Requests/sec:\s+(?P<rate__n>{N})"),
        Pattern("Total data", rf"Total [dD]ata:\s+(?P<bytes__c>{N}) bytes"),
        Pattern("Size/request", rf"Size/request:\s+(?P<bytes_each__c>{N}) bytes"),
        Pattern("% in", rf"(?P<q>\d{{1,2}}(?:\.\d{{1,4}})?)%{{1,2}} in (?P<at__s>{N}) secs"),
        Pattern("responses", r"\[[23]\d\d\]\s+(?P<good__c>\d{1,15}) responses"),
        Pattern("responses", r"\[[145]\d\d\]\s+(?P<bad__c>\d{1,15}) responses"),
        Pattern("[", r"^\s{0,12}\[(?P<broken__c>\d{1,15})\]\s+(?!\d+ responses)[A-Za-z]"),
    ),
    flags=ToolFlags(
        values={"-n": ("requests", "n"), "-c": ("connections", "n"), "-z": ("duration", "t")},
        ignored=frozenset(
            ["-q", "-o", "-m", "-H", "-t", "-A", "-d", "-D", "-T", "-a", "-x", "-cpus", "-host", "-U"]
        ),
        keep_alive={"-disable-keepalive": False, "--disable-keepalive": False},
        alive=True,
        opens=frozenset({"-q"}),
    ),
    names=("hey", "boom", "rakyll/hey"),
    joined=frozenset({"good", "bad", "broken"}),
    settle=settle,
)
"""hey's report: https://github.com/rakyll/hey/blob/master/requester/print.go."""

OHA = AuditTool(
    name="oha",
    closed=True,
    cues=("Success rate:",),
    start=r"Success rate:\s+[\d.]+\s?%?",
    patterns=(
        Pattern("Total:", rf"Total:\s+(?P<took__t>{T})"),
        Pattern("Slowest:", rf"Slowest:\s+(?P<max__t>{T})"),
        Pattern("Fastest:", rf"Fastest:\s+(?P<min__t>{T})"),
        Pattern("Average:", rf"Average:\s+(?P<mean__t>{T})"),
        Pattern("Requests/sec", rf"Requests/sec:\s+(?P<rate__n>{N})"),
        Pattern("Total data", rf"Total data:\s+(?P<bytes__b>{B})"),
        Pattern("% in", rf"(?P<q>\d{{1,2}}(?:\.\d{{1,4}})?)% in (?P<at__t>{T})"),
        Pattern("responses", r"\[[23]\d\d\]\s+(?P<good__c>\d{1,15}) responses"),
        Pattern("responses", r"\[[145]\d\d\]\s+(?P<bad__c>\d{1,15}) responses"),
        Pattern("[", r"^\s{0,12}\[(?P<broken__c>\d{1,15})\]\s+(?!\d+ responses|aborted due)[A-Za-z]"),
    ),
    flags=ToolFlags(
        values={
            "-n": ("requests", "n"),
            "-c": ("connections", "n"),
            "-z": ("duration", "t"),
            "-q": ("offered", "n"),
        },
        ignored=frozenset(
            ["-p", "-H", "-m", "-d", "-D", "-t", "-A", "-T", "-a", "--rand-regex-url", "--fps"]
        ),
        keep_alive={"--disable-keepalive": False},
        alive=True,
        opens=frozenset({"-q"}),
    ),
    names=("oha",),
    joined=frozenset({"good", "bad", "broken"}),
)
"""oha's report, whose first line tells it from hey's: https://github.com/hatoo/oha/blob/master/src/printer.rs."""
