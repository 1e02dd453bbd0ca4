"""Each bottleneck is staged for real, by servers, neighbours, limits and a database, and has to be named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from planting.bottlenecks import STAGED, named

from assay.servers.emulation import lacking

SHORT = frozenset(
    [
        "a server that computes, 16 connections",
        "a client that searches each answer",
        "a program on the server's core",
        "a slow database",
        "few connections served",
    ]
)
"""One of a kind; the others are left to long runs, and counted by `make bench ARGS="--only bottleneck"`."""


@pytest.mark.parametrize("stage", STAGED)
def test_who_was_made_the_bottleneck_is_named(stage: str, tmp_path: Path) -> None:
    who, plant = STAGED[stage]
    if stage not in SHORT and not os.environ.get("ASSAY_LONG"):
        pytest.skip("ASSAY_LONG=1 stages all")
    if "emulation" in plant.load and (lacks := lacking()):
        pytest.skip(str(lacks))
    found = {one.who: one.words for one in named(plant, tmp_path)}
    if set(found) == {"others"} and who != "others":
        pytest.skip(f"a busy machine hides it: {found}")
    assert set(found) == {who}, found


def test_stages_are_of_every_kind() -> None:
    assert {who for who, _ in STAGED.values()} >= {
        *("server", "generator", "others", "link", "limit", "waiting")
    }
    assert set(STAGED) >= SHORT
