"""oha's flags."""

from assay.audit.tools.pattern import Flags

FLAGS = Flags(
    values={
        "-n": ("requests", "n"),
        "-c": ("connections", "n"),
        "-z": ("duration", "t"),
        "-q": ("offered", "n"),
    },
    others=frozenset(["-p", "-H", "-m", "-d", "-D", "-t", "-A", "-T", "-a", "--rand-regex-url", "--fps"]),
    keep_alive={"--disable-keepalive": False},
    alive=True,
    opens=frozenset({"-q"}),
)
