"""oha's flags."""

from assay.audit.tools.pattern import ToolFlags

FLAGS = ToolFlags(
    values={
        "-n": ("requests", "n"),
        "-c": ("connections", "n"),
        "-z": ("duration", "t"),
        "-q": ("offered", "n"),
    },
    ignored=frozenset(["-p", "-H", "-m", "-d", "-D", "-t", "-A", "-T", "-a", "--rand-regex-url", "--fps"]),
    keep_alive={"--disable-keepalive": False},
    alive=True,
    opens=frozenset({"-q"}),
)
