"""Artillery's summary, of version 2 and of the ones before: https://www.artillery.io/docs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.audit.interval import Interval
from assay.audit.tools.pattern import N, Pattern, value_of

CUES = ("eport @", "All virtual users finished", "All VUs finished")
START = r"\b(?:(?:Summary|Complete) r|R)eport @|All virtual users finished|All VUs finished"

PATTERNS = (
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
)

_ROW = re.compile(rf"^\s*(min|max|mean|median|p\d\d(?:\.\d)?|[A-Z]{{4,20}}|[45]\d\d):[\s.]{{1,90}}({N})\s*$")
_HEAD = re.compile(r"^\s*([A-Za-z][\w. ()]{2,60}):\s*$")
_TIMES: dict[str, str | float] = {"min": "min", "max": "max", "mean": "mean", "median": 50.0}


def table(text: str, held: dict[str, list[str]]) -> Iterator[tuple[str | float, Interval, str]]:
    """The rows of the blocks of times, codes and errors: which block it is stands on a line of its own."""
    head = _HEAD.match(text)
    if head:
        held["block"] = [head[1].lower()]
        return
    row = _ROW.match(text)
    block = held.get("block", [""])[0]
    if row is None:
        return
    name, number = row[1], row[2]
    key: str | float | None = None
    if block in ("http.response_time", "request latency", "response time (msec)"):
        key = _TIMES.get(name, float(name[1:]) if name[0] == "p" else None)
    elif (block == "errors" and name.isupper()) or (block == "codes" and name.isdigit()):
        key = "broken" if name.isupper() else "bad"
    value = value_of(number, "ms" if block.startswith(("http", "re")) else "c")
    if key is not None and value is not None:
        yield key, value, number
