"""rewrk's flags."""

from assay.audit.tools.pattern import ToolFlags

FLAGS = ToolFlags(
    values={
        "-c": ("connections", "n"),
        "--connections": ("connections", "n"),
        "-t": ("threads", "n"),
        "--threads": ("threads", "n"),
        "-d": ("duration", "t"),
        "--duration": ("duration", "t"),
    },
    ignored=frozenset({"-m", "--method", "-H", "--header", "-b", "--body"}),
    alive=True,
)
