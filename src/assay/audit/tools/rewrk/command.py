"""rewrk's flags."""

from assay.audit.tools.pattern import Flags

FLAGS = Flags(
    values={
        "-c": ("connections", "n"),
        "--connections": ("connections", "n"),
        "-t": ("threads", "n"),
        "--threads": ("threads", "n"),
        "-d": ("duration", "t"),
        "--duration": ("duration", "t"),
    },
    others=frozenset({"-m", "--method", "-H", "--header", "-b", "--body"}),
    alive=True,
)
