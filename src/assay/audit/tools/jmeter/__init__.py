"""JMeter's summary."""

from assay.audit.tools.jmeter.output import CUES, PATTERNS, START
from assay.audit.tools.pattern import AuditTool

TOOL = AuditTool(
    name="jmeter", closed=True, cues=CUES, start=START, patterns=PATTERNS, names=("jmeter", "JMeter")
)
