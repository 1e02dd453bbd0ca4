"""vegeta's flags."""

from assay.audit.tools.pattern import ToolFlags

FLAGS = ToolFlags(
    values={
        "-rate": ("offered", "n"),
        "--rate": ("offered", "n"),
        "-duration": ("duration", "t"),
        "--duration": ("duration", "t"),
        "-connections": ("pool", "n"),
    },
    ignored=frozenset(
        [
            "-targets",
            "-header",
            "-body",
            "-output",
            "-workers",
            "-max-workers",
            "-timeout",
            "-name",
            "-type",
            "-format",
        ]
    ),
    keep_alive={"-keepalive=false": False, "--keepalive=false": False},
    alive=True,
    opens=frozenset({"attack"}),
    words=("attack",),
)
