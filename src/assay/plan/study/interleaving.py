"""Whether the servers of a study take turns, and within which bounds."""

from __future__ import annotations

from assay.model.block import LONGEST_NS, UNLIKE_NS, Interleaving
from assay.model.design import Choices
from assay.plan.study.schema import Profile
from assay.stats.interleaved import FEWEST_CYCLES


def interleave_of(profile: Profile, choices: Choices) -> Interleaving | None:
    """They do under the fair profile, unless that is declined: what was published stays as it was.

    Four cycles are to fit into the time for which the study measures a server in a block, under loads that
    take turns.
    """
    if choices.profile != "fair" or not (profile.interleaved and choices.interleave):
        return None
    given_ns = None if profile.slice_ms is None else round(profile.slice_ms * 1e6)
    lengths_s = [load.measure_s or 0.0 for load in profile.loads if load.distance is None]
    longest_s = max(lengths_s, default=0.0)
    most_ns = round((profile.quick.measure_s if choices.quick else longest_s) / FEWEST_CYCLES * 1e9)
    most_ns = max(2 * UNLIKE_NS, min(most_ns, LONGEST_NS))
    return Interleaving(least_slice_ns=UNLIKE_NS, most_slice_ns=most_ns, given_slice_ns=given_ns)
