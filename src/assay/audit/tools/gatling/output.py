"""Gatling's console summary, old ("(OK=10 KO=0)") and new ("| 10 | 10 | 0"): https://docs.gatling.io."""

from assay.audit.tools.pattern import N, Pattern

CUES = ("Global Information",)
START = r"----\s?Global Information\s?---"

_AT = r"[\s|]{1,80}"

PATTERNS = (
    Pattern("request count", rf"request count{_AT}(?P<requests__c>{N})\s+(?:\(OK=|\|)"),
    Pattern("request count", r"KO=(?P<failed__c>\d{1,12})"),
    Pattern(
        "request count", rf"request count{_AT}(?:{N})[\s|]{{1,20}}(?:{N})[\s|]{{1,20}}(?P<failed__c>{N}|-)"
    ),
    Pattern("min response time", rf"min response time(?: \(ms\))?{_AT}(?P<min__ms>{N})"),
    Pattern("max response time", rf"max response time(?: \(ms\))?{_AT}(?P<max__ms>{N})"),
    Pattern("mean response time", rf"mean response time(?: \(ms\))?{_AT}(?P<mean__ms>{N})"),
    Pattern("deviation", rf"(?:std|response time std) deviation(?: \(ms\))?{_AT}(?P<stdev__ms>{N})"),
    Pattern(
        "percentile",
        rf"response time (?P<q>\d{{2}}(?:\.\d{{1,3}})?)th percentile(?: \(ms\))?{_AT}(?P<at__ms>{N})",
    ),
    Pattern("mean requests/sec", rf"mean requests/sec{_AT}(?P<rate__n>{N})"),
    Pattern("mean throughput", rf"mean throughput \(rps\){_AT}(?P<rate__n>{N})"),
)
