"""What control groups allow, read from made trees of both versions, and where it is named."""

from __future__ import annotations

from pathlib import Path

import made_runs
import pytest
from msgspec.structs import replace

from assay.core import cgroup
from assay.core.cgroup import Allowed
from assay.report.model.circumstances import environment_differences, machine
from assay.runner import doctor
from assay.servers import CoreSplit

GB = 2**30
TREES: dict[str, tuple[str, dict[str, str], Allowed]] = {
    "2, its own": (
        "0::/a/b",
        {"a/b/cpu.max": "150000 100000", "a/b/memory.max": f"{GB}"},
        Allowed(1.5, GB),
    ),
    "2, one above": (
        "0::/a/b",
        {"a/cpu.max": "50000 100000", "a/b/cpu.max": "max 100000", "a/memory.max": f"{2 * GB}"},
        Allowed(0.5, 2 * GB),
    ),
    "2, the least of several": (
        "0::/a/b",
        {"a/cpu.max": "300000 100000", "a/b/cpu.max": "200000 100000", "a/b/memory.max": "max"},
        Allowed(2.0, None),
    ),
    "2, within a container": ("0::/", {"cpu.max": "150000 100000", "memory.max": f"{GB}"}, Allowed(1.5, GB)),
    "2, none": ("0::/a", {"a/cpu.max": "max 100000", "a/memory.max": "max"}, Allowed()),
    "1, its own": (
        "4:memory:/a\n3:cpu,cpuacct:/a",
        {
            "cpu,cpuacct/a/cpu.cfs_quota_us": "150000",
            "cpu,cpuacct/a/cpu.cfs_period_us": "100000",
            "memory/a/memory.limit_in_bytes": f"{GB}",
        },
        Allowed(1.5, GB),
    ),
    "1, its path is not there within a container": (
        "4:memory:/docker/x\n3:cpu:/docker/x",
        {
            "cpu/cpu.cfs_quota_us": "25000",
            "cpu/cpu.cfs_period_us": "50000",
            "memory/memory.limit_in_bytes": f"{GB}",
        },
        Allowed(0.5, GB),
    ),
    "1, none": (
        "4:memory:/\n3:cpu:/",
        {
            "cpu/cpu.cfs_quota_us": "-1",
            "cpu/cpu.cfs_period_us": "100000",
            "memory/memory.limit_in_bytes": "9223372036854771712",
        },
        Allowed(),
    ),
    "nonsense": ("what", {"cpu.max": "much", "memory.max": "-"}, Allowed()),
    "nothing": ("", {}, Allowed()),
}


def tree(folder: Path, own: str, files: dict[str, str]) -> Path:
    said = {"proc/self/cgroup": own, **{f"sys/fs/cgroup/{at}": text for at, text in files.items()}}
    for name, text in said.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{text}\n")
    return folder


@pytest.mark.parametrize("kind", TREES)
def test_the_least_limit_on_the_way_up_counts(kind: str, tmp_path: Path) -> None:
    own, files, found = TREES[kind]
    assert cgroup.allowed(tree(tmp_path, own, files)) == found


def test_a_machine_without_control_groups_has_no_limit(tmp_path: Path) -> None:
    assert cgroup.allowed(tmp_path) == Allowed()


def test_doctor_names_a_limit_that_holds_the_machine_back() -> None:
    split = CoreSplit(client=(1,), server=(0,), cores=2)
    [cores] = doctor.control_group(Allowed(cores=1.5), split, memory_bytes=8 * GB)
    assert (cores.name, cores.fit) == ("control group", False)
    assert cores.state == "this control group may use 1.5 cores"
    assert "raise" in cores.remedy
    [both] = doctor.control_group(Allowed(1.5, GB), split, memory_bytes=8 * GB)
    assert both.state == "this control group may use 1.5 cores and 1.1 GB of memory"
    assert doctor.control_group(Allowed(4.0, 16 * GB), split, memory_bytes=8 * GB) == ()
    assert doctor.control_group(Allowed(), split, memory_bytes=8 * GB) == ()


def test_a_report_names_the_limit() -> None:
    run = made_runs.run([made_runs.case("a")], [], 0)
    environment = replace(
        run.header.environment, memory_bytes=8 * GB, allowed_cores=1.5, allowed_memory_bytes=GB
    )
    limited = replace(run, header=replace(run.header, environment=environment))
    assert "this control group may use 1.5 cores and 1.1 GB of memory" in machine(limited)
    assert "control group" not in machine(run)


def test_a_comparison_tells_that_limits_differ() -> None:
    free = made_runs.run([made_runs.case("a")], [], 0).header.environment
    limited = replace(free, allowed_cores=1.5, allowed_memory_bytes=GB)
    assert environment_differences(free, free) == ()
    assert environment_differences(free, limited) == (
        ("cores allowed", "–", "1.5"),
        ("memory allowed", "–", str(GB)),
    )
