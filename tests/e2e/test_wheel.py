"""The wheel as a user has it: in an empty virtual environment, without a checkout or build tools."""

from __future__ import annotations

import re
import socket
import subprocess
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LARGEST_MB = 50
LARGEST_WHEEL_MB = 4.5
NOT_OURS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
"""What every virtual environment begins with."""

pytestmark = pytest.mark.timeout(1200)  # the engine may have to be built


class Installed:
    """An environment that holds the wheel and what it needs, and a user's folders."""

    def __init__(self, base: Path) -> None:
        self.environment, self.home, self.folder = base / "venv", base / "home", base / "work"
        self.home.mkdir()
        self.folder.mkdir()

    def run(self, *words: str, code: int | None = 0, **environ: str) -> str:
        """What a command prints on both streams; `code` None for any but a usage error or a defect.

        Nothing of the machine's own programs is on its path: no compiler, no toolchain.
        """
        env = {"HOME": str(self.home), "PATH": f"{self.environment}/bin", "LC_ALL": "C.UTF-8"}
        env |= {"ASSAY_LOCK": str(self.home / "lock"), "NO_COLOR": "1"} | environ
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=120,
            check=False,
        )
        assert done.returncode in ((0, 1) if code is None else (code,)), done.stdout
        return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    base = tmp_path_factory.mktemp("wheel")
    made = Installed(base)
    subprocess.run([ROOT / "scripts/wheel.sh", base / "dist"], check=True, capture_output=True, timeout=900)
    venv.create(made.environment, with_pip=True)
    (wheel,) = (base / "dist").glob("*.whl")
    # With the settings of whoever runs the tests: an index of packages may be set there.
    pip = [
        str(made.environment / "bin/python"),
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        str(wheel),
    ]
    done = subprocess.run(pip, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip("no package index can be reached: the wheel's dependencies cannot be installed")
    assert done.returncode == 0, done.stderr
    return made


@contextmanager
def serving(installed: Installed) -> Iterator[str]:
    """The null server of the wheel, as a user may start it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        str(installed.environment / "bin/python"),
        "-m",
        "assay.servers.null_server",
        "--port",
        str(port),
    ]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait(10)


def test_it_is_small(installed: Installed) -> None:
    inside = (path for path in installed.environment.rglob("*") if path.is_file() and not path.is_symlink())
    files = [path for path in inside if not any(part.startswith(NOT_OURS) for part in path.parts)]
    assert sum(path.stat().st_size for path in files) < LARGEST_MB * 1_000_000
    (wheel,) = installed.environment.parent.glob("dist/*.whl")
    assert wheel.stat().st_size < LARGEST_WHEEL_MB * 1_000_000


def test_it_carries_its_servers_and_studies(installed: Installed) -> None:
    assert "franklin" in installed.run("assay", "studies")
    assert "quotes" in installed.run("assay", "servers")
    assert '"properties"' in installed.run("assay", "schema", "study")


def test_it_loads_a_server(installed: Installed) -> None:
    with serving(installed) as url:
        assert re.search(r"0 of [\d,]+ failed", installed.run("assay", "load", url, "-d", "1s", code=None))
        assert "Requests/sec" in installed.run("assay", "wrk", "-d1s", "-t1", "-c2", url)


def test_it_compares_two_servers(installed: Installed) -> None:
    with serving(installed) as one, serving(installed) as other:
        brief = ("-d", "100ms", "--warm-up", "0", "--budget", "20s", "--margin", "50%", "--no-control")
        told = installed.run("assay", "versus", one, other, *brief, code=None)
    assert "it ends after 20 s of load at the latest" in told
    assert "requests/s" in told and "more: --verbose" in told


def test_a_study_without_its_toolchains_says_what_is_missing(installed: Installed) -> None:
    told = installed.run("assay", "run", "franklin", "--quick", "--blocks", "1", "--no-control", code=None)
    assert "go not found" in told and "ruby not found" in told
    assert "null server" in told and "Traceback" not in told


def test_a_home_that_cannot_be_written_and_no_network_are_no_hindrance(installed: Installed) -> None:
    with serving(installed) as url:
        told = installed.run("assay", "load", url, "-n", "500", code=None, HOME="/proc/none")
    assert "0 of 500 failed" in told
    if subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespace can be made here")
    offline = ["/usr/bin/unshare", "-n", str(installed.environment / "bin/assay")]
    assert "franklin" in installed.run(*offline, "studies")
    refused = installed.run(*offline, "load", "http://assay.example/", code=2)
    assert "cannot resolve 'assay.example'" in refused and refused.count("\n") == 1


def test_a_study_of_ones_own_goes_from_init_to_a_report(installed: Installed) -> None:
    package = next((installed.environment / "lib").glob("python*/site-packages/assay"))
    before = {path for path in package.rglob("*") if "__pycache__" not in path.parts}
    installed.run("assay", "init", "shop")
    study = installed.folder / "studies" / "shop.toml"
    long = "measure_s = 10, warm_up_min_s = 1, warm_up_max_s = 5"
    assert long in study.read_text()
    short = study.read_text().replace(long, "measure_s = 0.5, warm_up_min_s = 0.2, warm_up_max_s = 0.4")
    study.write_text(short.replace("ceiling_s = 3", "ceiling_s = 0.5"))
    installed.run("assay", "setup", "shop")
    installed.run("assay", "run", "shop", "--blocks", "1", code=None)
    assert "shop" in installed.run("assay", "report", "latest", code=None)
    installed.run("assay", "report", "latest", "--html", "page.html")
    assert "<svg" in (installed.folder / "page.html").read_text(encoding="utf-8")
    lacking = installed.run("assay", "report", "latest", "--png", "pictures", code=2)
    assert "pip install 'resvg-py" in " ".join(lacking.split())
    assert "pip install 'starlette" in " ".join(installed.run("assay", "view", code=2).split())
    assert not list(installed.folder.glob("pictures/*"))
    assert before == {path for path in package.rglob("*") if "__pycache__" not in path.parts}
