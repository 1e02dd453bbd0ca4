"""The load-test tools that the audit knows, each with its output and its command line, beside its kin.

A tool more is an `AuditTool` there and a line in `TOOLS`.
"""

from __future__ import annotations

import re

from assay.audit.tools.ab import AB, H2LOAD, SIEGE, WEIGHTTP
from assay.audit.tools.autocannon import AUTOCANNON, LOADTEST
from assay.audit.tools.bombardier import BOMBARDIER, PLOW
from assay.audit.tools.hey import HEY, OHA
from assay.audit.tools.pattern import AuditTool
from assay.audit.tools.users import ARTILLERY, GATLING, JMETER, K6, LOCUST
from assay.audit.tools.vegeta import ALI, FORTIO, VEGETA
from assay.audit.tools.wrk import REWRK, WRK

TOOLS: tuple[AuditTool, ...] = (
    WRK,
    AB,
    BOMBARDIER,
    OHA,
    HEY,
    AUTOCANNON,
    VEGETA,
    H2LOAD,
    K6,
    SIEGE,
    LOADTEST,
    JMETER,
    GATLING,
    LOCUST,
    ARTILLERY,
    REWRK,
    ALI,
    PLOW,
    WEIGHTTP,
    FORTIO,
)
"""In the order in which a line is offered to them: what several tools print alike is the first one's."""

BY_NAME = {name: tool for tool in TOOLS for name in tool.names}
"""A tool by each name that its command has."""

NAMED = re.compile(
    r"(?<![\w./-])(?:wrk2?|ab|ApacheBench|Apache Bench|apachebench|hey|boom|oha|bombardier"
    r"|autocannon|vegeta|h2load"
    r"|[Aa]utocannon|[Bb]ombardier|[Vv]egeta|WRK2?|[Kk]6|siege|Siege|loadtest|JMeter|jmeter|Gatling|gatling"
    r"|[Ll]ocust|[Aa]rtillery|httperf|weighttp|plow|NBomber|assay|Hyperfoil|Apache ?Benchmark"
    r"|drill|nighthawk"
    r"|fortio|tsung|rewrk|benchmarkdotnet|go-wrk|k6s|cassowary|ghz|YCSB)(?![\w-])"
)
"""A tool's name in prose; "hey" and "ab" are words too, so it says only that a load may be named."""

CLOSED = frozenset({"boom", "drill", "go-wrk", "cassowary"})
"""Other names in prose of tools whose loop is closed."""


def named(words: str) -> str:
    """The name of a tool as its command has it: "Apache Bench" is ab."""
    name = "".join(words.lower().split())
    return "ab" if name.startswith("apachebench") else name
