"""Locust."""

from assay.audit.tools.locust.command import FLAGS
from assay.audit.tools.locust.output import CUES, START, table
from assay.audit.tools.pattern import AuditTool

TOOL = AuditTool(
    name="locust",
    closed=True,
    cues=CUES,
    start=START,
    patterns=(),
    flags=FLAGS,
    names=("locust",),
    extra=table,
)
