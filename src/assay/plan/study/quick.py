"""A first look at a study: as much of it as fits into three minutes of measuring.

The profile's `[quick]` table says what is shorter. Where that is not enough, loads and variants are left
out, then warm-ups and measured phases become shorter, then the A/A control goes, then candidates, then
blocks. What fits first is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import msgspec
from msgspec.structs import replace

from assay.core import units as fmt
from assay.model.design import Choices
from assay.plan.resolved import ResolvedRun
from assay.plan.study.load import Study, expand
from assay.plan.study.schema import Profile, StudyEntry
from assay.stats.estimates import student_t_quantile
from assay.stats.sequential import LEAST_BLOCKS

MOST_S = 180.0
"""Of measuring, by the estimate at its most. Builds of servers are not part of it."""
_SHORTER = ((2.0, 4.0), (1.0, 2.0), (1.0, 1.0))
"""Seconds of a measured phase and of the longest warm-up, where those of the profile do not fit."""
_MOST_CANDIDATES, _LEAST_CANDIDATES = 6, 3
"""Where not all of them fit: fewer show no order worth a look."""


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """What a first look has of its study: the profile with its `quick` table as it is used, the first
    `groups` of its workloads and loads and its first `candidates` (None: all), further entries of one server
    (`variants`), and the control."""

    profile: Profile
    groups: int | None = None
    candidates: int | None = None
    variants: bool = True
    control: bool = True

    def entries(
        self, entries: Sequence[StudyEntry], is_candidate: Callable[[StudyEntry], bool]
    ) -> list[StudyEntry]:
        """Those that take part, in their order."""
        first = {entry.server: entry for entry in reversed(entries)}
        kept = [entry for entry in entries if self.variants or first[entry.server] is entry]
        candidates = [entry for entry in kept if is_candidate(entry)][: self.candidates]
        return [entry for entry in kept if entry in candidates or not is_candidate(entry)]


def groups_of(study: Study, profile: Profile) -> list[tuple[str, str]]:
    """Each workload with each load that it is asked under."""
    return [
        (workload.name, name)
        for workload in study.file.workloads
        for load in profile.loads
        if not load.workloads or workload.name in load.workloads
        for name, *_ in expand(load)
    ]


def shortest(whole: Cut, groups: int, choices: Choices, make: Callable[[Cut], ResolvedRun]) -> ResolvedRun:
    """The first of the cuts that is likely to fit, else the smallest; `make` makes the run of one."""
    made = make(whole)
    for cut in _cuts(whole, choices) if made.expected_s().high_s > MOST_S else ():
        made = make(replace(cut, groups=1))
        if made.expected_s().high_s <= MOST_S:
            return _most_groups(cut, groups, make, made)
    return made


def _cuts(whole: Cut, choices: Choices) -> Iterator[Cut]:
    quick = whole.profile.quick
    usual = (quick.measure_s, quick.warm_up_max_s)
    lengths = dict.fromkeys((usual, *((min(usual[0], a), min(usual[1], b)) for a, b in _SHORTER)))
    blocks = [choices.blocks or quick.blocks]
    blocks += [] if choices.blocks else range(min(quick.blocks, whole.profile.blocks) - 1, 0, -1)
    candidates = (None,) if choices.servers else (None, *range(_MOST_CANDIDATES, _LEAST_CANDIDATES - 1, -1))
    controls = (True, False) if choices.control else (False,)
    variants = (True,) if choices.servers else (True, False)
    ladder = product(blocks, candidates, controls, lengths, variants)
    for number, few, control, (measure_s, warm_up_s), several in ladder:
        shorter = msgspec.structs.replace(
            quick,
            blocks=number,
            measure_s=measure_s,
            warm_up_max_s=warm_up_s,
            ceiling_s=min(quick.ceiling_s, measure_s),
        )
        profile = msgspec.structs.replace(whole.profile, quick=shorter)
        yield replace(whole, profile=profile, candidates=few, control=control, variants=several)


def _most_groups(
    cut: Cut, groups: int, make: Callable[[Cut], ResolvedRun], least: ResolvedRun
) -> ResolvedRun:
    """The run with as many workloads and loads as fit: one does, which is `least`."""
    fits, too_many, best = 1, groups + 1, least
    while too_many - fits > 1:
        number = (fits + too_many) // 2
        made = make(replace(cut, groups=number))
        if made.expected_s().high_s <= MOST_S:
            fits, best = number, made
        else:
            too_many = number
    return best


def note(profile: Profile, made: ResolvedRun, left_out: Sequence[str]) -> str:
    """What a first look costs in certainty, what it leaves out, and how long it takes: one line."""
    said, blocks = [], made.blocks
    if blocks < profile.blocks:
        wider = _half_width(blocks) / _half_width(profile.blocks)
        told = f"intervals about {wider:.1f} times as wide" if wider < 100 else "no intervals"
        told += "" if blocks >= LEAST_BLOCKS else ", no ranking"
        fewer = "1 block" if blocks == 1 else f"{blocks} blocks"
        said.append(f"{fewer} of shorter trials instead of {profile.blocks} ({told})")
    if left_out:
        said.append(f"left out: {', '.join(left_out)}")
    most = fmt.span(made.expected_s().high_s)
    said.append(f"on a quiet machine {most} of measuring at most, builds of servers aside")
    return f"quick: {'; '.join(said)}"


def _half_width(trials: int) -> float:
    """Of a 95 % t interval, in units of the trials' standard deviation."""
    return student_t_quantile(trials - 1, 0.975) / trials**0.5 if trials > 1 else float("inf")


_FEW = 3
"""Loads that are named one by one."""


def left_out(whole: ResolvedRun, made: ResolvedRun, profile: Profile, choices: Choices) -> list[str]:
    """What a first look leaves out of a study, in a few words each."""
    words = ["open loops"] if any(load.latency for load in profile.loads) and not choices.latency else []
    words += ["searches for a capacity"] if any(load.objective for load in profile.loads) else []
    whole_cases, cases = [[one.case for one in run.cases] for run in (whole, made)]
    several = len({case.server_name for case in whole_cases if case.role == "candidate"}) > 1
    if choices.control and several and all(case.role != "control" for case in cases):
        words.append("the A/A control")
    names = [
        list(dict.fromkeys(" ".join((*case.where[:-1], case.load)) for case in each if not case.dependent))
        for each in (whole_cases, cases)
    ]
    loads = [name for name in names[0] if name not in names[1]]
    if loads:
        words.append(
            ", ".join(f"load {name}" for name in loads)
            if len(loads) <= _FEW
            else f"{len(loads)} of {len(names[0])} loads"
        )
    kept = {case.server_name for case in cases}
    asked = [case for case in whole_cases if (case.workload, case.load) == (cases[0].workload, cases[0].load)]
    gone = {case.server_name: case for case in asked if case.server_name not in kept and not case.control_of}
    variants = [name for name, case in gone.items() if case.server in {one.server for one in cases}]
    words += [gone[name].label or name for name in gone if name not in variants]
    return [*words, *([fmt.counted(len(variants), "variant") + " of its servers"] if variants else [])]
