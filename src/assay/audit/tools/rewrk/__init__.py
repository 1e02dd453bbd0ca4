"""rewrk."""

from assay.audit.tools.pattern import AuditTool
from assay.audit.tools.rewrk.command import FLAGS
from assay.audit.tools.rewrk.output import CUES, PATTERNS, START

TOOL = AuditTool(
    name="rewrk", closed=True, cues=CUES, start=START, patterns=PATTERNS, flags=FLAGS, names=("rewrk",)
)
