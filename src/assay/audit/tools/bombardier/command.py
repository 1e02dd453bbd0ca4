"""bombardier's flags."""

from assay.audit.tools.pattern import ToolFlags

FLAGS = ToolFlags(
    values={
        "-c": ("connections", "n"),
        "--connections": ("connections", "n"),
        "-n": ("requests", "n"),
        "--requests": ("requests", "n"),
        "-d": ("duration", "t"),
        "--duration": ("duration", "t"),
        "-r": ("offered", "n"),
        "--rate": ("offered", "n"),
    },
    ignored=frozenset(
        [
            "-t",
            "--timeout",
            "-H",
            "--header",
            "-m",
            "--method",
            "-b",
            "--body",
            "-f",
            "--body-file",
            "-o",
            "--format",
            "-p",
            "--print",
        ]
    ),
    opens=frozenset({"-r", "--rate"}),
    alive=True,
    defaults={"connections": 125},
)
