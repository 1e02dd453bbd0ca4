"""ab's flags."""

from assay.audit.tools.pattern import ToolFlags

FLAGS = ToolFlags(
    values={"-n": ("requests", "n"), "-c": ("connections", "n"), "-t": ("duration", "s")},
    ignored=frozenset(
        [
            "-p",
            "-u",
            "-T",
            "-H",
            "-C",
            "-A",
            "-P",
            "-X",
            "-s",
            "-b",
            "-B",
            "-v",
            "-y",
            "-x",
            "-z",
            "-g",
            "-e",
            "-m",
            "-f",
            "-Z",
            "-E",
        ]
    ),
    keep_alive={"-k": True},
    alive=False,
    defaults={"connections": 1},
)
