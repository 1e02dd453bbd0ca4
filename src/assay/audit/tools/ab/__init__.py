"""ApacheBench."""

from assay.audit.tools.ab.command import FLAGS
from assay.audit.tools.ab.output import CUES, LONE, PATTERNS, START
from assay.audit.tools.pattern import Tool

TOOL = Tool(
    name="ab",
    closed=True,
    cues=CUES,
    start=START,
    lone=LONE,
    patterns=PATTERNS,
    flags=FLAGS,
    names=("ab",),
    joined=frozenset({"progress"}),
)
