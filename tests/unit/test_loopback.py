"""The loopback's ceiling is measured, on the cores that the run has."""

from __future__ import annotations

import os
import threading

import pytest

from assay.servers.cores import CoreSplit, split_cores
from assay.servers.host import loopback_bytes_per_s


@pytest.mark.parametrize("split", [split_cores(), CoreSplit((), (), 1)])
def test_bytes_go_through_and_nothing_is_left(split: CoreSplit) -> None:
    before = os.sched_getaffinity(0)
    threads = threading.active_count()
    carried = loopback_bytes_per_s(split)
    assert carried is not None and carried > 1e6
    assert os.sched_getaffinity(0) == before
    assert threading.active_count() == threads
