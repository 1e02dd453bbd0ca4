"""The verbs that look at the machine, list what there is, and write a study to start from."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

from assay.cli.main import main

SERVER = """
format = 1
title = "Needs what nobody has"
language = "none"
framework = "none"
[[requires]]
command = "no-such-program-anywhere"
missing = "no-such-program not found: make it yourself"
[version]
command = ["true"]
[run]
command = ["true"]
"""


def assay(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What a verb says in the folder, within this process: to start one takes longer than each of them."""
    out, err = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        code = main(words)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def test_init_writes_a_study_that_the_lists_and_the_doctor_know(tmp_path: Path) -> None:
    made = assay("init", "shop", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    written = [tmp_path / line for line in made.stdout.split()]
    assert tmp_path / "studies" / "shop.toml" in written
    assert all(path.is_file() for path in written)
    assert "shop/example" in assay("servers", folder=tmp_path).stdout
    assert "shop" in assay("studies", folder=tmp_path).stdout.split()
    looked = assay("doctor", "shop", folder=tmp_path)
    assert "shop/example" in looked.stdout
    assert "open files" in looked.stdout


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    assay("init", "shop", folder=tmp_path)
    study = tmp_path / "studies" / "shop.toml"
    study.write_text("mine")
    again = assay("init", "shop", folder=tmp_path)
    assert again.returncode == 2
    assert "there already" in again.stderr
    assert study.read_text() == "mine"


def test_setup_names_what_is_missing_and_goes_on(tmp_path: Path) -> None:
    assay("init", "shop", folder=tmp_path)
    manifest = tmp_path / "servers" / "shop" / "needy" / "server.toml"
    manifest.parent.mkdir()
    manifest.write_text(SERVER)
    done = assay("setup", "shop/needy", "shop/example", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "no-such-program not found: make it yourself" in done.stderr
    assert "ready: 1 of 2 servers, 1 lacks something here" in done.stderr


def test_setup_of_a_study_makes_ready_what_its_profile_uses(tmp_path: Path) -> None:
    assay("init", "shop", folder=tmp_path)
    manifest = tmp_path / "servers" / "shop" / "needy" / "server.toml"
    manifest.parent.mkdir()
    manifest.write_text(SERVER + "[variants.fair]\n[variants.published]\n")
    study = tmp_path / "studies" / "shop.toml"
    entry = '[[servers]]\nserver = "shop/needy"\nprofiles = ["published"]\n'
    load = "[profiles.published]\nloads = [{ connections = 1, requests = 1 }]\n"
    study.write_text(study.read_text().replace("[[workloads]]", f"{entry}[[workloads]]") + load)
    assert "shop/needy" not in assay("setup", "shop", "--yes", folder=tmp_path).stderr
    both = assay("setup", "shop", "--profile", "both", "--yes", folder=tmp_path)
    assert "shop/needy (published): no-such-program not found: make it yourself" in both.stderr


def test_setup_builds_servers_before_the_engine_is_there(tmp_path: Path) -> None:
    assay("init", "shop", folder=tmp_path)
    manifest = tmp_path / "servers" / "shop" / "built" / "server.toml"
    manifest.parent.mkdir()
    needs_nothing = SERVER.replace("no-such-program-anywhere", "true").replace('["true"]', '["echo", "1"]', 1)
    manifest.write_text(needs_nothing + '[build]\ncommand = ["true"]\n')
    program = "import sys; sys.modules['assay._engine'] = None\n"
    program += "from assay.cli.main import main; raise SystemExit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", program, "setup", "shop/built", "shop/null", "--yes"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert "shop/built: ready" in done.stderr, done.stderr
    assert "ready: 1 of 1 server" in done.stderr


def test_setup_of_nothing_says_what_there_is(tmp_path: Path) -> None:
    done = assay("setup", folder=tmp_path)
    assert done.returncode == 2
    assert "franklin" in done.stderr
