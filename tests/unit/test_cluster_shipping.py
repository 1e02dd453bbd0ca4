"""Sources on their way to a node: what goes, what stays, and the paths that move with them."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import pytest

from assay.cluster import shipping
from assay.model.plan import Closed, LoadPlan, Request, StopAtCount


def written(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return folder


def arrived(folder: Path, at: Path) -> set[str]:
    """What of the folder is there once it was sent."""
    shipping.unpack(shipping.packed([folder]).content, at)
    return {str(path.relative_to(at / "0")) for path in at.rglob("*") if path.is_file()}


def test_what_tools_leave_stays_where_no_git_can_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    folder = written(tmp_path / "one", "a/main.go", "a/target/server", "a/bin/tool", "b/node_modules/x/y.js")
    assert arrived(folder, tmp_path / "there") == {"a/main.go"}


def test_where_git_is_there_it_says_what_is_no_source(tmp_path: Path) -> None:
    """A program of one's own may well lie in a folder that is named as a tool would name it."""
    folder = written(tmp_path / "one", "a/bin/start", "a/target/server", "new.py", "kept/vendor/lib.c")
    (folder / ".gitignore").write_text("target/\n")
    for words in (["init", "-q"], ["add", "a/bin/start", "kept"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)
    assert arrived(folder, tmp_path / "there") == {"a/bin/start", "kept/vendor/lib.c", "new.py", ".gitignore"}


def test_the_same_content_has_the_same_digest_and_keeps_its_modes(tmp_path: Path) -> None:
    one, other = (written(tmp_path / name, "run.sh") for name in ("one", "other"))
    for folder in (one, other):
        (folder / "run.sh").chmod(0o755)
    os.utime(other / "run.sh", (1, 1))
    assert shipping.packed([one]).digest == shipping.packed([other]).digest
    arrived(one, tmp_path / "there")
    assert (tmp_path / "there/0/run.sh").stat().st_mode & 0o777 == 0o755
    (other / "run.sh").chmod(0o644)
    assert shipping.packed([one]).digest != shipping.packed([other]).digest


def test_a_folder_that_is_not_there_has_no_number(tmp_path: Path) -> None:
    there = written(tmp_path / "there", "x")
    assert shipping.packed([tmp_path / "nowhere", there]).folders == (there,)


def test_a_node_keeps_what_comes_from_the_same_folders_in_one_place(tmp_path: Path) -> None:
    """At another path each of its servers would be built anew, whichever of them has changed."""
    folder, place = written(tmp_path / "one", "a/main.go", "b/main.go"), tmp_path / "there"
    before = shipping.packed([folder])
    shipping.renew(before.content, before.digest, place)
    (place / "0/a/main.go").write_text("as it came, and kept while it is whole")
    shipping.renew(before.content, before.digest, place)
    assert (place / "0/a/main.go").read_text() != "a/main.go"
    (folder / "b/main.go").unlink()
    after = shipping.packed([folder])
    assert shipping.place_of(after.folders, "10.0.0.1") == shipping.place_of(before.folders, "10.0.0.1")
    assert shipping.place_of(after.folders, "10.0.0.1") != shipping.place_of(after.folders, "10.0.0.2")
    shipping.renew(after.content, after.digest, place)
    assert [path.name for path in sorted((place / "0").iterdir())] == ["a"]
    assert (place / "0/a/main.go").read_text() == "a/main.go"


def test_what_came_only_in_part_comes_again(tmp_path: Path) -> None:
    folder, place = written(tmp_path / "one", "a/main.go"), tmp_path / "there"
    written(place, "0/a/half")  # a disk was full, say
    parcel = shipping.packed([folder])
    shipping.renew(parcel.content, parcel.digest, place)
    assert [path.name for path in (place / "0/a").iterdir()] == ["main.go"]


@dataclasses.dataclass(frozen=True)
class Held:
    folder: Path
    beside: dict[str, tuple[Path, ...]]
    plan: LoadPlan


def test_paths_move_with_what_they_name_wherever_they_are() -> None:
    load, stop = Closed(connections=1), StopAtCount(count=1)
    plan = LoadPlan(url="http://127.0.0.1/", requests=(Request(target="/here"),), load=load, stop=stop)
    moved = shipping.moved(
        Held(Path("/here/a"), {"x": (Path("/here"), Path("/else"))}, plan),
        [(Path("/here"), Path("/there/0"))],
    )
    assert moved == Held(Path("/there/0/a"), {"x": (Path("/there/0"), Path("/else"))}, plan)
