"""autocannon's flags."""

from assay.audit.tools.pattern import ToolFlags

FLAGS = ToolFlags(
    values={
        "-c": ("connections", "n"),
        "--connections": ("connections", "n"),
        "-d": ("duration", "t"),
        "--duration": ("duration", "t"),
        "-a": ("requests", "n"),
        "--amount": ("requests", "n"),
        "-p": ("pipelining", "n"),
        "--pipelining": ("pipelining", "n"),
        "-R": ("offered", "n"),
        "--overallRate": ("offered", "n"),
    },
    ignored=frozenset(
        [
            "-w",
            "--workers",
            "-t",
            "--timeout",
            "-m",
            "--method",
            "-b",
            "--body",
            "-i",
            "--input",
            "-H",
            "--headers",
            "-T",
            "--title",
        ]
    ),
    opens=frozenset({"-R", "--overallRate", "-r", "--connectionRate"}),
    alive=True,
    defaults={"connections": 10},
)
