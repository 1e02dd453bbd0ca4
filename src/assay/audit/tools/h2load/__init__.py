"""h2load."""

from assay.audit.tools.h2load.command import FLAGS
from assay.audit.tools.h2load.output import CUES, PATTERNS, START
from assay.audit.tools.pattern import AuditTool

TOOL = AuditTool(
    name="h2load",
    closed=True,
    cues=CUES,
    start=START,
    patterns=PATTERNS,
    flags=FLAGS,
    names=("h2load",),
    joined=frozenset({"progress"}),
)
