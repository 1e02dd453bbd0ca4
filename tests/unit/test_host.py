"""What is seen of the machine, against what it says itself."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import pytest

from assay.servers import CoreSplit, host, split_cores


def test_the_environment_is_this_machine() -> None:
    split = CoreSplit(client=(1,), server=(0,), cores=2)
    seen = host.environment(split, {"go": "1.26"})
    assert seen.cores == os.cpu_count()
    assert seen.kernel == os.uname().release
    assert (seen.client_cpus, seen.server_cpus) == ((1,), (0,))
    assert seen.tool_versions["go"] == "1.26"
    assert seen.descriptor_limit == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert seen.memory_bytes > 2**28
    assert seen.machine_id == host.environment(split, {}).machine_id
    assert seen.hostname not in seen.machine_id


def test_a_busy_client_core_is_not_idle() -> None:
    split = split_cores()
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, split.client[:1])
    try:
        watch = host.Watch(CoreSplit(client=split.client[:1], server=(), cores=1))
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            pass
        seen = watch.observed()
    finally:
        os.sched_setaffinity(0, before)
    assert seen.client_cpus_idle_share is not None and seen.client_cpus_idle_share < 0.5
    assert seen.steal_share is not None and 0 <= seen.steal_share <= 1
    assert seen.load_average_1m >= 0


def test_the_limit_of_open_files_is_raised_to_the_hard_one() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 256), hard))
    try:
        assert host.raise_descriptor_limit() == (min(soft, 256), hard)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
        assert host.raise_descriptor_limit() == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("client", [(), (0,), (999,)])
def test_a_watch_of_any_cores_gives_shares(client: tuple[int, ...]) -> None:
    share = host.Watch(CoreSplit(client, (), 1)).observed().client_cpus_idle_share
    assert share is None or 0 <= share <= 1  # None where no clock moved in between


def test_the_watch_tells_the_server_s_cores_from_the_client_s_and_counts_what_ran() -> None:
    before = os.sched_getaffinity(0)
    cpu = min(before)
    other = next((each for each in sorted(before) if each != cpu), cpu)
    watch = host.Watch(CoreSplit(client=(other,), server=(cpu,), cores=len(before)))
    os.sched_setaffinity(0, {cpu})
    try:
        spun = time.process_time() + 0.5
        while time.process_time() < spun:
            pass
        seen = watch.observed()
    finally:
        os.sched_setaffinity(0, before)
    assert seen.busy_cores is not None and 0 < seen.busy_cores <= (os.cpu_count() or 1) + 0.1
    assert seen.server_cpus_idle_share is not None and 0 <= seen.server_cpus_idle_share < 1
    assert seen.throttled_ns is None or seen.throttled_ns >= 0
    assert seen.own_cpu_ns is not None and seen.own_cpu_ns >= 0.5e9


def test_the_local_ports_are_the_kernel_s_range() -> None:
    low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    assert host.environment(split_cores(), {}).ephemeral_ports == high - low + 1
