"""The servers of the other contracts, held to the same by another worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from serving import ALL, Serving, serving
from test_servers import *  # noqa: F403
from test_servers import FIRST

OTHERS = [server for server in ALL if server not in FIRST]


@pytest.fixture(scope="module", params=OTHERS, ids=lambda server: server.id)  # type: ignore[no-redef]  # as meant
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(request.param, "fair", tmp_path_factory.mktemp("fair")) as made:
        yield made
