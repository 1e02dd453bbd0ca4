"""Windows taken together."""

from __future__ import annotations

from assay.model.measurement import Window
from assay.stats.estimates import as_one


def test_several_windows_are_one_that_has_what_they_had() -> None:
    later, first = (
        Window(
            start_ns=start_ns,
            length_ns=100,
            phase="measured",
            started=3,
            completed=2,
            failed=1,
            bytes_read=50,
        )
        for start_ns in (200, 100)
    )
    assert as_one((later, first), 150) == Window(
        start_ns=100, length_ns=150, phase="measured", started=6, completed=4, failed=2, bytes_read=100
    )
