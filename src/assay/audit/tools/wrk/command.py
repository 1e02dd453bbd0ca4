"""wrk's flags, and wrk2's rate."""

from assay.audit.tools.pattern import ToolFlags

FLAGS = ToolFlags(
    values={
        "-c": ("connections", "n"),
        "--connections": ("connections", "n"),
        "-t": ("threads", "n"),
        "--threads": ("threads", "n"),
        "-d": ("duration", "t"),
        "--duration": ("duration", "t"),
        "-R": ("offered", "n"),
        "--rate": ("offered", "n"),
    },
    ignored=frozenset({"-H", "--header", "-s", "--script", "-T", "--timeout"}),
    opens=frozenset({"-R", "--rate"}),
    alive=True,
)
