"""wrk and wrk2."""

from assay.audit.tools.pattern import AuditTool
from assay.audit.tools.wrk.command import FLAGS
from assay.audit.tools.wrk.output import CUES, LONE, PATTERNS, START

TOOL = AuditTool(
    name="wrk",
    closed=True,
    cues=CUES,
    start=START,
    lone=LONE,
    patterns=PATTERNS,
    flags=FLAGS,
    names=("wrk", "wrk2"),
    joined=frozenset({"calibrated"}),
)
