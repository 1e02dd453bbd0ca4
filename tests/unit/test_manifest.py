"""Server manifests and their variants."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.core.errors import InputError
from assay.core.settings import Settings
from assay.servers import find_server, list_servers, read_server
from assay.servers.manifest import Placeholders, Server

MANIFEST = """
format = 1
title = "One"
language = "C"
framework = "none"
routes = ["extra"]
[[requires]]
command = "cc"
version = ["cc", "--version"]
at_least = "10"
debian = "gcc"
[build]
command = ["cc", "-o", "{out}/server", "server.c"]
[version]
command = ["{out}/server", "--version"]
[run]
command = ["{out}/server", "--port", "{port}"]
env = { WORKERS = "{cores}", MODE = "plain" }
services = ["postgres"]
[facts]
workers = "{cores}"
pool = 5
[variants.fair]
[variants.published]
args = ["--debug"]
env = { MODE = "debug" }
facts = { pool = 3, debug = true }
[variants.other]
command = ["{out}/other"]
requires = [{ env = "OTHER_HOME", missing = "set OTHER_HOME" }]
build = { command = ["make", "other"] }
ready_timeout_s = 90
"""


def settings(tmp_path: Path) -> Settings:
    return replace(Settings.resolve(here=tmp_path, environ={}), server_folders=(tmp_path / "servers",))


def write(tmp_path: Path, text: str = MANIFEST, name: str = "one") -> Path:
    folder = tmp_path / "servers" / "c" / name
    folder.mkdir(parents=True)
    (folder / "server.toml").write_text(text)
    (folder.parent / "contract.toml").touch()
    return folder


def server(tmp_path: Path, text: str = MANIFEST) -> Server:
    return read_server(write(tmp_path, text), settings(tmp_path))


def test_a_variant_is_laid_over_the_manifest(tmp_path: Path) -> None:
    spec = server(tmp_path).variant("published")
    assert spec.id == "c/one"
    assert spec.command == ("{out}/server", "--port", "{port}", "--debug")
    assert spec.env == {"WORKERS": "{cores}", "MODE": "debug"}
    assert spec.facts == {"workers": "{cores}", "pool": 3, "debug": True}
    assert spec.services == ("postgres",)
    assert spec.ready_timeout_s == 30
    assert [one.name for one in spec.requires] == ["cc"]


def test_a_variant_may_replace_build_and_command_and_ask_for_more(tmp_path: Path) -> None:
    spec = server(tmp_path).variant("other")
    assert spec.command == ("{out}/other",)
    assert spec.build is not None
    assert spec.build.command == ("make", "other")
    assert [one.name for one in spec.requires] == ["cc", "OTHER_HOME"]
    assert spec.ready_timeout_s == 90


def test_the_profiles_variants_are_always_there_and_others_are_not(tmp_path: Path) -> None:
    plain = MANIFEST.partition("[variants.fair]")[0]
    made = server(tmp_path, plain)
    assert made.variant("fair").env == made.variant("published").env
    with pytest.raises(InputError, match="server c/one has no variant 'pubilshed'"):
        made.variant("pubilshed")


def test_an_unknown_variant_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'other'"):
        server(tmp_path).variant("othre")


def test_placeholders_are_filled_in_and_other_braces_left(tmp_path: Path) -> None:
    places = Placeholders(
        out=tmp_path / "out", source=tmp_path, root=Path("/r"), contract=Path("/c"), cores=2, port=81
    )
    assert places.fill("{out}/x {port} {host}") == f"{tmp_path}/out/x 81 127.0.0.1"
    assert places.fill("#{Sinatra::VERSION} {unknown} {}") == "#{Sinatra::VERSION} {unknown} {}"
    assert places.fill_facts({"workers": "{cores}", "pool": "5", "jit": "c1", "log": False}) == {
        "workers": 2,
        "pool": 5,
        "jit": "c1",
        "log": False,
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('command = "cc"\n', "", "requires[0]: give exactly one of command, file, env and jdk"),
        ('version = ["cc", "--version"]\n', "", "requires[0]: at_least needs version"),
        (
            "[variants.fair]",
            "[variants.fair]\nenviron = {}",
            "variants.fair.environ: unknown key; did you mean 'env'?",
        ),
        ("services = ", "servics = ", "run.servics: unknown key; did you mean 'services'?"),
        ('title = "One"\n', "", "the key 'title' is missing"),
        ("pool = 5", "pool = [5]", "facts.pool: expected true or false or a whole number or"),
    ],
)
def test_a_wrong_manifest_is_told_with_line_and_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in MANIFEST
    folder = write(tmp_path, MANIFEST.replace(old, new))
    with pytest.raises(InputError) as caught:
        read_server(folder, settings(tmp_path))
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(folder / "server.toml"))


def test_servers_are_found_by_name_the_users_own_folder_first(tmp_path: Path) -> None:
    write(tmp_path)
    own = tmp_path / "own"
    write(own, MANIFEST.replace('"One"', '"Mine"'))
    write(own, name="two")
    both = replace(settings(tmp_path), server_folders=(own / "servers", tmp_path / "servers"))
    assert find_server("c/one", both).manifest.title == "Mine"
    assert [one.id for one in list_servers(both)] == ["c/one", "c/two"]
    with pytest.raises(InputError, match=r"no server 'c/tow' .*; did you mean 'c/two'\?"):
        find_server("c/tow", both)


def test_an_own_server_uses_the_contract_of_another_folder(tmp_path: Path) -> None:
    write(tmp_path)
    own = tmp_path / "own" / "servers" / "c" / "mine"
    own.mkdir(parents=True)
    (own / "server.toml").write_text(MANIFEST)
    both = replace(settings(tmp_path), server_folders=(own.parents[1], tmp_path / "servers"))
    assert find_server("c/mine", both).contract_folder == tmp_path / "servers" / "c"
    (tmp_path / "servers" / "c" / "contract.toml").unlink()
    with pytest.raises(InputError, match="there is no contract 'c'"):
        find_server("c/mine", both)
