"""Where things are, resolved once: nothing later asks whether a flag or a variable was given."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from assay.core.errors import EnvironmentLacks, reason_of

DEFAULT_LOCK = "/tmp/assay.lock"
"""The one folder that every user of a machine can write to, whatever their session says of TMPDIR."""

VARIABLES = {
    "ASSAY_RESULTS": "the folder of runs [./results]",
    "ASSAY_CACHE": "where servers are built [~/.cache/assay; of a checkout .assay]",
    "ASSAY_SERVERS": "folders of servers, with : between them [./servers]",
    "ASSAY_STUDIES": "folders of studies, with : between them [./studies]",
    "ASSAY_LOCK": f"the file held by whoever measures here [{DEFAULT_LOCK}]",
    "ASSAY_YES": "1: the drop-ins may load a machine that is not yours",
    "ASSAY_TRUST": "1: commands of others' servers, studies and records run unasked",
    "ASSAY_STRICT": "1: the drop-ins do the arithmetic of the tool itself",
    "ASSAY_QUIET": "1: the drop-ins print no findings",
    "NO_COLOR": "no colour, whatever its value",
}
"""The variables of the environment that change what Assay does, as every help tells them."""

BUNDLE = Path(__file__).resolve().parents[1] / "bundle"
"""Servers and studies as a wheel carries them; scripts/wheel.sh puts them there, so a checkout has none."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The folders of one invocation, all absolute.

    `root` holds Assay's own servers and studies: the checkout that it runs from, or the bundle in the
    installed package. `cache` holds builds and their logs: the user's own cache folder where Assay is
    installed, since a package is no place to build in. `lock` is held by whoever measures on this
    machine, so it is the same for every user and every session of theirs.
    Servers and studies are looked for in their folders in order: the user's own come first.
    """

    root: Path
    results: Path
    cache: Path
    lock: Path
    server_folders: tuple[Path, ...]
    study_folders: tuple[Path, ...]

    @classmethod
    def resolve(
        cls,
        *,
        results: str | os.PathLike[str] | None = None,
        environ: Mapping[str, str] | None = None,
        here: Path | None = None,
    ) -> Settings:
        """From flags (`results`), then the environment (ASSAY_RESULTS, ASSAY_SERVERS, ASSAY_STUDIES,
        ASSAY_CACHE, ASSAY_LOCK), then the defaults (`./results`, `./servers`, `./studies`, the
        installed or checked-out ones)."""
        environ = os.environ if environ is None else environ
        here = (here or working_folder()).absolute()
        found = checkout()
        root = found or BUNDLE
        return cls(
            root=root,
            results=here / (results or environ.get("ASSAY_RESULTS") or "results"),
            cache=here / (environ.get("ASSAY_CACHE") or _cache(found, environ)),
            lock=here / (environ.get("ASSAY_LOCK") or DEFAULT_LOCK),
            server_folders=_folders(environ.get("ASSAY_SERVERS"), here, root, "servers"),
            study_folders=_folders(environ.get("ASSAY_STUDIES"), here, root, "studies"),
        )


def working_folder() -> Path:
    """The folder that Assay was started in; EnvironmentLacks where it is not there any more."""
    try:
        return Path.cwd()
    except OSError as problem:
        raise EnvironmentLacks(
            f"the working directory cannot be found: {reason_of(problem)}", "change to another one"
        ) from None


def checkout() -> Path | None:
    """The checkout that this code runs from; None where it is installed."""
    above = Path(__file__).resolve().parents[3]
    return above if (above / "servers").is_dir() and (above / "studies").is_dir() else None


def _cache(found: Path | None, environ: Mapping[str, str]) -> Path:
    if found is not None:
        return found / ".assay"
    base = environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "assay"


def _folders(given: str | None, here: Path, root: Path, name: str) -> tuple[Path, ...]:
    own = [here / part for part in given.split(os.pathsep)] if given else [here / name]
    return tuple(dict.fromkeys([*own, root / name]))


def version() -> str:
    """The version of the installed distribution; "0+source" where the code runs uninstalled."""
    # Not at import time: reading package metadata costs a tenth of the start of `assay load`.
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("assay-http")
    except PackageNotFoundError:
        return "0+source"


def folder() -> Path:
    """Where it is by the XDG base directory specification. RuntimeError without a home."""
    home = os.environ.get("XDG_STATE_HOME")
    return (Path(home) if home else Path.home() / ".local" / "state") / "assay"
