"""h2load's flags."""

from assay.audit.tools.pattern import ToolFlags

FLAGS = ToolFlags(
    values={
        "-n": ("requests", "n"),
        "--requests": ("requests", "n"),
        "-c": ("connections", "n"),
        "--clients": ("connections", "n"),
        "-t": ("threads", "n"),
        "--threads": ("threads", "n"),
        "-m": ("pipelining", "n"),
        "--max-concurrent-streams": ("pipelining", "n"),
        "-D": ("duration", "s"),
        "--duration": ("duration", "t"),
    },
    ignored=frozenset(["-i", "-w", "-W", "-H", "-p", "-d", "-r", "-T", "-N", "-B"]),
    alive=True,
    defaults={"pipelining": 1},
)
