"""`Run`: environment + study + trials + judgement; the versioned record of one execution."""

from __future__ import annotations

from typing import Any

from assay.values.estimate import ClaimVerdict, Compared, Ranked
from assay.values.finding import Finding
from assay.values.plan import Value
from assay.values.trial import Case, Trial

FORMAT = 2
"""Version of the stored run's lines. Raised whenever an older reader would misread a newer line; how an
older one becomes a present one is `assay.store.migrate`'s to know."""


class Environment(Value, frozen=True, kw_only=True):
    """The machine and the versions a number belongs to. Figures compare only within one.

    `smt_siblings` holds each group of two or more CPUs that share one physical core. `turbo` and
    `on_battery` are None where the machine does not say. `loopback_bytes_per_s` is what the loopback
    was measured to carry, where it was measured.
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


class Header(Value, frozen=True, kw_only=True, tag="header", tag_field="record"):
    """First line of a run file: all that is settled before the first trial.

    `study` is the study as resolved (profile applied), as plain data, so that the record can
    be reported and judged without the study file. The judgement reads two of its keys:
    `claims`, a list in the shape of `assay.values.claim.Claim` (with case ids), and `rules`,
    `{"W3": {"thresholds": {"bytes_difference": 0.05}, "reason": "why"}}`. `series` is the id of the
    series that the run is part of, if it is part of one. `blocks` is 0 where the run goes on until
    its question is settled, looked at after every block: its intervals must allow for the looking.
    """

    format: int
    run_id: str
    created_unix_ns: int
    command: tuple[str, ...]
    study_name: str
    profile: str
    quick: bool
    seed: int
    blocks: int
    study: dict[str, Any]
    cases: tuple[Case, ...]
    environment: Environment
    series: str = ""

    @property
    def until_settled(self) -> bool:
        """Whether the run decides by its own figures when it ends."""
        return self.blocks == 0


class TrialDone(Value, frozen=True, kw_only=True, tag="trial", tag_field="record"):
    """One finished (or failed) trial: appended and synced before the next one starts."""

    format: int = FORMAT
    trial: Trial


class Judgement(Value, frozen=True, kw_only=True, tag="judgement", tag_field="record"):
    """The verdict over the trials so far; the last one in the file counts.

    It rests on so many `trials` of the record (not known of format 1), and knew of so many
    `damaged_lines`: where the record says otherwise, it counts no more. `comparisons` are the candidates
    pair by pair (none in format 1), `noise_floor` the share below which no difference is claimed.
    """

    format: int = FORMAT
    judged_unix_ns: int
    assay_version: str
    complete: bool
    ranking: tuple[Ranked, ...]
    claims: tuple[ClaimVerdict, ...]
    findings: tuple[Finding, ...]
    hallmark: bool
    trials: int | None = None
    damaged_lines: int = 0
    comparisons: tuple[Compared, ...] = ()
    noise_floor: float = 0.01


class Run(Value, frozen=True, kw_only=True):
    """A whole run in memory. `damage` says in a few words of each line of its record what cannot be read."""

    header: Header
    trials: tuple[Trial, ...]
    judgement: Judgement | None
    damage: tuple[str, ...] = ()
