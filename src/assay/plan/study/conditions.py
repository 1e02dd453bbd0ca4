"""What follows from a study's settings before it starts.

Whether its servers are interleaved, network emulation, and what its reader should know."""

from __future__ import annotations

from assay.core.errors import InputError
from assay.model.block import LONGEST_NS, UNLIKE_NS, Interleaving
from assay.model.design import Choices
from assay.plan.resolved import ResolvedCase
from assay.plan.study.additions import AGAIN
from assay.plan.study.load import Study
from assay.plan.study.schema import EmulationSetting, Profile
from assay.servers.manifest import ServerSpec
from assay.stats.interleaved import FEWEST_ROUNDS
from assay.stats.pairing import LEAST_BLOCKS
from assay.stats.special import student_t_quantile


def interleave_of(profile: Profile, choices: Choices) -> Interleaving | None:
    """They do under the fair profile, unless that is declined: what was published stays as it was.

    Four rounds are to fit into the time for which the study measures a server in a block, under loads that
    are interleaved.
    """
    if choices.profile != "fair" or not (profile.interleaved and choices.interleave):
        return None
    given_ns = None if profile.slice_ms is None else round(profile.slice_ms * 1e6)
    lengths_s = [load.measure_s or 0.0 for load in profile.loads if load.emulation is None]
    longest_s = max(lengths_s, default=0.0)
    most_ns = round((profile.quick.measure_s if choices.quick else longest_s) / FEWEST_ROUNDS * 1e9)
    most_ns = max(2 * UNLIKE_NS, min(most_ns, LONGEST_NS))
    return Interleaving(least_slice_ns=UNLIKE_NS, most_slice_ns=most_ns, given_slice_ns=given_ns)


def check_emulation(study: Study, load: str, emulation: EmulationSetting | None, server: ServerSpec) -> None:
    """InputError where a server over an emulated network would be without its services: they are not where it
    is."""
    if emulation is not None and server.services:
        raise InputError(
            f"{study.path}: load {load!r} is over an emulated network: {server.id} has no way to its service "
            f"{server.services[0]!r}",
            "name servers for that load that need none, or leave emulation out",
        )


def control_note(again: ResolvedCase | None, blocks: int) -> tuple[str, ...]:
    """What the control costs."""
    if again is None:
        return ()
    trials, cost_s = again.case.trials(blocks), sum(again.expected_s()) / 2
    of = "each block" if trials == blocks else f"{trials} of {blocks} blocks"
    return (
        f"A/A control: {again.case.label.removesuffix(AGAIN)} is measured a second time in {of}, about "
        f"{trials * cost_s:.0f} s more (--no-control leaves it out)",
    )


def quick_note(profile: Profile, choices: Choices, blocks: int) -> tuple[str, ...]:
    """What a first look costs in certainty, and what it leaves out."""
    if not choices.quick:
        return ()
    notes = []
    if blocks < profile.blocks:
        wider = _half_width(blocks) / _half_width(profile.blocks)
        said = f"intervals about {wider:.1f} times as wide" if wider < 100 else "no intervals"
        fewer = f"{blocks} blocks of shorter trials instead of {profile.blocks}"
        notes.append(f"quick: {fewer}: {said}{'' if blocks >= LEAST_BLOCKS else ', and no ranking'}")
    left_out = ["open loops"] if any(load.latency for load in profile.loads) and not choices.latency else []
    left_out += ["searches for a capacity"] if any(load.objective for load in profile.loads) else []
    if left_out:
        notes.append(f"quick: the study's {' and '.join(left_out)} are left out")
    return tuple(notes)


def _half_width(trials: int) -> float:
    """Of a 95 % t interval, in units of the trials' standard deviation."""
    return student_t_quantile(trials - 1, 0.975) / trials**0.5 if trials > 1 else float("inf")
