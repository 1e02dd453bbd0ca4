"""bombardier, its text and its JSON."""

from assay.audit.tools.bombardier.command import FLAGS
from assay.audit.tools.bombardier.output import CUES, PATTERNS, START
from assay.audit.tools.pattern import AuditTool

TOOL = AuditTool(
    name="bombardier",
    closed=True,
    cues=CUES,
    start=START,
    patterns=PATTERNS,
    flags=FLAGS,
    names=("bombardier",),
    joined=frozenset({"broken"}),
)
