"""rewrk's report: https://github.com/lnx-search/rewrk."""

from assay.audit.tools.pattern import B, N, Pattern, T

CUES = ("Benchmarking ",)
START = r"Benchmarking \d{1,9} connections @ \S"

PATTERNS = (
    Pattern(
        "connections @",
        rf"Benchmarking (?P<connections__c>\d{{1,9}}) connections @ \S{{1,300}} for (?P<duration__t>{T})",
    ),
    Pattern("connections @", rf"connections @ \S{{1,300}} for (?P<duration__s>{N}) second"),
    Pattern(
        "s",
        rf"^\W{{0,12}}(?P<mean__t>{T})\s+(?P<stdev__t>{T})\s+(?P<min__t>{T})\s+(?P<max__t>{T})\s*$",
    ),
    Pattern("Req/Sec", rf"Total:\s+(?P<requests__c>{N})\s+Req/Sec:\s+(?P<rate__n>{N})"),
    Pattern("Transfer Rate", rf"Total:\s+(?P<bytes__b>{B})\s+Transfer Rate"),
    Pattern("%", rf"^\W{{0,12}}(?P<q>\d{{2}}(?:\.\d{{1,3}})?)%\s+\|?\s*(?P<at__t>{T})"),
)
