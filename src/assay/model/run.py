"""`Run`: the versioned record of one execution; `Series`: several runs that were asked for at once."""

from __future__ import annotations

from typing import Literal

from assay.model.block import Block
from assay.model.design import Choices, Design, StudyDesign
from assay.model.estimate import ClaimVerdict, Compared, Ranked
from assay.model.finding import Finding
from assay.model.plan import Value
from assay.model.trial import Case, ClockSeen, Trial

Role = Literal["generator", "server"]
"""What a node does: `ray start --resources='{"assay_generator": 1}'` makes it a generator."""


class About(Value, frozen=True, kw_only=True):
    """A node: its machine and the versions there.

    `kernel_id` is the same for all that share a kernel. `cpus` are those that Ray's processes may use,
    `client_cpus` and `server_cpus` how they are split where both roles are played.
    """

    hostname: str
    os: str
    kernel: str
    cpu_model: str
    cores: int
    cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]
    server_cpus: tuple[int, ...]
    kernel_id: str
    assay_version: str
    engine_version: str
    python: str


class LinkSeen(Value, frozen=True, kw_only=True):
    """What a node's way to a server node was measured to carry, or why it was not."""

    server: str
    bytes_per_s: float | None = None
    problem: str = ""


class NodeSeen(Value, frozen=True, kw_only=True):
    """A node as `assay nodes` sees it: its machine and clock, or what is wrong with it."""

    address: str
    roles: tuple[Role, ...]
    about: About | None = None
    clock: ClockSeen | None = None
    links: tuple[LinkSeen, ...] = ()
    problem: str = ""


class Survey(Value, frozen=True, kw_only=True):
    """All nodes of a cluster, and what is wrong, in a line each."""

    address: str
    nodes: tuple[NodeSeen, ...]
    problems: tuple[str, ...] = ()


FORMAT = 4
"""Version of the stored run's lines. Raised whenever an older reader would misread a newer line.
Lines of other formats are not read."""


class Environment(Value, frozen=True, kw_only=True):
    """The machine and the versions a number belongs to. Figures compare only within one.

    `smt_siblings` holds each group of two or more CPUs that share one physical core. `turbo` and
    `on_battery` are None where the machine does not say. `loopback_bytes_per_s` is what the loopback
    was measured to carry, where it was measured. `allowed_cores` and `allowed_memory_bytes` are the limits of
    the control group that Assay ran in; None where none was set or seen.
    """

    machine_id: str
    hostname: str
    os: str
    kernel: str
    cpu_model: str
    cores: int
    memory_bytes: int
    governor: str | None
    descriptor_limit: int
    client_cpus: tuple[int, ...]
    server_cpus: tuple[int, ...]
    assay_version: str
    git_commit: str | None
    tool_versions: dict[str, str]
    smt_siblings: tuple[tuple[int, ...], ...] = ()
    turbo: bool | None = None
    on_battery: bool | None = None
    ephemeral_ports: int | None = None
    loopback_bytes_per_s: float | None = None
    allowed_cores: float | None = None
    allowed_memory_bytes: int | None = None


class Header(Value, frozen=True, kw_only=True, tag="header", tag_field="record"):
    """First line of a run file: all that is settled before the first trial.

    The record is gone on with, reported and judged by its `design` alone. `study_name` is the study's, or
    the verb's of a run without one. `series` is the id of the series that the run is part of, if it is part
    of one.
    """

    format: int
    run_id: str
    created_unix_ns: int
    command: tuple[str, ...]
    study_name: str
    design: Design
    cases: tuple[Case, ...]
    environment: Environment
    series: str = ""
    nodes: tuple[str, ...] = ()

    @property
    def study(self) -> StudyDesign | None:
        """The design of a run that is of a study."""
        return self.design if isinstance(self.design, StudyDesign) else None

    @property
    def profile(self) -> str:
        """The profile of the study; empty without one."""
        return self.study.choices.profile if self.study else ""

    @property
    def quick(self) -> bool:
        """Whether it is a first look at a study."""
        return self.study is not None and self.study.choices.quick

    @property
    def blocks(self) -> int | None:
        """How many blocks it has at least; None where it ends by its own figures, looked at after every
        block: then its intervals must allow for the looking."""
        return self.study.blocks if self.study else None


class TrialDone(Value, frozen=True, kw_only=True, tag="trial", tag_field="record"):
    """One finished (or failed) trial: appended and synced before the next one starts."""

    format: int = FORMAT
    trial: Trial


class BlockDone(Value, frozen=True, kw_only=True, tag="block", tag_field="record"):
    """One finished (or cut) block with all of its trials, appended and synced as one line."""

    format: int = FORMAT
    block: Block


class Judgement(Value, frozen=True, kw_only=True, tag="judgement", tag_field="record"):
    """The verdict over the trials so far; the last one in the file counts.

    It rests on so many `trials` of the record (not known of format 1), and knew of so many
    `damaged_lines`: where the record says otherwise, it counts no more. `comparisons` are the candidates
    pair by pair (none in format 1), `minimum_effect` the share below which no difference is claimed. Of a
    comparison that decided servers left, `load_ns` is its load, and `even_load_ns` what that would have been
    with all servers in each block; 0 of other runs.
    """

    format: int = FORMAT
    judged_unix_ns: int
    assay_version: str
    complete: bool
    ranking: tuple[Ranked, ...]
    claims: tuple[ClaimVerdict, ...]
    findings: tuple[Finding, ...]
    clean: bool
    trials: int | None = None
    damaged_lines: int = 0
    comparisons: tuple[Compared, ...] = ()
    minimum_effect: float = 0.01
    load_ns: int = 0
    even_load_ns: int = 0


class Run(Value, frozen=True, kw_only=True):
    """A whole run in memory. `damage` says in a few words of each line of its record what cannot be read.

    `trials` are all of them, those of `blocks` too.
    """

    header: Header
    trials: tuple[Trial, ...]
    judgement: Judgement | None
    damage: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()

    def after(self, done: Trial | Block) -> Run:
        """The run with a trial or an interleaved block more. A judgement was made without it, and counts no
        more."""
        trials, blocks = (done.trials, (done,)) if isinstance(done, Block) else ((done,), ())
        return Run(
            header=self.header,
            trials=(*self.trials, *trials),
            judgement=None,
            damage=self.damage,
            blocks=(*self.blocks, *blocks),
        )


SERIES_FORMAT = 2
"""Version of the stored series."""

State = Literal["to do", "begun", "ended", "failed"]


class SeriesPart(Value, frozen=True, kw_only=True):
    """One run of a series. `run` is its id once it has begun, `problem` why it could not end."""

    study: str
    profile: str
    run: str = ""
    state: State = "to do"
    problem: str = ""


class Series(Value, frozen=True, kw_only=True):
    """Runs one after the other, in order; what was chosen for all of them (but the profile, a part's own).

    The runs are records of their own. The series only says which belong together and which are
    still to come, so that a series that was cut off goes on where it was.
    """

    format: int = SERIES_FORMAT
    series_id: str
    created_unix_ns: int
    choices: Choices = Choices()
    parts: tuple[SeriesPart, ...]
