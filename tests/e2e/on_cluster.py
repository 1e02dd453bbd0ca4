"""Assay on a cluster of network namespaces, as the tests of it run it. Not a test itself."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import made_studies
from three_hosts import BIN, Cluster, Host

ASSAY = str(BIN / "assay")
T = TypeVar("T")


def assay(cluster: Cluster, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run Assay on the first host."""
    head = cluster.hosts[0]
    changed = {name: value for name, value in (head.env | env).items() if value}
    return subprocess.run(
        head.command(ASSAY, *words), env=changed, capture_output=True, text=True, timeout=120, check=False
    )


def load(cluster: Cluster, url: str, *words: str) -> dict[str, Any]:
    """The JSON of a load from its generators."""
    done = assay(cluster, "load", url, "--ray", cluster.address, "--json", "-q", *words)
    assert done.returncode in (0, 1), done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def going(cluster: Cluster, url: str, *more: str) -> subprocess.Popen[str]:
    """A load that goes on from both generators."""
    words = ["load", url, "--ray", cluster.address, "--rate", "211", "-d", "60s", "--json", "-q", *more]
    begun = cluster.hosts[0].popen(ASSAY, *words)
    until(lambda: all(host.processes("GeneratorAgent.finish") for host in cluster.hosts[:2]))
    return begun


def until(condition: Callable[[], T], within_s: float = 40) -> T:
    """Wait for it; what it then was. Ray names a process after what it was asked last: a moment later that
    may be something else."""
    deadline = time.monotonic() + within_s
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def interleaved(host: Host) -> list[int]:
    """Its generators in mid-block, whatever they were asked last there."""
    asked = ("start_slices", "finish_slices", "look_at_slices", "change")
    return sorted({pid for word in asked for pid in host.processes(f"GeneratorAgent.{word}")})


def agents(cluster: Cluster) -> list[int]:
    """Every process of Assay's on a node."""
    kinds = ("GeneratorAgent", "ServerAgent", "NodeAgent")
    return [pid for host in cluster.hosts for kind in kinds for pid in host.processes(f"ray::{kind}")]


def small_study(
    tmp_path: Path, modes: list[str], *, blocks: int, measure_s: float, interleaved: bool = False
) -> dict[str, str]:
    """A study of small servers, and the environment in which Assay finds it and keeps its record."""
    made_studies.write(tmp_path, modes, blocks=blocks, measure_s=measure_s, interleaved=interleaved)
    return {
        "ASSAY_STUDIES": str(tmp_path / "studies"),
        "ASSAY_SERVERS": str(tmp_path / "servers"),
        "ASSAY_RESULTS": str(tmp_path / "results"),
        "ASSAY_TRUST": "1",
    }


def studied(cluster: Cluster, env: dict[str, str], *more: str) -> subprocess.Popen[str]:
    """A run of the small study that goes on."""
    head = cluster.hosts[0]
    return subprocess.Popen(
        head.command(ASSAY, "run", "small", "--ray", cluster.address, "--no-control", *more),
        env=head.env | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def drivers(cluster: Cluster, word: str) -> list[int]:
    """The processes of Assay on the first host with this word on their command line."""
    head = cluster.hosts[0]
    return sorted(set(head.processes(word)) & set(head.processes(ASSAY)))


def findings_of(result: dict[str, Any]) -> dict[str, str]:
    """Their evidence, by rule."""
    return {one["code"]: one["evidence"] for one in result["findings"]}
