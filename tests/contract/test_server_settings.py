"""Every server in each of its settings, but for the fair profile, in which `test_servers.py` looks closer."""

from __future__ import annotations

import pytest
from serving import ALL, serving, variants

from assay.sut import Server, probe
from assay.sut.server import HOST

pytestmark = [pytest.mark.contract, pytest.mark.timeout(900)]

OTHERS = [(server, variant) for server in ALL for variant in variants(server) if variant != "fair"]


@pytest.mark.parametrize(
    ("server", "variant"), OTHERS, ids=[f"{server.id}-{variant}" for server, variant in OTHERS]
)
def test_it_keeps_its_contract_in_each_of_its_settings(
    server: Server, variant: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with serving(server, variant, tmp_path_factory.mktemp("variant")) as made:
        _, problems = probe.test(made.contract, made.routes, HOST, made.running.port)
        assert problems == ()
