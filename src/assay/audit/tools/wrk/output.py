"""wrk's report: https://github.com/wg/wrk/blob/master/src/wrk.c; wrk2 adds HdrHistogram's summary."""

from assay.audit.tools.pattern import B, N, Pattern, T

CUES = ("test @", "Latency ", "Thread Stats", "requests in", "Requests/sec:")
START = (
    rf"Running \S{{1,12}} test @ \S|Thread Stats\s+Avg"
    rf"|(?:{N})[kM]? requests in .{{1,30}}, .{{1,20}} read|Latency\s+{T}\s+{T}\s+{T}\s+\d"
)
LONE = rf"^\W{{0,12}}Requests/sec:\s+(?:{N})\s*$"

_K = r"[\d.]{1,20}[kMG]?"

PATTERNS = (
    Pattern("test @", rf"Running (?P<duration__t>{T}) test @"),
    Pattern("connections", r"(?P<threads__c>\d{1,9}) threads and (?P<connections__c>\d{1,9}) connections"),
    Pattern("calibration", r"mean lat\.: (?P<calibrated__c>\d{1,12})"),
    Pattern("Latency", rf"Latency\s+(?P<mean__t>{T})\s+(?P<stdev__t>{T})\s+(?P<max__t>{T})\s+[\d.]+%"),
    Pattern(
        "Req/Sec", rf"Req/Sec\s+(?P<thread_rate__n>{_K})\s+(?P<thread_rate_stdev__n>{_K})\s+{_K}\s+[\d.]+%"
    ),
    Pattern("%", rf"^\W{{0,20}}(?P<q>\d{{1,3}}(?:\.\d{{1,6}})?)%\s+(?P<at__t>{T})\s*$"),
    Pattern(
        "requests in", rf"(?P<requests__c>(?:{N})[kM]?) requests in (?P<took__t>{T}), (?P<bytes__b>{B}) read"
    ),
    Pattern(
        "Socket errors",
        r"connect (?P<connect_errors__c>\d{1,12}), read (?P<errors1__c>\d{1,12}), "
        r"write (?P<errors2__c>\d{1,12}), timeout (?P<timeouts__c>\d{1,12})",
    ),
    Pattern("Non-2xx", r"Non-2xx or 3xx responses: (?P<bad__c>\d{1,12})"),
    Pattern("Requests/sec", rf"Requests/sec:\s+(?P<rate__n>{N})"),
    Pattern("Transfer/sec", rf"Transfer/sec:\s+(?P<transfer__b>{B})"),
)
