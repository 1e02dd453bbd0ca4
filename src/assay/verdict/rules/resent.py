"""W, continued: requests that the server did not process and that were sent again."""

from __future__ import annotations

from assay.verdict.load import Load
from assay.verdict.rule import NONE, Hit, LoadRule, Thresholds
from assay.verdict.words import counted, percent


def sent_again(load: Load, thresholds: Thresholds) -> Hit | None:
    """W9: how many, and what part of all."""
    resent = load.answers.resent
    if not resent:
        return None
    share = resent / load.counts.ended if load.counts.ended else 1.0
    many = counted(resent, "request")
    return Hit(
        "note",
        f"{many} ({percent(share)}) were sent again: the server ended the connection, or refused the stream, "
        "without processing them",
        {"resent": float(resent), "share": share},
        gravity=share,
    )


W9 = LoadRule(
    code="W9",
    title="requests sent again",
    severities=("note",),
    effects=(NONE,),
    meaning=(
        "The protocol says that these requests were not processed, so clients send them again and they are "
        "no failures. Each counts once, and its times begin with its first send."
    ),
    remedy=(
        "raise the server's limits of requests and of idle time on a connection, or count such requests as "
        "failed with --no-resend"
    ),
    source="RFC 9113, 8.7; RFC 9114, 5.2; RFC 9112, 9.3.1 and 9.3.2",
    example="nginx ends a connection after 1,000 requests (keepalive_requests), with others under way.",
    check=sent_again,
)
