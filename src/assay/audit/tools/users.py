"""The tools that play users, who do what a script says: k6, Locust, JMeter, Gatling, Artillery."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.audit.interval import Interval
from assay.audit.tools.pattern import AuditTool, N, Pattern, T, ToolFlags, value_of

_DURATION = "http_req_duration."

K6 = AuditTool(
    name="k6",
    closed=None,
    cues=("http_req_duration", "http_reqs", "http_req_failed", "data_received"),
    start=r"(?:http_req_duration|http_reqs|http_req_failed|data_received)\.{2,60}:",
    patterns=(
        Pattern(_DURATION, rf"\bavg=(?P<mean__t>{T})"),
        Pattern(_DURATION, rf"\bmin=(?P<min__t>{T})"),
        Pattern(_DURATION, rf"\bmed=(?P<p50__t>{T})"),
        Pattern(_DURATION, rf"\bmax=(?P<max__t>{T})"),
        Pattern(_DURATION, rf"p\((?P<q>\d{{1,2}}(?:\.\d{{1,4}})?)\)=(?P<at__t>{T})"),
        Pattern("http_reqs.", rf"http_reqs\.{{2,60}}:\s+(?P<requests__c>{N})\s+(?P<rate__n>{N})/s"),
        Pattern("http_req_failed.", rf"http_req_failed\.{{2,60}}:\s+(?P<error_share__p>{N})%"),
        Pattern("vus.", r"\bvus\.{2,60}:.{1,40}max=(?P<vus__c>\d{1,9})"),
    ),
    flags=ToolFlags(
        values={
            "-u": ("vus", "n"),
            "--vus": ("vus", "n"),
            "-d": ("duration", "t"),
            "--duration": ("duration", "t"),
            "-i": ("requests", "n"),
            "--iterations": ("requests", "n"),
        },
        ignored=frozenset(["-e", "--env", "-o", "--out", "-s", "--stage", "--summary-export", "--tag"]),
        alive=True,
        words=("run",),
    ),
    names=("k6",),
)
"""k6's summary: https://grafana.com/docs/k6/latest/results-output/end-of-test/."""

_LOCUST_HEADINGS = {
    "# reqs": ("requests", "c"),
    "# fails": ("failed", "c"),
    "avg": ("mean", "ms"),
    "min": ("min", "ms"),
    "max": ("max", "ms"),
    "med": ("p50", "ms"),
    "median": ("p50", "ms"),
    "req/s": ("rate", "n"),
    "# requests": ("requests", "c"),
    "average (ms)": ("mean", "ms"),
    "min (ms)": ("min", "ms"),
    "max (ms)": ("max", "ms"),
    "rps": ("rate", "n"),
}
_LOCUST_HEAD = re.compile(
    r"# Requests|# Fails|Average \(ms\)|Min \(ms\)|Max \(ms\)|Average size \(bytes\)|RPS|Failures/s"
    r"|# reqs|# fails|Avg|Min|Max|Median|Med|req/s|failures/s|\d{2,3}(?:\.\d{1,2})?%"
)


def _locust_row(text: str, held: dict[str, list[str]]) -> Iterator[tuple[str | float, Interval, str]]:
    """The figures of the row that sums up all requests."""
    if "# reqs" in text or "# Requests" in text:
        held["head"] = [found.lower() for found in _LOCUST_HEAD.findall(text)]
        return
    row = re.search(r"\b(?:Aggregated|Total)\s+(.{5,300})$", text)
    head = held.get("head", [])
    if row is None or not head:
        return
    cells = re.sub(r"\([\d.]{1,8}%\)", " ", row[1]).replace("|", " ").split()
    if len(cells) != len(head):
        return
    for heading, cell in zip(head, cells, strict=True):
        key: str | float
        if heading.endswith("%"):
            key, unit = float(heading[:-1]), "ms"
        elif heading in _LOCUST_HEADINGS:
            key, unit = _LOCUST_HEADINGS[heading]
        else:
            continue
        value = value_of(cell, unit) if re.fullmatch(r"[\d.,]{1,20}", cell) else None
        if value is not None:
            yield key, value, cell


LOCUST = AuditTool(
    name="locust",
    closed=True,
    cues=("# reqs", "# Requests"),
    start=r"Name\s+# (?:reqs\s+# fails|Requests\s+# Fails)",
    patterns=(),
    flags=ToolFlags(
        values={
            "-u": ("vus", "n"),
            "--users": ("vus", "n"),
            "-t": ("duration", "t"),
            "--run-time": ("duration", "t"),
        },
        ignored=frozenset(["-f", "--locustfile", "-H", "--host", "-r", "--spawn-rate", "--csv"]),
    ),
    names=("locust",),
    extra=_locust_row,
)
"""Locust's console tables, by their headings: https://github.com/locustio/locust/blob/master/locust/stats.py."""

JMETER = AuditTool(
    name="jmeter",
    closed=True,
    cues=("summary =",),
    start=r"summary =\s+\d",
    patterns=(
        Pattern(
            "summary =",
            rf"summary =\s+(?P<requests__c>\d{{1,15}}) in (?P<clock>\d\d:\d\d:\d\d"
            rf"|[\d.]{{1,12}}s) =\s+(?P<rate__n>{N})/s "
            rf"Avg:\s+(?P<mean__ms>{N})"
            rf" Min:\s+(?P<min__ms>{N}) Max:\s+(?P<max__ms>{N}) Err:\s+(?P<failed__c>\d{{1,15}})",
        ),
    ),
    names=("jmeter", "JMeter"),
)
"""The lines of JMeter's summariser: https://jmeter.apache.org/usermanual/component_reference.html#Generate_Summary_Results.

"summary +" is a part of the run and "summary =" the run so far: only the latter is a result."""

