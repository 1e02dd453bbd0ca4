"""The lines of JMeter's summariser: https://jmeter.apache.org/usermanual/component_reference.html#Generate_Summary_Results.

"summary +" is a part of the run and "summary =" the run so far: only the latter is a result.
"""

from assay.audit.tools.pattern import N, Pattern

CUES = ("summary =",)
START = r"summary =\s+\d"

PATTERNS = (
    Pattern(
        "summary =",
        rf"summary =\s+(?P<requests__c>\d{{1,15}}) in (?P<clock>\d\d:\d\d:\d\d"
        rf"|[\d.]{{1,12}}s) =\s+(?P<rate__n>{N})/s "
        rf"Avg:\s+(?P<mean__ms>{N})"
        rf" Min:\s+(?P<min__ms>{N}) Max:\s+(?P<max__ms>{N}) Err:\s+(?P<failed__c>\d{{1,15}})",
    ),
)
