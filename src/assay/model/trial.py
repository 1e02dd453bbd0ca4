"""`Trial`: one presentation of one load to one server process; the unit of replication."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec.structs import replace

from assay.model.account import TimeAccount
from assay.model.costs import Costs
from assay.model.interleaving import Ended, Slice
from assay.model.measurement import Measurement
from assay.model.plan import LoadPlan, Value

Phase = Literal["start", "contract", "warm-up", "measure", "contract again", "stop"]
"""What goes on in a trial."""


class OfCapacity(Value, frozen=True, kw_only=True):
    """A rate that the run itself finds: `share` of the throughput of the closed-loop case that `cases` names,
    block by block; where it is `common` to several cases, of the slowest of them in its first block. `load`
    names the load of those closed loops."""

    cases: tuple[str, ...]
    load: str
    share: float
    common: bool = False


class Search(Value, frozen=True, kw_only=True):
    """A search for the highest rate that holds `objective` ("p99<50ms,errors<0.1%").

    Its range follows from the throughput of closed-loop case `case`. It takes at most `trials` trials a
    block, each of `measure_ns`, or longer where the objective's percentiles need more requests.
    """

    case: str
    objective: str
    trials: int
    measure_ns: int


class Emulation(Value, frozen=True, kw_only=True):
    """How far a load's servers are from its client: the time there and back, and the share of packets that
    are lost each way. TCP shares the way out by the algorithm `congestion`, or as this machine's does."""

    round_trip_ns: int
    loss: float = 0.0
    congestion: str = ""


AS_GIVEN = "as given"
"""The load of a case that the words of a command line describe, not a study."""


class Case(Value, frozen=True, kw_only=True):
    """One server (and variant) under one workload at one load.

    `id` is stable within a study: its `entry`, "quotes/go" or "quotes/go+name", and after an "@" each word of
    `where`, which tells it from other cases of that entry (workload, load, a rate). Without an entry the id
    is a name of its own. `role`: a `ceiling` (null server), a
    `reference` and a `control` are shown but are no candidates for the ranking. A control is
    the case named by `control_of` entered a second time (A/A). `facts` are the manifest's facts
    with the variant applied (workers, pool, jit, request_log, compression, debug, ...).
    `blocks` names the blocks that it takes part in; empty means every one. `rate` says at which rate an
    open loop is offered that follows the closed ones, `search` what it looks for at many rates. At a
    `emulation` there is a link with a delay between client and server.
    """

    id: str
    server: str
    variant: str
    workload: str
    load: str
    role: str = "candidate"
    label: str = ""
    control_of: str = ""
    facts: dict[str, str | int | float | bool] = {}
    blocks: tuple[int, ...] = ()
    rate: OfCapacity | None = None
    search: Search | None = None
    entry: str = ""
    where: tuple[str, ...] = ()
    emulation: Emulation | None = None

    @property
    def name(self) -> str:
        """What a reader knows it by; with its workload and load where the study has several."""
        return case_id(self.label or self.server_name, self.where)

    @property
    def server_name(self) -> str:
        """What the study calls its server."""
        return self.entry or self.id

    @property
    def trials_a_block(self) -> int:
        """How many trials it has in a block that it takes part in: of a search, the most."""
        return self.search.trials if self.search else 1

    @property
    def dependent(self) -> bool:
        """Whether its load follows from what other cases of the block have shown."""
        return self.rate is not None or self.search is not None

    def takes_part(self, block: int) -> bool:
        """Whether it has a trial in that block."""
        return not self.blocks or block in self.blocks

    def trials(self, blocks: int) -> int:
        """How many trials it has in a run of so many blocks; a search that has ended needs fewer."""
        return self.trials_a_block * sum(self.takes_part(block) for block in range(blocks))


def case_id(entry: str, where: Iterable[str]) -> str:
    """How a case of that entry is called."""
    return "@".join((entry, *where))


class ServerSeen(Value, frozen=True, kw_only=True):
    """What the sampler saw of the server's process tree.

    `start_ns`: process start to the first right answer. `cpu_ns` over the measured phase, None where
    nobody could look in time; `cpu_share` is that over (wall time x server cores). Memory is the peak of the
    tree's summed resident sets.
    """

    version: str
    pid: int
    cpus: tuple[int, ...]
    start_ns: int
    cpu_ns: int | None
    cpu_share: float | None
    peak_rss_bytes: int
    threads: int


