"""siege's flags."""

from assay.audit.tools.pattern import Flags

FLAGS = Flags(
    values={
        "-c": ("connections", "n"),
        "--concurrent": ("connections", "n"),
        "-r": ("repetitions", "n"),
        "--reps": ("repetitions", "n"),
        "-t": ("duration", "siege"),
        "--time": ("duration", "siege"),
    },
    others=frozenset(
        ["-d", "--delay", "-f", "--file", "-H", "--header", "-R", "--rc", "-l", "--log", "-A", "-T"]
    ),
)
