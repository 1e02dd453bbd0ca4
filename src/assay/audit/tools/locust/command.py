"""Locust's flags."""

from assay.audit.tools.pattern import ToolFlags

FLAGS = ToolFlags(
    values={
        "-u": ("vus", "n"),
        "--users": ("vus", "n"),
        "-t": ("duration", "t"),
        "--run-time": ("duration", "t"),
    },
    ignored=frozenset(["-f", "--locustfile", "-H", "--host", "-r", "--spawn-rate", "--csv"]),
)
