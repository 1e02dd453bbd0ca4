"""loadtest's report: https://github.com/alexfernandez/loadtest/blob/main/lib/result.js."""

from assay.audit.tools.pattern import N, Pattern

CUES = ("Target URL:", "Completed requests:", "Effective rps:", "Requests per second: ")
START = r"(?:INFO\s+)?Target URL:\s|INFO\s+(?:Completed requests|Requests per second):|Effective rps:"

PATTERNS = (
    Pattern("Concurren", r"Concurren(?:t clients|cy level):\s+(?P<connections__c>\d{1,9})"),
    Pattern("Completed requests", r"Completed requests:\s+(?P<requests__c>\d{1,15})"),
    Pattern("Total errors", r"Total errors:\s+(?P<failed__c>\d{1,15})"),
    Pattern("Total time", rf"Total time:\s+(?P<took__s>{N}) s"),
    Pattern("Mean latency", rf"Mean latency:\s+(?P<mean__ms>{N}) ms"),
    Pattern("Effective rps", rf"Effective rps:\s+(?P<rate__n>{N})"),
    Pattern("Requests per second", rf"INFO.{{0,20}}Requests per second:\s+(?P<rate__n>{N})"),
    Pattern("%", rf"\b(?P<q>\d{{1,3}})%\s+(?P<at__ms>{N}) ms"),
)
