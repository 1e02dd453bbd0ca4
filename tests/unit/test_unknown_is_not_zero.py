"""A figure that nobody could take is not known: it is not 0, and nobody is blamed for what is missing."""

from __future__ import annotations

import pytest
from made_runs import case, found, interleaved, measurement, plan, run, server, trial
from msgspec.structs import replace
from test_verdict_resting import busy, rested

from assay.model.block import ServerSlice
from assay.model.trial import HostSeen
from assay.report import exports
from assay.report.model import rows
from assay.runner.block import services_used_ns, used_ns
from assay.servers import host
from assay.servers.cores import CoreSplit
from assay.verdict import judge

UNSEEN = server(cpu_ns=None, cpu_share=None)
BUSY = HostSeen(load_average_1m=1.0, steal_share=0.0, client_cpus_idle_share=0.55, busy_cores=1.9)


def slice_seen(*cpu_ns: int | None, services: dict[str, int] | None = None) -> ServerSlice:
    return ServerSlice(number=0, arm=0, length_ns=10**8, cpu_ns=cpu_ns, services_cpu_ns=services or {})


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        ([], None),
        ([slice_seen(None, 5)], None),
        ([slice_seen(10**7), slice_seen(None)], 10**8),
        ([slice_seen(0)], 0),
    ],
)
def test_the_cpu_time_of_a_server_that_nobody_looked_at_in_time(
    slices: list[ServerSlice], expected: int | None
) -> None:
    assert used_ns(slices, 0, 10**9) == expected


def test_the_cpu_time_of_a_service_that_nobody_looked_at_in_time() -> None:
    assert services_used_ns([slice_seen(1), slice_seen(1, services={"postgres": 10**7})], 0, 10**9) == {
        "postgres": 10**8
    }
    assert services_used_ns([slice_seen(1)], 0, 10**9) == {}


def test_a_server_that_nobody_looked_at_is_no_other_program() -> None:
    seen = measurement()
    host_seen = replace(BUSY, own_cpu_ns=0)
    assert "H2" in found(seen, host=host_seen, server=server(cpu_ns=0, cpu_share=0.0))
    assert "H2" not in found(seen, host=host_seen, server=UNSEEN)


def test_its_share_of_its_cores_is_no_figure() -> None:
    seen = run([case("a")], [trial("a", block, server=UNSEEN) for block in range(6)])
    (row,) = (row for part in rows.sections(seen) for row in part.rows)
    assert row.cpu_share is None
    some = [trial("a", block, server=UNSEEN if block else server()) for block in range(6)]
    (row,) = (row for part in rows.sections(run([case("a")], some)) for row in part.rows)
    assert row.cpu_share == pytest.approx(0.99)


def test_what_rested_unseen_may_have_been_busy() -> None:
    rounds, made = 10, run([case("a"), case("b"), case("c")], (), 4)
    rates = {name: [10_000.0] * rounds for name in "abc"}
    for number in range(4):
        block = rested(interleaved(rates, number, number), 0.6)
        slices = tuple(
            replace(one, cpu_ns=(10**8, None, one.cpu_ns[2])) if one.arm == 0 else one
            for one in block.server_slices
        )
        trials = tuple(busy(one, 0.6) if one.case == "a" else one for one in block.trials)
        made = made.after(replace(block, trials=trials, server_slices=slices))
    [finding] = [one for one in judge(made, 0).findings if one.code == "H2"]
    told = "servers of its block that rested, or other programs, kept 0.6 cores busy"
    assert finding.evidence.partition(" (in ")[0] == told


def test_cores_whose_clocks_did_not_move_are_not_full() -> None:
    watch = host.Watch(CoreSplit((), (), 1), begins=False)
    assert watch.observed().client_cpus_idle_share is None
    still = replace(BUSY, client_cpus_idle_share=None, busy_cores=None)
    assert "G1" not in found(measurement(), plan(), host=still)


def test_steal_that_no_clock_told_is_not_known_and_no_rule_speaks_of_it() -> None:
    unlooked = host.Watch(CoreSplit((), (), 1), begins=False).observed()
    assert unlooked.steal_share is None and unlooked.client_cpus_idle_share is None
    unknown = replace(BUSY, steal_share=None, own_cpu_ns=0)
    assert "H2" not in found(measurement(), host=replace(unknown, busy_cores=None), server=UNSEEN)
    made = run([case("a")], [replace(trial("a", 0), host=unknown)])
    assert all("steal_share" not in one.figures for one in judge(made, 0).findings)
    assert {row["steal_share"] for row in exports.rows(made)} == {None}
