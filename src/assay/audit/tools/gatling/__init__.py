"""Gatling."""

from assay.audit.tools.gatling.output import CUES, PATTERNS, START
from assay.audit.tools.pattern import AuditTool

TOOL = AuditTool(
    name="gatling", closed=None, cues=CUES, start=START, patterns=PATTERNS, names=("gatling", "Gatling")
)
