"""autocannon."""

from assay.audit.tools.autocannon.command import FLAGS
from assay.audit.tools.autocannon.output import CUES, PATTERNS, START, table
from assay.audit.tools.pattern import AuditTool

TOOL = AuditTool(
    name="autocannon",
    closed=True,
    cues=CUES,
    start=START,
    patterns=PATTERNS,
    flags=FLAGS,
    names=("autocannon",),
    extra=table,
)
