"""Windows taken together: several of one load as one, or those that several generators had at once."""

from __future__ import annotations

from collections.abc import Sequence

from assay.model.measurement import Window


def as_one(windows: Sequence[Window], length_ns: int) -> Window:
    """One window of that length with what all of these had, from the first one's begin on; of their phase."""
    return Window(
        start_ns=min(one.start_ns for one in windows),
        length_ns=length_ns,
        phase=windows[0].phase,
        started=sum(one.started for one in windows),
        completed=sum(one.completed for one in windows),
        failed=sum(one.failed for one in windows),
        bytes_read=sum(one.bytes_read for one in windows),
    )