class ServiceSeen(Value, frozen=True, kw_only=True):
    """What the sampler saw of a service's process tree (a database, a cache, an upstream) in the measured
    phase, apart from the server's.

    CPU time is of an arm's own slices where servers were interleaved; None where nobody could look in time.
    `cpu_share` is that over (measured time x server cores). Memory is that at the end of the measured phase,
    of an interleaved block at its end. `pages_shared_out`: each page that several processes share counts in
    equal parts for each (Linux, proportional set size); else wholly for each, so that forty database
    processes with one shared buffer seem to take it forty times.
    """

    name: str
    version: str
    cpus: tuple[int, ...]
    cpu_ns: int | None = None
    cpu_share: float | None = None
    memory_bytes: int
    pages_shared_out: bool

    def using(self, cpu_ns: int | None, wall_ns: int) -> ServiceSeen:
        """The same with that CPU time, used while the servers' cores had so much time."""
        share = cpu_ns / wall_ns if cpu_ns is not None and wall_ns else None
        return replace(self, cpu_ns=cpu_ns, cpu_share=share)


class ContractSeen(Value, frozen=True, kw_only=True):
    """Answers tested against the contract, and how many were wrong, with examples."""

    before: int
    before_wrong: int
    during: int
    during_wrong: int
    after: int
    after_wrong: int
    examples: tuple[str, ...] = ()


class HostSeen(Value, frozen=True, kw_only=True):
    """The host's state over a trial.

    `steal_share` is of all cores' time, the idle shares are of the client's and of the server's
    cores, None where their clocks did not move meanwhile, or no clock tells of steal.
    `busy_cores` counts all that ran, ours and
    others': 1.5 is one and a half cores busy.
    `throttled_ns` is how long the control group was kept from running. `own_cpu_ns` is what this process
    used: the generator's threads and whatever looks at them.
    """

    load_average_1m: float
    steal_share: float | None
    client_cpus_idle_share: float | None
    mhz: float | None = None
    server_cpus_idle_share: float | None = None
    busy_cores: float | None = None
    throttled_ns: int | None = None
    own_cpu_ns: int | None = None


class WarmUpSeen(Value, frozen=True, kw_only=True):
    """How a warm-up ended: with steady throughput, or at its bound (0: there was none), and `reason` says
    what was not steady. `changes_ns` are the changes of level within it, from the first request on. `took_ns`
    is for how long load was offered until then, what others had in their slices left out.
    `rising`: the server was still getting faster at its end, without a step at which that ended."""

    steady: bool
    bound_ns: int
    reason: str = ""
    changes_ns: tuple[int, ...] = ()
    took_ns: int | None = None
    rising: bool = False


class Carried(Value, frozen=True, kw_only=True):
    """What became of the packets on a link with a delay, in the measured phase.

    Of all `packets`, both ways together, `lost` were lost by chance, as asked; `overflowed` found no room.
    `late` ones left a tenth of their way or a millisecond after they were due, whichever is more; the latest
    by `latest_ns`. `cpu_ns` is what the program took that carries them, on the client's cores.
    """

    packets: int
    lost: int
    overflowed: int
    late: int
    latest_ns: int
    cpu_ns: int


class Link(Value, frozen=True, kw_only=True):
    """The way between client and server: whether both ran on one machine, and what the way was measured to
    carry; None where it was not measured. With an `emulation` it is a link of ours: what it `carried`, and by
    which algorithm this machine's TCP shares one out (`congestion`)."""

    same_machine: bool
    bytes_per_s: float | None = None
    emulation: Emulation | None = None
    carried: Carried | None = None
    congestion: str = ""


class ClockSeen(Value, frozen=True, kw_only=True):
    """Another machine's clock against this one's: how far ahead it is, how far off that may be to either
    side, and the shortest time in which it was read."""

    offset_ns: int
    uncertainty_ns: int
    round_trip_ns: int


