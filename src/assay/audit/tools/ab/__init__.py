"""ApacheBench."""

from assay.audit.tools.ab.command import FLAGS
from assay.audit.tools.ab.output import CUES, FOREIGN, LONE, PATTERNS, START
from assay.audit.tools.pattern import AuditTool

TOOL = AuditTool(
    name="ab",
    closed=True,
    cues=CUES,
    start=START,
    lone=LONE,
    foreign=FOREIGN,
    patterns=PATTERNS,
    flags=FLAGS,
    names=("ab",),
    joined=frozenset({"progress"}),
)