_GAP = r"[\s|]{1,80}"

GATLING = AuditTool(
    name="gatling",
    closed=None,
    cues=("Global Information",),
    start=r"----\s?Global Information\s?---",
    patterns=(
        Pattern("request count", rf"request count{_GAP}(?P<requests__c>{N})\s+(?:\(OK=|\|)"),
        Pattern("request count", r"KO=(?P<failed__c>\d{1,12})"),
        Pattern(
            "request count",
            rf"request count{_GAP}(?:{N})[\s|]{{1,20}}(?:{N})[\s|]{{1,20}}(?P<failed__c>{N}|-)",
        ),
        Pattern("min response time", rf"min response time(?: \(ms\))?{_GAP}(?P<min__ms>{N})"),
        Pattern("max response time", rf"max response time(?: \(ms\))?{_GAP}(?P<max__ms>{N})"),
        Pattern("mean response time", rf"mean response time(?: \(ms\))?{_GAP}(?P<mean__ms>{N})"),
        Pattern("deviation", rf"(?:std|response time std) deviation(?: \(ms\))?{_GAP}(?P<stdev__ms>{N})"),
        Pattern(
            "percentile",
            rf"response time (?P<q>\d{{2}}(?:\.\d{{1,3}})?)th percentile(?: \(ms\))?{_GAP}(?P<at__ms>{N})",
        ),
        Pattern("mean requests/sec", rf"mean requests/sec{_GAP}(?P<rate__n>{N})"),
        Pattern("mean throughput", rf"mean throughput \(rps\){_GAP}(?P<rate__n>{N})"),
    ),
    names=("gatling", "Gatling"),
)
"""Gatling's console summary, old ("(OK=10 KO=0)") and new ("| 10 | 10 | 0"): https://docs.gatling.io."""

_ARTILLERY_ROW = re.compile(
    rf"^\s*(min|max|mean|median|p\d\d(?:\.\d)?|[A-Z]{{4,20}}|[45]\d\d):[\s.]{{1,90}}({N})\s*$"
)
_ARTILLERY_HEAD = re.compile(r"^\s*([A-Za-z][\w. ()]{2,60}):\s*$")
_ARTILLERY_TIMES: dict[str, str | float] = {"min": "min", "max": "max", "mean": "mean", "median": 50.0}


def _artillery_row(text: str, held: dict[str, list[str]]) -> Iterator[tuple[str | float, Interval, str]]:
    """The rows of the blocks of times, codes and errors: which block it is stands on a line of its own."""
    head = _ARTILLERY_HEAD.match(text)
    if head:
        held["block"] = [head[1].lower()]
        return
    row = _ARTILLERY_ROW.match(text)
    block = held.get("block", [""])[0]
    if row is None:
        return
    name, number = row[1], row[2]
    key: str | float | None = None
    if block in ("http.response_time", "request latency", "response time (msec)"):
        key = _ARTILLERY_TIMES.get(name, float(name[1:]) if name[0] == "p" else None)
    elif (block == "errors" and name.isupper()) or (block == "codes" and name.isdigit()):
        key = "broken" if name.isupper() else "bad"
    value = value_of(number, "ms" if block.startswith(("http", "re")) else "c")
    if key is not None and value is not None:
        yield key, value, number


ARTILLERY = AuditTool(
    name="artillery",
    closed=False,
    cues=("eport @", "All virtual users finished", "All VUs finished"),
    start=r"\b(?:(?:Summary|Complete) r|R)eport @|All virtual users finished|All VUs finished",
    patterns=(
        Pattern("http.requests:", rf"http\.requests:[\s.]{{1,90}}(?P<requests__c>{N})"),
        Pattern("http.request_rate", rf"http\.request_rate:[\s.]{{1,90}}(?P<rate__n>{N})/sec"),
        Pattern("http.codes.", rf"http\.codes\.[23]\d\d:[\s.]{{1,90}}(?P<good__c>{N})"),
        Pattern("http.codes.", rf"http\.codes\.[45]\d\d:[\s.]{{1,90}}(?P<bad__c>{N})"),
        Pattern("errors.", rf"\berrors\.[A-Za-z_]{{1,60}}:[\s.]{{1,90}}(?P<broken__c>{N})"),
        Pattern("Mean response/sec", rf"Mean response/sec:\s+(?P<rate__n>{N})"),
        Pattern("RPS sent", rf"RPS sent:\s+(?P<rate__n>{N})"),
        Pattern("RPS: ", rf"^\s*RPS: (?P<rate__n>{N})\s*$"),
        Pattern("requests made", rf"Number of requests made:\s+(?P<requests__c>{N})"),
        Pattern("Scenarios launched", rf"Scenarios launched:\s+(?P<launched__c>{N})"),
        Pattern("Requests completed", rf"Requests completed:\s+(?P<requests__c>{N})"),
    ),
    names=("artillery", "Artillery"),
    extra=_artillery_row,
    joined=frozenset({"bad", "good", "broken"}),
)
"""Artillery's summary, of version 2 and of the ones before: https://www.artillery.io/docs."""