class GeneratorSeen(Value, frozen=True, kw_only=True):
    """One of several generators that offered a load together.

    `node` is its address, `first_worker` and the workers of its measurement its part of the plan.
    `started_late_ns` is its start against the agreed instant, known as well as its `clock`. That was read
    before the load, `clock_after` behind it; None in records that are older, and where it was gone by then.
    `measurement` is of its part alone, `host` of its machine, `link_bytes_per_s` what its way to the server
    was measured to carry. `same_machine`: the server runs under the same kernel.
    """

    node: str
    cores: int
    cpus: tuple[int, ...]
    first_worker: int
    clock: ClockSeen
    clock_after: ClockSeen | None = None
    started_late_ns: int
    measurement: Measurement
    host: HostSeen
    same_machine: bool = False
    link_bytes_per_s: float | None = None


class Failure(Value, frozen=True, kw_only=True):
    """Why a trial has no measurement: the stage it failed in, one line, and the log's end."""

    stage: str
    reason: str
    log_tail: str = ""


class Arm(Value, frozen=True, kw_only=True):
    """What a trial of an interleaved block was as one of several that were interleaved. `slices` are its
    warm-up's, too.

    `late` answers came outside of its slices: they are in the accounting and in no figure. `ended` says why
    it had no more slices before the others. An `external` server was restarted by nobody: all its blocks are
    parts of one.
    """

    block: int
    slices: tuple[Slice, ...]
    late: int = 0
    ended: Ended | None = None
    external: bool = False

    @property
    def rounds(self) -> dict[int, float]:
        """Its rate (answers a second) in each measured round, by the round's number."""
        return {one.round: one.completed / one.length_ns * 1e9 for one in self._measured}

    @property
    def later_rounds(self) -> dict[int, float]:
        """The same without the first fifth of each slice."""
        return {
            one.round: (one.completed - one.early_completed) / (0.8 * one.length_ns) * 1e9
            for one in self._measured
        }

    @property
    def delays(self) -> dict[int, float]:
        """How much of a core the client lacked, as others had it, in each measured round, by the round's
        number; nothing where that is not known of all."""
        known = {one.round: one.client_delayed_ns for one in self._measured}
        lengths = {one.round: one.length_ns for one in self._measured}
        found = {
            round_number: ns / lengths[round_number] for round_number, ns in known.items() if ns is not None
        }
        return found if len(found) == len(known) else {}

    @property
    def _measured(self) -> Iterator[Slice]:
        return (one for one in self.slices if one.phase == "measured" and one.length_ns > 0)

    @property
    def edges_ns(self) -> int | None:
        """What its measured slices cut off of service times, less what these hold from before them; None
        where that is not known of all."""
        edges = [one.edges_ns for one in self.slices if one.phase == "measured"]
        known = [one for one in edges if one is not None]
        return sum(known) if len(known) == len(edges) else None

    @property
    def washout_ns(self) -> int | None:
        """The shortest washout before a measured slice; None where it has none."""
        return min((one.washout_ns for one in self.slices if one.phase == "measured"), default=None)

    @property
    def load_ns(self) -> int:
        """For how long load was offered to it, warm-up included."""
        return sum(one.length_ns for one in self.slices)


class Trial(Value, frozen=True, kw_only=True):
    """A case in its block, with everything that was seen. `measurement` or `failure` is set.

    `link` is not known of records of format 1, in which every server was taken to stand on the client's
    machine. `generators` are those of a load that several offered; `measurement` is then all of theirs.
    `arm` is there where it was one of an interleaved block: its measurement is then of its own slices alone,
    and a server that failed in the midst of one keeps the slices that it had. `account` says where the time
    of its cores went; None of a failed trial, and where nobody could look.
    `costs` are there with `--why`.
    """

    number: int
    case: str
    block: int
    position: int
    started_at_unix_ns: int
    plan: LoadPlan
    measurement: Measurement | None = None
    failure: Failure | None = None
    server: ServerSeen | None = None
    contract: ContractSeen | None = None
    host: HostSeen | None = None
    services: tuple[ServiceSeen, ...] = ()
    warm_up: WarmUpSeen | None = None
    link: Link | None = None
    generators: tuple[GeneratorSeen, ...] = ()
    arm: Arm | None = None
    account: TimeAccount | None = None
    costs: Costs | None = None

    @property
    def load_ns(self) -> int:
        """For how long load was offered, warm-up included; nothing is known of a trial that failed."""
        if self.measurement is None:
            return 0
        return self.arm.load_ns if self.arm else self.measurement.warmup_ns + self.measurement.measured_ns
