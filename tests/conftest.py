"""What all tests share."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

# How long an example takes says how busy the machine is.
settings.register_profile("untimed", deadline=None)
# For `make test`: a commit gets the same examples each time, and so one answer. Other runs roll new ones.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("untimed")

# A suite started in the background of a shell inherits an ignored Ctrl-C, and so would every program
# that the tests interrupt: they would wait for its end in vain.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Every worker reads every test, and to rewrite one for its assertions takes longer than to run many of them:
# what is made of tests is kept, although no script writes byte code (scripts/common.sh).
sys.dont_write_bytecode = False

# What Assay keeps of its user is not touched by tests, and the other way round.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="state-of-tests-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)

# Tests write servers and studies of their own, which nobody would be there to say yes to.
os.environ["ASSAY_TRUST"] = "1"

# No test may load a machine of others, whatever the shell that started it allows.
os.environ.pop("ASSAY_YES", None)

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter
    from three_hosts import Cluster

EXPECTED = Path(__file__).parent / "golden" / "expected"
LONGEST = ("test_servers_others.py", "test_servers.py", "test_server_settings.py", "test_studies.py")
"""Files that start servers, for minutes: they begin first, so that no worker ends long after the others."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Only end-to-end tests may need the machine to themselves: they say where they do not.

    scripts/test.sh looks for both kinds that it tells apart where they are alone, as collecting takes long.
    """
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))
    for item in items:
        if "e2e" in item.path.parts:
            continue
        item.add_marker(pytest.mark.beside)
        if "contract" not in item.path.parts and item.get_closest_marker("contract"):
            raise pytest.UsageError(f"{item.nodeid}: what starts servers of ours is below contract or e2e")


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """What failed goes to the end of `make test` (scripts/test.sh): its groups print their own far above."""
    path = os.environ.get("ASSAY_FAILURES")
    if path and "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(path).open("a", encoding="utf-8") as file:
            for report in (one for kind in ("failed", "error") for one in terminalreporter.getreports(kind)):
                crash = getattr(report.longrepr, "reprcrash", None)
                reason = crash.message.splitlines()[0][:300] if crash and crash.message else "see above"
                file.write(f"{report.nodeid}: {reason}\n")


@pytest.fixture(autouse=True)
def own_secrets() -> Iterator[None]:
    """What a test says is a secret is none in the output of the next one in this process."""
    from assay.core import vault

    before = dict(vault._held)
    yield
    vault._held.clear()
    vault._held.update(before)


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare text with the file of that name; `ASSAY_GOLDEN=write pytest FILE` writes them anew."""

    def compare(name: str, text: str) -> None:
        path = EXPECTED / name
        if os.environ.get("ASSAY_GOLDEN") == "write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    """Three hosts and a Ray cluster on them: one for all files that follow one another and ask for it."""
    import three_hosts

    return three_hosts.SHARED.cluster()


@pytest.fixture(scope="module")
def url(cluster: Cluster) -> str:
    """A null server on the third of these hosts."""
    return cluster.url


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """The cluster ends behind its last file: other tests have the machine to themselves."""
    same = nextitem is not None and nextitem.path == item.path
    if not same and "cluster" not in getattr(nextitem, "fixturenames", ()) and "three_hosts" in sys.modules:
        sys.modules["three_hosts"].SHARED.end()
