"""What a server needs of the machine: found, with its version, or missing, with what to do.

Debian's packages are installed where we may; where we may not, the command is named."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from assay.core.errors import EnvironmentLacks, last_words
from assay.servers.manifest import Requirement

_VERSION = re.compile(r"\d+(?:\.\d+)+")
_JVM_FOLDERS = (Path("/usr/lib/jvm"), Path("/Library/Java/JavaVirtualMachines"), Path("/opt"))
_ASK_TIMEOUT_S = 60


class Checked(msgspec.Struct, frozen=True):
    """One requirement looked up on this machine.

    `version` is the dotted number ("" where none is asked for), `line` all that the tool said of itself.
    `problem` is empty where it is fulfilled; else one line, and `install` the command that would help.
    """

    requirement: Requirement
    version: str = ""
    line: str = ""
    path: Path | None = None
    problem: str = ""
    install: str = ""

    @property
    def sentence(self) -> str:
        """The problem and what to do about it."""
        return f"{self.problem}: install it with: {self.install}" if self.install else self.problem

    @property
    def fulfilled(self) -> bool:
        """Whether it is there."""
        return not self.problem


def check(requirement: Requirement, environ: Mapping[str, str] | None = None) -> Checked:
    """Look one requirement up."""
    environ = os.environ if environ is None else environ
    if requirement.jdk is not None:
        return _check_jdk(requirement, requirement.jdk, environ)
    if requirement.env is not None:
        return _check_variable(requirement, requirement.env, environ)
    if requirement.file is not None:
        if Path(requirement.file).exists():
            return Checked(requirement, path=Path(requirement.file))
        return _missing(requirement, f"{requirement.file} not found", requirement.debian)
    return _check_command(requirement, str(requirement.command), environ)


def check_all(requirements: Sequence[Requirement]) -> tuple[Checked, ...]:
    """Look every requirement up."""
    return tuple(check(requirement) for requirement in requirements)


def versions(requirements: Sequence[Requirement]) -> dict[str, str]:
    """Of each tool that is there its version, by its name."""
    return {one.requirement.name: one.version for one in check_all(requirements) if one.version}


def debian_packages(checked: Sequence[Checked]) -> tuple[str, ...]:
    """The packages that would install what is missing."""
    wanted = (tool.install.removeprefix(_INSTALL) for tool in checked if tool.install)
    return tuple(dict.fromkeys(wanted))


def java_home(requirements: Sequence[Requirement], environ: Mapping[str, str] | None = None) -> Path | None:
    """The JDK for the highest version asked for; None where none is asked for or found."""
    wanted = [requirement.jdk for requirement in requirements if requirement.jdk is not None]
    return find_jdk(max(wanted), os.environ if environ is None else environ) if wanted else None


def find_jdk(at_least: int, environ: Mapping[str, str]) -> Path | None:
    """A JDK of at least that version: $JAVA_HOME or the PATH's if they do, else the lowest that does."""
    usual = [Path(home) for home in [environ.get("JAVA_HOME")] if home]
    javac = shutil.which("javac", path=environ.get("PATH"))
    if javac:
        usual.append(Path(javac).resolve().parents[1])
    for home in usual:
        if _jdk_version(home) >= at_least:
            return home
    homes = {home.resolve() for folder in _JVM_FOLDERS if folder.is_dir() for home in _homes_below(folder)}
    fit = [home for home in homes if _jdk_version(home) >= at_least]
    return min(fit, key=lambda home: (_jdk_version(home), str(home)), default=None)


def _homes_below(folder: Path) -> list[Path]:
    return [
        path.parents[1] for path in (*folder.glob("*/bin/javac"), *folder.glob("*/Contents/Home/bin/javac"))
    ]


@lru_cache
def _jdk_version(home: Path) -> int:
    """The major version by the file `release` of a JDK; 0 for what is none."""
    if not (home / "bin" / "javac").exists():
        return 0
    try:
        version = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', (home / "release").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(version[1]) if version else 0


def _check_jdk(requirement: Requirement, wanted: int, environ: Mapping[str, str]) -> Checked:
    home = find_jdk(wanted, environ)
    if home is None:
        return _missing(requirement, f"no JDK {wanted} or later found", f"openjdk-{wanted}-jdk-headless")
    version = str(_jdk_version(home))
    return Checked(requirement, version=version, line=f"JDK {version} in {home}", path=home)


