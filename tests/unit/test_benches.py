"""What the benchmarks of `make bench` ask of their contenders, and what they say where one cannot be had."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
BENCHES = ROOT / "benches"
ANSWERED = {
    "measurement": {"failed": 0, "completed": 1_000, "measured_ns": 10**9, "workers": [{"cpu_ns": 1}]}
}
H2LOAD = "finished in 1.00s, 0.00 req/s\nrequests: 1000 total, 1000 started, {} succeeded, {} failed\n"

Bench = Callable[[str], ModuleType]


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Imports one of the benchmarks' modules, none of which outlives the test."""
    before = set(sys.modules)
    sys.path.insert(0, str(BENCHES))
    try:
        yield importlib.import_module
    finally:
        sys.path.remove(str(BENCHES))
        for name in set(sys.modules) - before:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(BENCHES)):
                del sys.modules[name]


class Ran:
    """Stands in for `programs.run`: notes the commands, and answers as each of these programs would."""

    def __init__(self, bench: Bench, monkeypatch: pytest.MonkeyPatch, **said: str) -> None:
        self.commands: list[list[str]] = []
        counted = "1000 1000000000\n"
        self.said = {"assay": json.dumps(ANSWERED), "floor": counted, "floor over TLS": counted, **said}
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
        for module in ("contenders", "http2", "http3"):
            monkeypatch.setattr(bench(module), "run", self.run)
        monkeypatch.setattr(bench("contenders"), "need_assay", lambda: "assay")
        for module in ("http2", "http3"):
            monkeypatch.setattr(bench(module), "need", lambda command, package: command)
        monkeypatch.setattr(
            bench("http2"), "bare_client", lambda source, *, tls: Path("floor over TLS" if tls else "floor")
        )
        monkeypatch.setattr(bench("http3"), "bare_http3", lambda: Path("floor"))

    def run(self, command: Sequence[str], core: int) -> SimpleNamespace:
        self.commands.append(list(command))
        return SimpleNamespace(stdout=self.said[command[0]], stderr="", code=0, cpu_s=0.5)

    def words(self, program: str) -> list[str]:
        return next(command for command in self.commands if command[0] == program)


def outcome(bench: Bench, name: str, *, scheme: str) -> SimpleNamespace:
    """What a comparison of one round finds against a server that nobody asks."""
    module, programs = bench(name.split("-")[0]), bench("programs")
    comparison = next(each for each in module.COMPARISONS if each.name == name)
    served = contextlib.nullcontext(programs.Server(8443, scheme))
    effort = bench("model").Effort(rounds=1, share=0.001)
    found: SimpleNamespace = replace(comparison, serve=lambda core: served).run(effort)
    return found


@pytest.mark.parametrize(
    ("name", "scheme", "asks", "stands_on"),
    [
        ("http2-8x10", "http", "--http2", "floor"),
        ("http2-tls-8x10", "https", "--http2", "floor over TLS"),
        ("http2-h2o-8x10", "https", "--http2", "floor over TLS"),
        ("http3-8x10", "https", "--http3", "floor"),
    ],
)
def test_all_contenders_are_asked_for_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, name: str, scheme: str, asks: str, stands_on: str
) -> None:
    ran = Ran(bench, monkeypatch, h2load=H2LOAD.format(1000, 0))
    found = outcome(bench, name, scheme=scheme)
    assert found.missing == () and {row.contender for row in found.rows} == {"assay", "floor", "h2load"}
    ours, floor, theirs = (ran.words(program) for program in ("assay", stands_on, "h2load"))
    count = ours[ours.index("--count") + 1]
    assert floor[1:] == ["8443", "/", "8", "10", count]
    assert [theirs[theirs.index(flag) + 1] for flag in ("-n", "-c", "-m")] == [count, "8", "10"]
    assert asks in ours and ours[ours.index("--streams") + 1] == "10"
    assert ("--insecure" in ours) == (scheme == "https")
    assert ("--npn-list=h3" in theirs) == (asks == "--http3")


