"""One colour a server, wherever it is drawn: by its place among the study's servers."""

from __future__ import annotations

from collections.abc import Sequence

from assay.model.trial import Case
from assay.report.model.rows import short_name


def hues(cases: Sequence[Case]) -> dict[str, int | None]:
    """The place of each name's colour; None (grey) for what does not compete."""
    found: dict[str, int | None] = {short_name(case): None for case in cases}
    return found | {name: place for place, name in enumerate(competing(cases))}


def competing(cases: Sequence[Case]) -> tuple[str, ...]:
    """The names of the servers that compete, in the study's order."""
    return tuple(dict.fromkeys(short_name(case) for case in cases if case.role == "candidate"))
