"""hey's flags."""

from assay.audit.tools.pattern import ToolFlags

FLAGS = ToolFlags(
    values={"-n": ("requests", "n"), "-c": ("connections", "n"), "-z": ("duration", "t")},
    ignored=frozenset(
        ["-q", "-o", "-m", "-H", "-t", "-A", "-d", "-D", "-T", "-a", "-x", "-cpus", "-host", "-U"]
    ),
    keep_alive={"-disable-keepalive": False, "--disable-keepalive": False},
    alive=True,
    opens=frozenset({"-q"}),
)
