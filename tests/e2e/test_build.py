"""Real builds in temporary folders: made once, never half, never in the tree."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import made_servers
import psutil
import pytest

from assay.core.errors import ServerFailed
from assay.core.settings import Settings
from assay.runner.bench import Silent
from assay.runner.prepare import prepare_all
from assay.servers import Prepared, prepare, read_server, supervised
from assay.servers.manifest import FILE

pytestmark = pytest.mark.beside

BUILD = """
[build]
command = ["sh", "-c", '''{script}''']
inputs = ["server.py", "extra/*", "../contract.toml"]
"""
COUNTING = 'echo built >> "$COUNT"; cp server.py "{out}/made.py"'


def settings(folder: Path) -> Settings:
    return made_servers.settings(folder)


def write(folder: Path, script: str = COUNTING) -> Path:
    home = made_servers.write_server(folder)
    path = home / FILE
    path.write_text(path.read_text().replace("[version]", BUILD.format(script=script) + "[version]"))
    return home


def made(folder: Path, say: Callable[[str], None] = lambda step: None) -> Prepared:
    home = folder / "servers" / "greeting" / "small"
    return prepare(read_server(home, settings(folder)).variant("fair"), settings(folder), 1, say)


@pytest.fixture
def count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many times the build has run."""
    counter = tmp_path / "count"
    monkeypatch.setenv("COUNT", str(counter))
    return lambda: len(counter.read_text().splitlines()) if counter.exists() else 0


def test_a_build_is_made_once_and_outside_the_tree(tmp_path: Path, count: Callable[[], int]) -> None:
    home = write(tmp_path)
    before = sorted(home.rglob("*"))
    first = made(tmp_path)
    assert first.built_s is not None
    assert (first.places.out / "made.py").is_file()
    assert first.places.source == first.places.out / "source"
    assert sorted(path.name for path in first.places.source.iterdir()) == ["server.py"]
    assert first.version == f"Python {sys.version.split()[0]}"
    again = made(tmp_path)
    assert again.built_s is None
    assert again.places == first.places
    assert count() == 1
    assert sorted(home.rglob("*")) == before


def test_what_it_is_made_from_decides(tmp_path: Path, count: Callable[[], int]) -> None:
    home = write(tmp_path)
    made(tmp_path)
    (home / "notes.txt").write_text("no input")
    made(tmp_path)
    assert count() == 1
    (home / "extra").mkdir()
    (home / "extra" / "more.txt").write_text("an input")
    made(tmp_path)
    assert count() == 2
    (home / "server.py").chmod(0o755)
    made(tmp_path)
    assert count() == 3
    (home.parent / "contract.toml").write_text(made_servers.CONTRACT + "\n# changed\n")
    assert "contract.toml" not in [path.name for path in made(tmp_path).places.source.iterdir()]
    assert count() == 4
    (home.parent / "contract.toml").write_text(made_servers.CONTRACT)
    made(tmp_path)
    assert count() == 4  # the build of before is still there


def test_a_build_that_fails_is_tried_again_from_nothing(tmp_path: Path, count: Callable[[], int]) -> None:
    fails_once = 'touch "{out}/half"; test $(wc -l < "$COUNT") -gt 1 || exit 3'
    write(tmp_path, f'echo built >> "$COUNT"; test ! -e "{{out}}/half" || exit 9; {fails_once}')
    with pytest.raises(ServerFailed, match="the build ended with exit code 3"):
        made(tmp_path)
    assert made(tmp_path).built_s is not None
    assert count() == 2


def test_a_damaged_build_is_made_anew(tmp_path: Path, count: Callable[[], int]) -> None:
    home = write(tmp_path)
    path = home / FILE
    path.write_text(path.read_text().replace('"--version"]', '"{out}/made.py"]'))
    (home / "server.py").write_text("print('version 1')")
    first = made(tmp_path)
    (first.places.out / "made.py").unlink()
    assert made(tmp_path).version == "version 1"
    assert count() == 2


