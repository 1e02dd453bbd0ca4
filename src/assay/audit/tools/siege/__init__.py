"""siege."""

from assay.audit.tools.pattern import AuditTool
from assay.audit.tools.siege.command import FLAGS
from assay.audit.tools.siege.output import CUES, PATTERNS, START

TOOL = AuditTool(
    name="siege", closed=True, cues=CUES, start=START, patterns=PATTERNS, flags=FLAGS, names=("siege",)
)
