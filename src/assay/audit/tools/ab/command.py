"""ab's flags."""

from assay.audit.tools.pattern import Flags

FLAGS = Flags(
    values={"-n": ("requests", "n"), "-c": ("connections", "n"), "-t": ("duration", "s")},
    others=frozenset(
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
