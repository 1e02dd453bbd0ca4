"""Load-test tools of which only the command lines are known: their reports are read by no pattern."""

from assay.audit.tools.pattern import AuditTool, ToolFlags

ALI = AuditTool(
    name="ali",
    closed=False,
    cues=(),
    start="",
    patterns=(),
    flags=ToolFlags(
        values={
            "-r": ("offered", "n"),
            "--rate": ("offered", "n"),
            "-d": ("duration", "t"),
            "--duration": ("duration", "t"),
            "-c": ("connections", "n"),
            "--connections": ("connections", "n"),
        },
        ignored=frozenset({"-m", "--method", "-b", "--body", "-H", "--header", "-t", "--timeout"}),
        opens=frozenset({"-r", "--rate"}),
        alive=True,
    ),
    names=("ali",),
)
"""https://github.com/nakabonne/ali, which sends at a rate, 50 a second without a word."""

PLOW = AuditTool(
    name="plow",
    closed=True,
    cues=(),
    start="",
    patterns=(),
    flags=ToolFlags(
        values={
            "-c": ("connections", "n"),
            "--concurrency": ("connections", "n"),
            "-n": ("requests", "n"),
            "--requests": ("requests", "n"),
            "-d": ("duration", "t"),
            "--duration": ("duration", "t"),
            "--rate": ("offered", "n"),
        },
        ignored=frozenset({"-H", "-m", "-b", "--body", "-T", "--timeout", "--method", "--content"}),
        opens=frozenset({"--rate"}),
        alive=True,
    ),
    names=("plow",),
)
"""https://github.com/six-ddc/plow."""

WEIGHTTP = AuditTool(
    name="weighttp",
    closed=True,
    cues=(),
    start="",
    patterns=(),
    flags=ToolFlags(
        values={"-n": ("requests", "n"), "-c": ("connections", "n"), "-t": ("threads", "n")},
        ignored=frozenset({"-H", "-m"}),
        keep_alive={"-k": True},
        alive=False,
    ),
    names=("weighttp",),
)
"""https://github.com/lighttpd/weighttp, which closes connections without -k, as ab does."""

FORTIO = AuditTool(
    name="fortio",
    closed=None,
    cues=(),
    start="",
    patterns=(),
    flags=ToolFlags(
        values={
            "-c": ("connections", "n"),
            "-n": ("requests", "n"),
            "-t": ("duration", "t"),
            "-qps": ("offered", "n"),
        },
        ignored=frozenset({"-H", "-p", "-r", "-labels", "-payload", "-timeout"}),
        keep_alive={"-keepalive=false": False},
        alive=True,
    ),
    names=("fortio load", "fortio"),
)
"""https://github.com/fortio/fortio: a closed loop that holds itself to a rate."""

OTHERS = (ALI, PLOW, WEIGHTTP, FORTIO)
