"""`Block`: a block, or those of its cases that ask the same, of which all servers were alive at once and
got the load in slices; the unit of replication of an interleaved comparison.

It is one line of a record. Its trials are trials like others (`Run.trials` holds them too, in the order of
their numbers); what an interleaved block knows beyond them is how long the slices were and why, and whose
processes worked while whose slice it was.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.model.plan import Value
from assay.model.trial import Trial

ALIKE_NS = 100_000_000
"""The usual slice between builds of one program: below it the switches themselves cost."""
SHORTEST_NS = 25_000_000
"""The shortest, on a machine that moves their ratio from one usual slice to the next: a switch costs both the
same, so it makes them slower and leaves the ratio."""
UNLIKE_NS = 250_000_000
"""Between unlike programs: below it a switch costs one of them more than the other."""
LONGEST_NS = 5_000_000_000
"""An interleaved block of four rounds is then 20 s of each server: longer ones would no longer be in
turns."""
WASHOUT_NS = 5_000_000


class Lengths(Value, frozen=True, kw_only=True):
    """How long slices are and the washout before each; `why` says in a few words what settled them."""

    slice_ns: int
    washout_ns: int
    why: str = ""


class Pilot(Value, frozen=True, kw_only=True):
    """Slices of two lengths, tried in turn before the first block measured.

    `apart` is by how much (a share) the ratio of that pair differed most between the two, beyond what its
    errors explain where they do not `agree`; the shorter is used only where all pairs agree. A difference of
    less than `resolved` (a share) could have been missed in some pair.
    """

    shorter_ns: int
    longer_ns: int
    rounds: int
    apart: float
    pair: tuple[str, str]
    agree: bool
    resolved: float | None = None


class Interleaving(Value, frozen=True, kw_only=True):
    """That a design's blocks are interleaved, and within which bounds their lengths are chosen.

    Slices are `least_slice_ns` or longer, `most_slice_ns` at most. `given_slice_ns` is a length asked for by
    hand (None: it is chosen), and `alike` says that the servers are builds of one program, without a pilot:
    theirs are shorter than usual only where the warm-up shows why.
    """

    least_slice_ns: int
    most_slice_ns: int = LONGEST_NS
    washout_ns: int = WASHOUT_NS
    given_slice_ns: int | None = None
    alike: bool = False

    @property
    def usual_slice_ns(self) -> int:
        """The shortest slice as long as nothing asks for another."""
        return max(self.least_slice_ns, ALIKE_NS) if self.alike else self.least_slice_ns


class ServerSlice(Value, frozen=True, kw_only=True):
    """The CPU time that each server's processes used in one measured slice, in the order of the block's
    trials: of that whose slice it was, and of all that rested. None where a process cannot be looked at;
    trials that never became an arm are the last of an interleaved block, and have no place here.

    `services_cpu_ns` is what each service used meanwhile, by its name, of those that could be looked at.
    `length_ns` is the time between the two looks, which lie within the slice and so
    outside the washout.
    """

    number: int
    arm: int
    length_ns: int
    cpu_ns: tuple[int | None, ...]
    services_cpu_ns: dict[str, int] = {}


class Block(Value, frozen=True, kw_only=True):
    """One block. `trials` are its arms, in their order: also of servers that did not start, or died.

    `lengths` are those of its measured slices. `turns` are its measured slices, looked at from outside.
    `cut`: it was ended early (Ctrl-C) and holds the rounds that were whole by then.
    """

    number: int
    block: int
    started_at_unix_ns: int
    lengths: Lengths
    trials: tuple[Trial, ...]
    server_slices: tuple[ServerSlice, ...] = ()
    pilot: Pilot | None = None
    cut: bool = False

    def rested(self, case: str) -> Iterator[Rested]:
        """The measured slices of others in which the server of `case` could be looked at."""
        arm = next(place for place, trial in enumerate(self.trials) if trial.case == case)
        for seen in self.server_slices:
            used_ns = seen.cpu_ns[arm] if arm < len(seen.cpu_ns) else None
            if seen.arm != arm and used_ns is not None and seen.length_ns > 0:
                whose = self.trials[seen.arm].case
                yield Rested(number=seen.number, whose=whose, length_ns=seen.length_ns, cpu_ns=used_ns)


class Rested(Value, frozen=True, kw_only=True):
    """What a server used of the CPU in a slice that was another's (`whose`)."""

    number: int
    whose: str
    length_ns: int
    cpu_ns: int
