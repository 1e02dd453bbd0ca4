"""What a server needs, looked up in made folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.servers.manifest import Requirement
from assay.servers.requires import check, debian_packages, find_jdk


def tool(folder: Path, name: str, prints: str, code: int = 0) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\nprintf '%s' '{prints}'\nexit {code}\n")
    path.chmod(0o755)
    return path


def jdk(folder: Path, name: str, version: str) -> Path:
    home = folder / name
    tool_folder = home / "bin"
    tool_folder.mkdir(parents=True)
    tool(tool_folder, "javac", "")
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.mark.parametrize(
    ("prints", "at_least", "version", "problem"),
    [
        ("thing version 1.22.3 (x86)", "1.22", "1.22.3", ""),
        ("thing 1.9", "1.10", "1.9", "thing 1.9 is too old: 1.10 or later is needed"),
        ("a note\nthing 3.1", "3.0", "3.1", ""),
        ("v20", "18", "20", ""),
    ],
)
def test_versions_are_compared_number_by_number(
    tmp_path: Path, prints: str, at_least: str, version: str, problem: str
) -> None:
    path = tool(tmp_path / "bin", "thing", prints)
    asked = Requirement(command="thing", version=(str(path),), at_least=at_least)
    seen = check(asked, {"PATH": str(tmp_path / "bin")})
    assert (seen.version, seen.problem) == (version, problem)


def test_what_is_missing_names_its_package(tmp_path: Path) -> None:
    asked = Requirement(command="no-such", debian="some-package")
    seen = check(asked, {"PATH": str(tmp_path)})
    assert seen.sentence == "no-such not found: install it with: apt-get install some-package"
    assert debian_packages([seen, seen]) == ("some-package",)
    assert not seen.fulfilled
    file = Requirement(file=str(tmp_path / "none"), debian="other")
    assert check(file).sentence.endswith("none not found: install it with: apt-get install other")
    own = Requirement(env="SOME_HOME", missing="download it and set SOME_HOME")
    assert check(own, {}).sentence == "download it and set SOME_HOME"


def test_a_version_command_that_fails_means_missing(tmp_path: Path) -> None:
    path = tool(tmp_path / "bin", "ruby", "cannot load such file 1.0", code=1)
    asked = Requirement(label="gem", command="ruby", version=(str(path),), debian="ruby-gem")
    seen = check(asked, {"PATH": str(tmp_path / "bin")})
    assert seen.problem.startswith("gem not found: ")
    assert seen.install == "apt-get install ruby-gem"


def test_a_version_without_a_number_is_told(tmp_path: Path) -> None:
    path = tool(tmp_path / "bin", "thing", "no number here")
    asked = Requirement(command="thing", version=(str(path),), at_least="1.0")
    assert "names no version: no number here" in check(asked, {"PATH": str(tmp_path / "bin")}).problem


def test_a_command_is_found_beside_the_path_the_newest_folder_first(tmp_path: Path) -> None:
    for version in ("13", "15"):
        (tmp_path / version).mkdir()
        tool(tmp_path / version / "bin", "postgres", f"postgres {version}.1")
    asked = Requirement(command="postgres", folders=(f"{tmp_path}/*/bin",), version=("postgres",))
    seen = check(asked, {"PATH": str(tmp_path / "empty")})
    assert seen.version == "15.1"
    assert seen.path == tmp_path / "15" / "bin" / "postgres"


def test_a_variable_names_something_that_exists(tmp_path: Path) -> None:
    asked = Requirement(env="THING")
    assert check(asked, {"THING": str(tmp_path)}).path == tmp_path
    assert "which does not exist" in check(asked, {"THING": str(tmp_path / "none")}).problem
    assert check(asked, {}).problem == "THING is not set"


def test_the_jdk_of_java_home_comes_first_if_it_does(tmp_path: Path) -> None:
    old, new = jdk(tmp_path, "old", "1.8.0_292"), jdk(tmp_path, "new", "21.0.2")
    assert find_jdk(8, {"JAVA_HOME": str(old), "PATH": ""}) == old
    path = {"JAVA_HOME": str(old), "PATH": str(new / "bin")}
    assert find_jdk(17, path) == new
    assert find_jdk(99, path) is None
    seen = check(Requirement(jdk=99), path)
    assert (
        seen.sentence == "no JDK 99 or later found: install it with: apt-get install openjdk-99-jdk-headless"
    )
