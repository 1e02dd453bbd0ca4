"""Plans of arms that are interleaved in one run, and what comes of them.

All times are nanoseconds; points of time count from the start of the run.

Written by `make schema` from the structs of `crates/engine`: change those.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from assay.model.measurement import Measurement, Phase, Snapshot
from assay.model.plan import LoadPlan, Part, Value


class InterleavedPlan(Value, frozen=True, kw_only=True):
    """Several plans in one run, an arm each. The arms are interleaved on the same worker threads: while
    one has its slice the others rest, with their connections open.
    """

    arms: tuple[LoadPlan, ...]
    """What each arm does. They share their threads, so `threads`, `cpus`, `stop`, `warmup_max_ns` and the
    scheme of the URL are the same in all. `stop` counts an arm's own slices.
    """
    slice_ns: int
    """Length of a slice, without its washout."""
    washout_ns: int
    """The time before each slice in which nobody starts anything and what is under way is answered."""
    seed: int = 0
    """Seed of the order."""
    part: Part | None = None
    """What of all arms is offered from here, where others offer the rest. The slices are those of the
    whole: they count from the instant at which the part starts, by the calendar, however late it is
    met.
    """


Ended: TypeAlias = Literal["unreachable", "failure", "asked"]
"""Why an arm has no more slices before the run ends.

"unreachable": in a whole slice nothing was answered and every attempt to connect failed.
"failure": A kind of failure was seen on which its plan ends.
"asked": it was asked for.
"""


class Measure(Value, frozen=True, kw_only=True, tag="measure", tag_field="kind"):
    """Arms measure; all of them where none is named. Without effect on those that do."""

    arms: tuple[int, ...] | None = None
    """Which ones."""


class GiveSlices(Value, frozen=True, kw_only=True, tag="slices", tag_field="kind"):
    """Only these arms have slices; the connections of the others stay open. Where none of them is left,
    all have slices.
    """

    arms: tuple[int, ...]
    """Which ones."""


class SetLengths(Value, frozen=True, kw_only=True, tag="lengths", tag_field="kind"):
    """Slices are of another length, and the washout before them."""

    slice_ns: int
    """Of a slice."""
    washout_ns: int
    """Of a washout."""


class EndArm(Value, frozen=True, kw_only=True, tag="end_arm", tag_field="kind"):
    """An arm has no more slices; its accounting stay."""

    arm: int
    """Which one."""
    why: Ended = "asked"
    """Why."""


class End(Value, frozen=True, kw_only=True, tag="end", tag_field="kind"):
    """There are no more rounds."""


Change: TypeAlias = Measure | GiveSlices | SetLengths | EndArm | End
"""What is asked of slices from outside. It holds from a round on, the same for all who share them."""


class SliceTimes(Value, frozen=True, kw_only=True):
    """One slice of an arm: a time to settle, then its slice. Points of time count from the start of the
    run.
    """

    number: int
    """Its number within the run."""
    round: int
    """In which round."""
    place: int
    """Which one within the round."""
    arm: int
    """Whose it is."""
    phase: Phase
    """Whether its slice belongs to the arm's warm-up or to its measurement."""
    begin_ns: int
    """Where its washout begins: where the slice before it ends."""
    start_ns: int
    """Where its slice begins."""
    end_ns: int
    """Where its slice ends."""


class Slice(Value, frozen=True, kw_only=True):
    """One slice of an arm, summed over the workers."""

    number: int
    """The number of its slice within the run."""
    round: int
    """The round it lies in."""
    place: int
    """Its place within the round."""
    phase: Phase
    """The phase of the arm it lies in."""
    washout_ns: int
    """Length of the washout before it."""
    start_ns: int
    """Its start, from the start of the run."""
    length_ns: int
    """Its length; only where the run was stopped in the midst of it, it is shorter than planned."""
    started: int
    """Requests started in it."""
    completed: int
    """Requests answered as expected in it."""
    failed: int
    """Requests failed in it."""
    bytes_read: int
    """Bytes received in it."""
    early_completed: int
    """Those of `completed` that were answered in its first fifth."""
    service_time_sum_ns: int
    """The sum of their service times."""
    service_time_p50_ns: int
    """Their median service time (of several workers: the mean of their medians, by answers)."""
    carried: int
    """Requests under way at its end."""
    unsettled: int
    """Those of the arm that were still under way when the washout after it was over."""
    late: int
    """Answers of the arm between its slice before this one and this one; they count for nobody."""
    reopened: int
    """Connections opened again between the end of the arm's slice before this one and its own end."""
    client_cpu_ns: int
    """CPU time that the workers used in it."""
    edges_ns: int | None = None
    """How long the requests under way at its end had been so by then, less how long requests had been that
    were under way at its begin: with it the service times are the time that requests were under way
    within the slice.
    """
    client_delayed_ns: int | None = None
    """How long the workers were ready to run meanwhile and others had their cores; none where the system
    does not tell.
    """


class ArmMeasurement(Value, frozen=True, kw_only=True):
    """What one arm did."""

    measurement: Measurement
    """As of a run of its own: its measured time is the sum of its measured slices, its windows are its
    slices.
    """
    late: int
    """Answers outside its slices in the measured phase: in the accounting, and in no figure."""
    ended: Ended | None
    """Why it had no more slices before the end of the run."""
    slices: tuple[Slice, ...]
    """Its slices, those of the warm-up first."""


class InterleavedMeasurement(Value, frozen=True, kw_only=True):
    """One execution of an interleaved plan."""

    started_at_unix_ns: int
    """The start of the run, in nanoseconds since 1970."""
    started_at_monotonic_ns: int
    """The same by the system's monotonic clock."""
    started_late_ns: int = 0
    """Of a part, how long after the agreed instant its workers began; its first slices lack so much."""
    length_ns: int
    """Length of the run."""
    interrupted: bool
    """Whether it was stopped in the midst of a round."""
    arms: tuple[ArmMeasurement, ...]
    """The arms, in the order of the plan."""


class ArmSnapshot(Value, frozen=True, kw_only=True):
    """The live view of one arm."""

    snapshot: Snapshot
    """As of a run of its own."""
    ended: Ended | None
    """Why it has no more slices."""
    ended_here: Ended | None = None
    """Of a part, why it should have no more, as seen from here alone: that is for all parts to agree on."""
    slices: tuple[Slice, ...]
    """The slices of the current phase that are over, the latest 1,200 at most."""


class InterleavedSnapshot(Value, frozen=True, kw_only=True):
    """The live view."""

    elapsed_ns: int
    """Time since the start of the run."""
    slice: SliceTimes | None
    """Whose slice it is; none once the run has ended."""
    arms: tuple[ArmSnapshot, ...]
    """The arms, in the order of the plan."""