def test_a_second_builder_waits_and_finds_it_made(tmp_path: Path, count: Callable[[], int]) -> None:
    waits = 'n=0; while [ ! -e "$COUNT.go" ] && [ $n -lt 2000 ]; do sleep 0.02; n=$((n+1)); done'
    write(tmp_path, f"{COUNTING}; {waits}")
    said: list[str] = []
    results: list[Prepared] = []

    def say(step: str) -> None:
        said.append(step)
        if step == "waiting for another build":
            Path(os.environ["COUNT"] + ".go").touch()

    threads = [
        threading.Thread(target=lambda: results.append(made(tmp_path, say)), daemon=True) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert "waiting for another build" in said
    assert sorted(result.built_s is None for result in results) == [False, True]
    assert count() == 1


def test_variants_that_are_built_apart_keep_no_other_server_waiting(tmp_path: Path) -> None:
    """Their builds wait for each other; here each waits for the other server's as well, and gives up after
    a while."""
    begun = tmp_path / "begun"
    waits = f"for i in $(seq 200); do [ -e {begun} ] && exit 0; sleep 0.1; done; exit 1"
    home = write(tmp_path, waits)
    again = f'[variants.again.build]\ncommand = ["sh", "-c", "{waits}"]\n'
    (home / FILE).write_text((home / FILE).read_text() + again)
    other = made_servers.write_server(tmp_path, name="other")
    (other / FILE).write_text((other / FILE).read_text() + f'[build]\ncommand = ["touch", "{begun}"]\n')
    first, second = (read_server(folder, settings(tmp_path)) for folder in (home, other))
    specs = [first.variant("fair"), first.variant("again"), second.variant("fair")]
    ready = prepare_all(specs, settings(tmp_path), 1, Silent(), jobs=2)
    assert [spec for spec, _ in ready] == specs
    assert [had.built_s is not None for _, had in ready if isinstance(had, Prepared)] == [True] * 3


def test_a_build_that_takes_too_long_is_ended(tmp_path: Path, count: Callable[[], int]) -> None:
    home = write(tmp_path, "sleep 600")
    path = home / FILE
    path.write_text(path.read_text().replace("[build]\n", "[build]\ntimeout_s = 0.3\n"))
    with pytest.raises(ServerFailed, match="the build took longer than 0.3 s; its log is "):
        made(tmp_path)
    assert psutil.Process().children(recursive=True) == []


BUILDER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_build import made
made(Path(sys.argv[1]))
"""


def test_no_build_outlives_a_killed_harness_and_none_is_left_half(
    tmp_path: Path, count: Callable[[], int]
) -> None:
    waits_once = f'{COUNTING}; test $(wc -l < "$COUNT") -gt 1 || sleep 600'
    write(tmp_path, waits_once)
    arguments = [sys.executable, "-c", BUILDER, str(tmp_path), str(Path(__file__).parent)]
    with subprocess.Popen(arguments) as harness:
        deadline = time.monotonic() + 60
        while count() < 1:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        left = psutil.Process(harness.pid).children(recursive=True)
        harness.kill()
    while any(process.is_running() for process in left):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert made(tmp_path).built_s is not None
    assert count() == 2


def test_no_version_no_measurement(tmp_path: Path) -> None:
    home = made_servers.write_server(tmp_path)
    path = home / FILE
    text = path.read_text()
    path.write_text(text.replace('"--version"]', '"-c", ""]'))
    with pytest.raises(ServerFailed, match="names no version: no version, no measurement") as caught:
        made(tmp_path)
    assert caught.value.stage == "version"
    path.write_text(text.replace('"--version"]', '"-c", "exit(5)"]'))
    with pytest.raises(ServerFailed, match="ended with exit code 5"):
        made(tmp_path)


@pytest.mark.parametrize("end", ["exit 3", f"{COUNTING}; exit 0"])
def test_what_a_build_leaves_in_its_temporary_folder_goes_with_it(
    tmp_path: Path, count: Callable[[], int], end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Go does, whose folder `go-build…` stays where it is broken off."""
    told = tmp_path / "told"
    monkeypatch.setenv("TOLD", str(told))
    write(tmp_path, f'mkdir "$TMPDIR/go-build1" && echo "$TMPDIR" > "$TOLD"; {end}')
    with contextlib.suppress(ServerFailed):
        made(tmp_path)
    temporary = Path(told.read_text().strip())
    assert temporary.is_relative_to(supervised.mark())
    assert not temporary.exists()
