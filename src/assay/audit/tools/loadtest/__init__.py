"""loadtest (Node.js)."""

from assay.audit.tools.loadtest.command import FLAGS
from assay.audit.tools.loadtest.output import CUES, PATTERNS, START
from assay.audit.tools.pattern import AuditTool

TOOL = AuditTool(
    name="loadtest", closed=True, cues=CUES, start=START, patterns=PATTERNS, flags=FLAGS, names=("loadtest",)
)
