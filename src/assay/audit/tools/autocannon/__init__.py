"""autocannon."""

from assay.audit.tools.autocannon.command import FLAGS
from assay.audit.tools.autocannon.output import CUES, PATTERNS, START, table
from assay.audit.tools.pattern import Tool

TOOL = Tool(
    name="autocannon",
    closed=True,
    cues=CUES,
    start=START,
    patterns=PATTERNS,
    flags=FLAGS,
    names=("autocannon",),
    extra=table,
)
