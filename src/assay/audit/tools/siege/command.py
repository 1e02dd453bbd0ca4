"""siege's flags."""

from assay.audit.tools.pattern import ToolFlags

FLAGS = ToolFlags(
    values={
        "-c": ("connections", "n"),
        "--concurrent": ("connections", "n"),
        "-r": ("repetitions", "n"),
        "--reps": ("repetitions", "n"),
        "-t": ("duration", "siege"),
        "--time": ("duration", "siege"),
    },
    ignored=frozenset(
        ["-d", "--delay", "-f", "--file", "-H", "--header", "-R", "--rc", "-l", "--log", "-A", "-T"]
    ),
)
