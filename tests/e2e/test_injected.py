"""For every rule a real run in which just that flaw is injected, and found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import planting
import pytest
from _pytest.mark.structures import ParameterSet
from planting import Injected, plants, table
from planting.far import EMULATED

from assay.servers.emulation import lacking
from assay.verdict import RULES

CAUGHT = dict.fromkeys(plants.BESIDE, "asked beside others")
"""By flaw; some are not asked for where the others are."""
SHORT_CLEAN = replace(plants.CLEAN, blocks=3, load="connections = 8\nmeasure_s = 0.8")


def marked(plant: Injected) -> ParameterSet:
    return pytest.param(
        plant, id=plant.name, marks=[pytest.mark.beside] if plant.name in plants.BESIDE else []
    )


@pytest.mark.parametrize("plant", [marked(plant) for plant in plants.EVERY])
def test_the_flaw_is_found(plant: Injected, tmp_path: Path) -> None:
    if plant in EMULATED and (lacks := lacking()):
        pytest.skip(str(lacks))
    judgement = planting.run(plant, tmp_path)
    CAUGHT[plant.name] = planting.outcome(plant, judgement)
    if CAUGHT[plant.name].startswith("hidden"):
        pytest.skip(f"{plant.flaw}: a busy machine hides it")
    found = {one.code: (one.severity, one.evidence) for one in judgement.findings}
    assert CAUGHT[plant.name] != "missed", found


@pytest.mark.parametrize("interleaved", [False, True], ids=["one after the other", "interleaved"])
def test_nothing_but_noise_is_found_in_a_clean_run(interleaved: bool, tmp_path: Path) -> None:
    judgement = planting.run(replace(SHORT_CLEAN, interleaved=interleaved), tmp_path)
    grave = {one.code: one.evidence for one in judgement.findings if one.severity != "note"}
    assert {code: why for code, why in grave.items() if code not in plants.NOISE} == {}
    assert all(row.throughput is not None for row in judgement.ranking)


def test_every_rule_is_injected_or_it_is_said_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = sorted([*plants.ON_A_CLUSTER, *plants.IMPOSSIBLE], key=list(RULES).index)
    assert {plant.name for plant in plants.EVERY} >= plants.BESIDE
    assert [plant.code for plant in plants.ALL] + elsewhere == sorted(
        RULES, key=lambda code: (code in elsewhere, list(RULES).index(code))
    )
    with capsys.disabled():
        print("\n" + table(CAUGHT, lambda code: ""))  # noqa: T201 - the table is what this test is for
