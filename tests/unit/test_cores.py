"""Who gets which cores."""

from __future__ import annotations

import os

import pytest

from assay.servers.cores import split, split_cores


@pytest.mark.parametrize(
    ("physical", "server", "client"),
    [
        ([(0,)], (0,), (0,)),
        ([(0,), (1,)], (0,), (1,)),
        ([(0,), (1,), (2,)], (0, 1), (2,)),
        ([(0,), (1,), (2,), (3,)], (0, 1), (2, 3)),
        ([(0, 4), (1, 5), (2, 6), (3, 7)], (0, 1, 4, 5), (2, 3, 6, 7)),
        ([(0, 1)], (0,), (1,)),
        ([(2,), (5,)], (2,), (5,)),
    ],
)
def test_the_split(physical: list[tuple[int, ...]], server: tuple[int, ...], client: tuple[int, ...]) -> None:
    made = split(physical)
    assert (made.server, made.client) == (server, client)
    assert made.server_cores == len(server)


def test_this_machine_is_split_within_what_this_process_may_use() -> None:
    made = split_cores()
    usable = os.sched_getaffinity(0)
    assert set(made.client) | set(made.server) == usable
    assert len(usable) == 1 or not set(made.client) & set(made.server)
