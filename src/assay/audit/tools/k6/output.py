"""k6's summary: https://grafana.com/docs/k6/latest/results-output/end-of-test/."""

from assay.audit.tools.pattern import N, Pattern, T

CUES = ("http_req_duration", "http_reqs", "http_req_failed", "data_received")
START = r"(?:http_req_duration|http_reqs|http_req_failed|data_received)\.{2,60}:"

_DURATION = "http_req_duration."

PATTERNS = (
    Pattern(_DURATION, rf"\bavg=(?P<mean__t>{T})"),
    Pattern(_DURATION, rf"\bmin=(?P<min__t>{T})"),
    Pattern(_DURATION, rf"\bmed=(?P<p50__t>{T})"),
    Pattern(_DURATION, rf"\bmax=(?P<max__t>{T})"),
    Pattern(_DURATION, rf"p\((?P<q>\d{{1,2}}(?:\.\d{{1,4}})?)\)=(?P<at__t>{T})"),
    Pattern("http_reqs.", rf"http_reqs\.{{2,60}}:\s+(?P<requests__c>{N})\s+(?P<rate__n>{N})/s"),
    Pattern("http_req_failed.", rf"http_req_failed\.{{2,60}}:\s+(?P<error_share__p>{N})%"),
    Pattern("vus.", r"\bvus\.{2,60}:.{1,40}max=(?P<vus__c>\d{1,9})"),
)
