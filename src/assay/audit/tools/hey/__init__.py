"""hey (and boom, as it was called before)."""

from assay.audit.tools.hey.command import FLAGS
from assay.audit.tools.hey.output import CUES, PATTERNS, START, settle
from assay.audit.tools.pattern import AuditTool

TOOL = AuditTool(
    name="hey",
    closed=True,
    cues=CUES,
    start=START,
    patterns=PATTERNS,
    flags=FLAGS,
    names=("hey", "boom", "rakyll/hey"),
    joined=frozenset({"good", "bad", "broken"}),
    settle=settle,
)
