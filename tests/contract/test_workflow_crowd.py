"""More clients than the workflow executor has places: by its setting they wait, or are turned away."""

from __future__ import annotations

from pathlib import Path

import pytest
from serving import ALL, load_plan, serving

from assay import engine
from assay.values.measurement import Measurement
from assay.values.plan import Closed, StopAtCount

pytestmark = [pytest.mark.contract, pytest.mark.timeout(900)]

[QUARKUS] = [server for server in ALL if server.id == "workflow/quarkus"]


def crowd(variant: str, folder: Path) -> Measurement:
    """Two hundred clients at an executor with forty places; the contract has every answer looked at."""
    with serving(QUARKUS, variant, folder) as served:
        requests = (served.contract.request(served.routes[0]),)
        return engine.start(
            load_plan(served, requests, Closed(connections=200), StopAtCount(count=1_000))
        ).result()


def test_a_crowd_waits_at_the_door(tmp_path: Path) -> None:
    measured = crowd("fair", tmp_path)
    assert measured.outcomes == ()
    assert measured.checked == 1_000


def test_with_more_workers_than_places_a_crowd_is_turned_away(tmp_path: Path) -> None:
    [refused] = crowd("crowded", tmp_path).outcomes
    assert refused.kind == "unexpected_body"
    assert refused.count > 100
