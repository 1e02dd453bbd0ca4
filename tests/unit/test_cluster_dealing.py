"""Which generators of a cluster take part in a load, with how many workers, and on which cores."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import fake_ray
import hello_server
import pytest
from fake_ray import ADDRESS, FakeRay
from msgspec.structs import replace

from assay.cluster import session
from assay.generator import generators_of
from assay.settings import Settings
from assay.values.plan import Closed, LoadPlan, Request, StopAtCount

FIRST, SECOND, THIRD = "127.0.0.1", "127.0.0.2", "127.0.0.3"


@pytest.fixture(scope="module")
def plan() -> Iterator[LoadPlan]:
    """A hundred requests to a server that stands here."""
    with hello_server.standing() as url:
        yield LoadPlan(
            url=url,
            requests=(Request(target="/"),),
            load=Closed(connections=12),
            stop=StopAtCount(count=100),
        )


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeRay]:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    roles = {FIRST: ("generator",), SECOND: ("generator",), THIRD: ("server",)}
    with fake_ray.running(monkeypatch, roles) as running:  # type: ignore[arg-type]  # roles are words here
        yield running


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return dataclasses.replace(Settings.resolve(here=tmp_path, environ={}), server_folders=())


def test_a_load_of_a_run_with_fewer_connections_comes_from_fewer_generators(
    ray: FakeRay, plan: LoadPlan, settings: Settings
) -> None:
    """One of many loads of a study: nobody asked for all generators in each of them."""
    alone = replace(plan, load=Closed(connections=1))
    with session.whereabouts(ADDRESS, None, settings) as (where, _):
        whole = where.generator.planned(alone)
        assert whole.threads == 1
        load = where.generator.start(whole)
        assert load.result().completed == 100
        assert [one.node for one in generators_of(load)] == [FIRST]
