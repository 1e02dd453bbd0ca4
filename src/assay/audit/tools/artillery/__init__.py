"""Artillery."""

from assay.audit.tools.artillery.output import CUES, PATTERNS, START, table
from assay.audit.tools.pattern import AuditTool

TOOL = AuditTool(
    name="artillery",
    closed=False,
    cues=CUES,
    start=START,
    patterns=PATTERNS,
    names=("artillery", "Artillery"),
    extra=table,
    joined=frozenset({"bad", "good", "broken"}),
)
