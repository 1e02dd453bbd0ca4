"""What a trial keeps of its server and of the machine: CPU time, too, where the server got some."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import made_studies

from assay.model.trial import Link


def test_a_trial_holds_all_that_was_seen(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right"], blocks=1)
    before = os.sched_getaffinity(0)
    run = made_studies.run(tmp_path)
    (seen,) = run.trials
    assert seen.measurement is not None
    assert seen.measurement.completed > 0
    assert seen.measurement.outcomes == ()
    assert seen.measurement.warmup_ns >= 0.2e9
    assert seen.measurement.measured_ns >= 0.3e9
    assert seen.contract is not None
    assert (seen.contract.before, seen.contract.after) == (1, 1)
    assert seen.contract.during == seen.measurement.checked > 0
    assert seen.server is not None
    assert seen.server.version == f"Python {sys.version.split()[0]}"
    assert seen.server.cpu_share is not None and 0 < seen.server.cpu_share < 1.5
    assert seen.server.peak_rss_bytes > 1_000_000
    assert 0 < seen.server.start_ns < 60e9
    assert seen.server.cpus == run.header.environment.server_cpus
    assert seen.plan.cpus == run.header.environment.client_cpus
    assert seen.plan.url.startswith("http://127.0.0.1:")
    assert seen.host is not None
    loopback = run.header.environment.loopback_bytes_per_s
    assert seen.link == Link(same_machine=True, bytes_per_s=loopback)
    assert os.sched_getaffinity(0) == before
