"""vegeta."""

from assay.audit.tools.pattern import AuditTool
from assay.audit.tools.vegeta.command import FLAGS
from assay.audit.tools.vegeta.output import CUES, PATTERNS, START

TOOL = AuditTool(
    name="vegeta", closed=False, cues=CUES, start=START, patterns=PATTERNS, flags=FLAGS, names=("vegeta",)
)