def _check_variable(requirement: Requirement, name: str, environ: Mapping[str, str]) -> Checked:
    value = environ.get(name, "")
    if not value:
        return _missing(requirement, f"{name} is not set", requirement.debian)
    if not Path(value).exists():
        return Checked(requirement, problem=f"{name} names {value}, which does not exist")
    # The line is part of what names a build: another program there means another build.
    seen = Path(value).stat()
    return Checked(requirement, line=f"{value}, {seen.st_size} bytes", path=Path(value))


def _check_command(requirement: Requirement, command: str, environ: Mapping[str, str]) -> Checked:
    path = shutil.which(command, path=environ.get("PATH")) or _beside_the_path(command, requirement.folders)
    if path is None:
        return _missing(requirement, f"{command} not found", requirement.debian)
    if not requirement.version:
        return Checked(requirement, path=Path(path))
    ask = [path if word == command else word for word in requirement.version]
    code, line = _asked(ask)
    if code != 0:
        said = f"`{shlex.join(requirement.version)}` fails"
        return _missing(requirement, f"{requirement.name} not found: {said}", requirement.debian)
    version = _VERSION.search(line) or re.search(r"\d+", line)
    if version is None:
        said = f"`{shlex.join(requirement.version)}` names no version"
        return Checked(
            requirement, line=line, path=Path(path), problem=f"{said}: {line[:80] or 'it prints nothing'}"
        )
    if requirement.at_least and _numbers(version[0]) < _numbers(requirement.at_least):
        problem = f"{requirement.name} {version[0]} is too old: {requirement.at_least} or later is needed"
        return Checked(requirement, version=version[0], line=line, path=Path(path), problem=problem)
    return Checked(requirement, version=version[0], line=line, path=Path(path))


def _beside_the_path(command: str, folders: Sequence[str]) -> str | None:
    places = [path for glob in folders for path in sorted(Path("/").glob(glob.lstrip("/")), reverse=True)]
    return shutil.which(command, path=os.pathsep.join(map(str, places))) if places else None


def _asked(command: Sequence[str]) -> tuple[int, str]:
    """A version command's exit code and the first line with a number in it, on either stream."""
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_ASK_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return -1, ""
    lines = (done.stdout + b"\n" + done.stderr).decode(errors="replace").splitlines()
    said = [line.strip() for line in lines if line.strip()]
    numbered = (line for line in said if re.search(r"\d", line))
    return done.returncode, next(numbered, said[0] if said else "")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


_INSTALL = "apt-get install "


def _missing(requirement: Requirement, problem: str, package: str) -> Checked:
    problem = requirement.missing or problem
    if package and shutil.which("apt-get") and not requirement.missing:
        return Checked(requirement, problem=problem, install=_INSTALL + package)
    return Checked(requirement, problem=problem)


_SCRIPT = Path(__file__).with_name("apt-install.sh")
_UNKNOWN = 3
"""How the script ends where some packages do not exist for this Debian; it names them last."""


def install(packages: Sequence[str], log: Path) -> tuple[str, ...]:
    """Install the packages as root, or through a sudo that asks for no password; the output goes to `log`.

    Returns those that this Debian does not know.
    EnvironmentLacks with the exact command where neither works, or where the installation fails.
    """
    by_hand = f"install by hand: sudo apt-get install {' '.join(packages)}"
    become_root = _become_root()
    if become_root is None:
        raise EnvironmentLacks(f"missing Debian packages: {', '.join(packages)}", by_hand)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        done = subprocess.run(
            [*become_root, str(_SCRIPT), *packages],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    said = log.read_text(errors="replace").strip()
    if done.returncode == _UNKNOWN:
        return tuple(said.rpartition("\n")[2].partition(":")[2].split())
    if done.returncode != 0:
        raise EnvironmentLacks(f"apt-get failed: {last_words(said)} (all of it: {log})", by_hand)
    return ()


def _become_root() -> list[str] | None:
    """What to put before a command that root must run; None where we may not."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    asked = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n"] if asked.returncode == 0 else None
