"""Interleaved plans and what comes of them: several arms in one run that are interleaved.

The Rust twins are `crates/engine/src/plan/interleaved.rs`, `change.rs`, `course.rs` and
`record/interleaved.rs`. All times are nanoseconds; points of time count from the start of the run.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from assay.model.measurement import Measurement, Snapshot, Window
from assay.model.plan import LoadPlan, Part, Value

Phase = Literal["warmup", "measured"]
Ended = Literal["unreachable", "failure", "asked"]


class InterleavedPlan(Value, frozen=True, kw_only=True):
    """Several plans in one run, an arm each, on the same threads.

    While one arm has its slice of `slice_ns` the others rest, with their connections open. In the
    `washout_ns` before each slice nobody starts anything and what is under way is answered. `threads`,
    `cpus`, `stop`, `warmup_max_ns` and the URL's scheme are the same in all arms. `stop` counts a
    arm's own slices: the run ends with the first round after which every arm has measured so long.
    `seed` draws the order. `part` says what of all arms is offered by one process where others offer the
    rest; the slices, those of the whole, count from the instant at which it starts.
    """

    arms: tuple[LoadPlan, ...]
    slice_ns: int
    washout_ns: int
    seed: int = 0
    part: Part | None = None


class Measure(Value, frozen=True, kw_only=True, tag_field="kind", tag="measure"):
    """Arms measure; all of them where none is named. Without effect on those that do."""

    arms: tuple[int, ...] | None = None


class GiveSlices(Value, frozen=True, kw_only=True, tag_field="kind", tag="slices"):
    """Only these arms have slices; the others yield theirs, and their connections stay open."""

    arms: tuple[int, ...]


class SetLengths(Value, frozen=True, kw_only=True, tag_field="kind", tag="lengths"):
    """Slices are of another length, and the washout before them."""

    slice_ns: int
    washout_ns: int


class EndArm(Value, frozen=True, kw_only=True, tag_field="kind", tag="end_arm"):
    """An arm has no more slices; its accounting stay."""

    arm: int
    why: Ended = "asked"


class End(Value, frozen=True, kw_only=True, tag_field="kind", tag="end"):
    """There are no more rounds."""


Change: TypeAlias = Measure | GiveSlices | SetLengths | EndArm | End
"""What is asked of slices from outside. It holds from a round on, for all who share them."""


class SliceTimes(Value, frozen=True, kw_only=True):
    """One slice of an arm: its washout from `begin_ns` to `start_ns`, its slice from there to `end_ns`.

    `number` counts the slices of the run, `place` those of the `round`; `phase` is the arm's.
    """

    number: int
    round: int
    place: int
    arm: int
    phase: Phase
    begin_ns: int
    start_ns: int
    end_ns: int


class Slice(Value, frozen=True, kw_only=True):
    """What an arm did in one of its slices, summed over the workers.

    `early_completed` of the `completed` came in its first fifth. `service_time_sum_ns` and
    `service_time_p50_ns` are of `completed` (the median over several workers: the mean of theirs, by
    answers). `carried` requests were under way at its end; `unsettled` of the arm's still were when the
    washout after it was over. `edges_ns` is how long those had been under way by its end, less how long
    requests had been that were under way at its begin: with it the service times are the time that requests
    were under way within the slice. `late` answers came between the
    arm's slice before it and this one, and count for nobody. `reopened` connections were opened again since
    the end of the arm's slice before it.
    `client_cpu_ns` is the engine's own; `client_delayed_ns` is how long its workers were ready to run
    meanwhile and others had their cores (not known where the system does not tell).
    """

    number: int
    round: int
    place: int
    phase: Phase
    washout_ns: int
    start_ns: int
    length_ns: int
    started: int
    completed: int
    failed: int
    bytes_read: int
    early_completed: int
    service_time_sum_ns: int
    service_time_p50_ns: int
    carried: int
    unsettled: int
    late: int
    reopened: int
    client_cpu_ns: int
    edges_ns: int | None = None
    client_delayed_ns: int | None = None

    @property
    def window(self) -> Window:
        """What of it stands among the windows of its arm."""
        return Window(
            start_ns=self.start_ns,
            length_ns=self.length_ns,
            phase=self.phase,
            started=self.started,
            completed=self.completed,
            failed=self.failed,
            bytes_read=self.bytes_read,
        )


class ArmMeasurement(Value, frozen=True, kw_only=True):
    """What one arm did.

    `measurement` is as of a run of its own: `measured_ns` is the sum of its measured slices, `windows`
    are its slices, `warmup_ns` is where the first measured one begins. Its answers are those within its
    slices; failures count whenever they come, as a time-out may fall into another arm's slice. `late`
    answers of the measured phase came outside of its slices: they are in the accounting and in no figure.
    `ended` says why it had no more slices before the end of the run: nobody was there in a whole slice, a
    failure came on which its plan ends, or it was asked for.
    """

    measurement: Measurement
    late: int
    ended: Ended | None
    slices: tuple[Slice, ...]


class InterleavedMeasurement(Value, frozen=True, kw_only=True):
    """One execution of a `InterleavedPlan`; `interrupted` where it was stopped in the midst of a round.

    Of a part, `started_late_ns` is how long after its instant its workers began.
    """

    started_at_unix_ns: int
    started_at_monotonic_ns: int
    started_late_ns: int = 0
    length_ns: int
    interrupted: bool
    arms: tuple[ArmMeasurement, ...]


class ArmSnapshot(Value, frozen=True, kw_only=True):
    """The live view of one arm: `slices` are those of its current phase that are over, the latest 1,200.

    `ended_here` is, in a part of a run, why the arm should have no more slices as seen by that part alone.
    """

    snapshot: Snapshot
    ended: Ended | None
    ended_here: Ended | None = None
    slices: tuple[Slice, ...]


class InterleavedSnapshot(Value, frozen=True, kw_only=True):
    """The live view; `turn` is the one under way, None once the run has ended."""

    elapsed_ns: int
    slice: SliceTimes | None
    arms: tuple[ArmSnapshot, ...]
