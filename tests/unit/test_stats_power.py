"""How many trials a precision needs."""

from __future__ import annotations

import assay.stats as stats


def test_more_trials_are_asked_for_narrower_intervals() -> None:
    # t(0.975; n-1) x 2 / sqrt(n) <= 1 first holds at n = 18 (t = 2.110, half-width 0.995).
    assert stats.trials_for_half_width(0.02, 0.01) == 18
    assert stats.trials_for_half_width(0.02, 0.0) is None
