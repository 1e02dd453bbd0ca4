"""ab's report: https://github.com/apache/httpd/blob/trunk/support/ab.c."""

from assay.audit.tools.pattern import N, Pattern

CUES = (
    "ApacheBench",
    "Server Software:",
    "Concurrency Level:",
    "Time taken for tests:",
    "[#/sec]",
    "Percentage of the requests",
)
START = (
    r"Requests per second:\s+\d|This is ApacheBench|Server Software:|Concurrency Level:|Time taken for tests:"
)
LONE = r"^\W{0,12}Percentage of the requests served within a certain time"

FOREIGN = (
    r"^\W{0,12}(?:Completed requests:|min\s{1,20}avg\s{1,20}max\s{1,20}std\s*$"
    r"|\d{1,3}%\s{1,20}\d{1,12}(?:\.\d{1,9})?\s?(?:ns|us|µs|ms|s)\s*$)"
)
"""Other benchmarks print ab's report with words of their own: SeaweedFS's of a storage counts no requests of
a web server. ab says "Complete requests", and its percentiles have no unit."""

PATTERNS = (
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
)
