"""oha."""

from assay.audit.tools.oha.command import FLAGS
from assay.audit.tools.oha.output import CUES, PATTERNS, START
from assay.audit.tools.pattern import AuditTool

TOOL = AuditTool(
    name="oha",
    closed=True,
    cues=CUES,
    start=START,
    patterns=PATTERNS,
    flags=FLAGS,
    names=("oha",),
    joined=frozenset({"good", "bad", "broken"}),
)
