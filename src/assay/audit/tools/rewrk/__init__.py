"""rewrk."""

from assay.audit.tools.pattern import Tool
from assay.audit.tools.rewrk.command import FLAGS
from assay.audit.tools.rewrk.output import CUES, PATTERNS, START

TOOL = Tool(
    name="rewrk", closed=True, cues=CUES, start=START, patterns=PATTERNS, flags=FLAGS, names=("rewrk",)
)
