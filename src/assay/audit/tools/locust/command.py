"""Locust's flags."""

from assay.audit.tools.pattern import Flags

FLAGS = Flags(
    values={
        "-u": ("vus", "n"),
        "--users": ("vus", "n"),
        "-t": ("duration", "t"),
        "--run-time": ("duration", "t"),
    },
    others=frozenset(["-f", "--locustfile", "-H", "--host", "-r", "--spawn-rate", "--csv"]),
)
