"""Whether the servers of a study take turns, and within which bounds."""

from __future__ import annotations

from assay.study.schema import Profile
from assay.values.design import Choices
from assay.values.sitting import SETTLE_NS, UNLIKE_NS, Weave


def weave_of(profile: Profile, choices: Choices) -> Weave | None:
    """They do under the fair profile, unless that is declined: what was published stays as it was."""
    if choices.profile != "fair" or not (profile.woven and choices.weave):
        return None
    given_ns = None if profile.slice_ms is None else round(profile.slice_ms * 1e6)
    return Weave(least_slice_ns=UNLIKE_NS, settle_ns=SETTLE_NS, given_slice_ns=given_ns)
