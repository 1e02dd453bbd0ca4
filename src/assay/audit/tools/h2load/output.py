"""h2load's report: https://github.com/nghttp2/nghttp2/blob/master/src/h2load.cc."""

from assay.audit.tools.pattern import B, N, Pattern, T

CUES = ("finished in", "starting benchmark", "time for request")
START = r"starting benchmark\.\.\.|finished in \S{1,20}, \S{1,20} req/s"

PATTERNS = (
    Pattern("progress: ", r"progress: (?P<progress__c>\d{1,3})% done"),
    Pattern("total client(s)", r"(?P<connections__c>\d{1,9}) total client\(s\)"),
    Pattern("finished in", rf"finished in (?P<took__t>{T}), (?P<rate__n>{N}) req/s, (?P<transfer__b>{B})/s"),
    Pattern(
        "requests:",
        r"requests: "
        r"(?P<requests__c>\d{1,15}) total, \d{1,15} started, \d{1,15} done, (?P<good__c>\d{1,15}) succeeded, "
        r"(?P<failed__c>\d{1,15}) failed",
    ),
    Pattern("status codes", r"(?P<bad1__c>\d{1,15}) 4xx, (?P<bad2__c>\d{1,15}) 5xx"),
    Pattern("traffic:", r"traffic: .{1,20}\((?P<bytes__c>\d{1,18})\) total"),
    Pattern(
        "time for request",
        rf"time "
        rf"for request:\s+(?P<min__t>{T})\s+(?P<max__t>{T})\s+(?P<mean__t>{T})\s+(?P<stdev__t>{T})\s+[\d.]+%",
    ),
)
