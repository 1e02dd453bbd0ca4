"""loadtest's flags."""

from assay.audit.tools.pattern import ToolFlags

FLAGS = ToolFlags(
    values={
        "-n": ("requests", "n"),
        "--maxRequests": ("requests", "n"),
        "-c": ("connections", "n"),
        "--concurrency": ("connections", "n"),
        "-t": ("duration", "s"),
        "--maxSeconds": ("duration", "s"),
        "--rps": ("offered", "n"),
    },
    ignored=frozenset(["-H", "-T", "-P", "-p", "-m", "-R", "-C"]),
    keep_alive={"-k": True, "--keepalive": True},
    opens=frozenset({"--rps"}),
)
