"""vegeta's text report: https://github.com/tsenart/vegeta/blob/master/lib/reporters.go."""

from assay.audit.tools.pattern import N, Pattern, T

CUES = ("[total,", "[min,", "[mean,")
START = r"Requests\s+\[total|Latencies\s+\[|Duration\s+\[total"

_L = rf"(?:{T})"

PATTERNS = (
    Pattern("throughput]", rf"\]\s+(?P<requests__c>{N}), (?P<offered__n>{N}), (?P<rate__n>{N})\s*$"),
    Pattern("[total, rate]", rf"\]\s+(?P<requests__c>{N}), (?P<offered__n>{N})\s*$"),
    Pattern("attack, wait]", rf"\]\s+(?P<took__t>{T}), (?P<attack__t>{T}), {_L}\s*$"),
    Pattern(
        "[min, mean, 50, 90, 95, 99, max]",
        rf"\]\s+(?P<min__t>{T}), (?P<mean__t>{T}), (?P<p50__t>{T}), (?P<p90__t>{T}), (?P<p95__t>{T}), "
        rf"(?P<p99__t>{T}), (?P<max__t>{T})",
    ),
    Pattern(
        "[mean, 50, 95, 99, max]",
        rf"\]\s+(?P<mean__t>{T}), (?P<p50__t>{T}), (?P<p95__t>{T}), (?P<p99__t>{T}), (?P<max__t>{T})",
    ),
    Pattern("Bytes In", rf"\]\s+(?P<bytes__c>{N}), (?P<bytes_each__n>{N})"),
    Pattern("[ratio]", rf"\]\s+(?P<good_share__p>{N})%"),
)
