"""k6's flags."""

from assay.audit.tools.pattern import ToolFlags

FLAGS = ToolFlags(
    values={
        "-u": ("vus", "n"),
        "--vus": ("vus", "n"),
        "-d": ("duration", "t"),
        "--duration": ("duration", "t"),
        "-i": ("requests", "n"),
        "--iterations": ("requests", "n"),
    },
    ignored=frozenset(["-e", "--env", "-o", "--out", "-s", "--stage", "--summary-export", "--tag"]),
    alive=True,
    words=("run",),
)