@pytest.mark.parametrize(
    ("name", "scheme", "of_h2load"),
    [("http2-1x100", "http", 0.35), ("http2-tls-1x100", "https", 0.6), ("http2-h2o-1x100", "https", 0.6)],
)
def test_a_floor_stands_beside_what_is_required_of_h2load(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, name: str, scheme: str, of_h2load: float
) -> None:
    Ran(bench, monkeypatch, h2load=H2LOAD.format(1000, 0))
    assert [(figure.name, figure.limit) for figure in outcome(bench, name, scheme=scheme).figures] == [
        ("CPU a request, assay / h2load", of_h2load),
        ("CPU a request, assay / floor", 1.15),
        ("CPU a request, floor / h2load", None),
        ("CPU a request, loop of assay / floor", None),
    ]


def test_an_h2load_without_http3_is_told_in_a_line_and_the_rest_is_measured(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    Ran(bench, monkeypatch, h2load=H2LOAD.format(0, 1000))
    found = outcome(bench, "http3-1x100", scheme="https")
    [why] = found.missing
    assert why.startswith("h2load: it has no answer over HTTP/3") and "\n" not in why
    assert [(figure.name, figure.limit) for figure in found.figures] == [
        ("CPU a request, assay / floor", 1.3),
        ("CPU a request, loop of assay / floor", None),
    ]


def test_a_server_that_is_missing_is_told_with_its_package(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.setattr(bench("programs").shutil, "which", lambda command: None)
    [comparison] = [each for each in bench("http2").COMPARISONS if each.name == "http2-h2o-8x10"]
    found = comparison.run(bench("model").Effort(rounds=1, share=0.001))
    assert found.missing == ("h2o is missing; apt-get install h2o",)


def test_headers_that_only_a_floor_over_tls_needs_are_told_with_their_package(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    programs, compiler = bench("programs"), tmp_path / "cc"
    compiler.write_text('#!/bin/sh\ncase " $* " in *openssl*|*-lssl*) exit 1 ;; esac\n')
    compiler.chmod(0o755)
    monkeypatch.setattr(programs, "TARGET", tmp_path)
    monkeypatch.setattr(programs, "need", lambda command, package: str(compiler))
    assert programs.bare_client("bare_http2.c") == tmp_path / "bare-http2"
    with pytest.raises(programs.Unavailable) as why:
        programs.bare_client("bare_http2.c", tls=True)
    assert str(why.value) == "openssl/ssl.h is missing; apt-get install libssl-dev"


@pytest.mark.parametrize(
    ("asked", "has_http2"),
    [
        ("", False),
        ("--only memory-http2", False),
        ("--full --only null", False),
        ("--full", True),
        ("--only null http2-h2o-8x10 --tries 1", True),
        ("--only=http3", True),
    ],
)
def test_packages_that_what_is_asked_needs_are_named_where_they_are_missing(
    tmp_path: Path, asked: str, has_http2: bool
) -> None:
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, line in {"dpkg-query": "exit 1", "id": "echo 1000", "sudo": "exit 1"}.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    done = subprocess.run(
        [tmp_path / "scripts" / "bench.sh", *asked.split()],
        env={"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    packages = "wrk apache2-utils nginx strace" + (" nghttp2-client h2o libssl-dev" if has_http2 else "")
    wanted = f"✗ missing Debian packages; install them with: sudo apt-get install {packages}\n"
    assert (done.returncode, done.stderr) == (2, wanted)


def test_what_is_timed_keeps_its_bytecode_as_an_installed_package_does(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("ASSAY_CACHE", "elsewhere")
    settings = bench("answer_time").as_installed()
    assert "PYTHONDONTWRITEBYTECODE" not in settings and settings["ASSAY_CACHE"] == "elsewhere"
