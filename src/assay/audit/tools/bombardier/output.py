"""bombardier's report: https://github.com/codesenberg/bombardier/blob/master/template.go."""

from assay.audit.tools.pattern import B, N, Pattern, T

CUES = ("Bombarding", "Statistics")
START = r"Bombarding \S+|Statistics\s+Avg\s+Stdev\s+Max"

PATTERNS = (
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
)
