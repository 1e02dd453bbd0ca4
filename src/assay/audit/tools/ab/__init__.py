"""ApacheBench."""

from assay.audit.tools.ab.command import FLAGS
from assay.audit.tools.ab.output import CUES, PATTERNS, START
from assay.audit.tools.pattern import Tool

TOOL = Tool(
    name="ab",
    closed=True,
    cues=CUES,
    start=START,
    patterns=PATTERNS,
    flags=FLAGS,
    names=("ab",),
    joined=frozenset({"progress"}),
)
