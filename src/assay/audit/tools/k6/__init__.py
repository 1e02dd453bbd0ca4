"""k6."""

from assay.audit.tools.k6.command import FLAGS
from assay.audit.tools.k6.output import CUES, PATTERNS, START
from assay.audit.tools.pattern import AuditTool

TOOL = AuditTool(
    name="k6", closed=None, cues=CUES, start=START, patterns=PATTERNS, flags=FLAGS, names=("k6",)
)
