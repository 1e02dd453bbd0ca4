"""A study's file: written for a beginning, read, and checked against its servers and contracts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from assay.core import toml
from assay.core.errors import EnvironmentLacks, InputError, Unknown, reason_of
from assay.core.settings import Settings
from assay.core.toml import KeyPath, TomlDocument, nearest
from assay.model.design import RuleSetting
from assay.plan.study.schema import LoadSetting, StudyFile
from assay.servers.contract import Contract, read_contract
from assay.servers.manifest import Server, find_server

_EXAMPLE = Path(__file__).with_name("example")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


def write_example(name: str, folder: Path) -> tuple[Path, ...]:
    """Write `studies/NAME.toml` and `servers/NAME/` with a contract, an example server and a null server
    below `folder`; the written files.

    InputError where the name is none or a file is already there (then nothing is written);
    EnvironmentLacks where the folder cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} is no name for a study", "use small letters, digits and dashes, such as my-servers"
        )
    servers = folder / "servers" / name
    files = {
        folder / "studies" / f"{name}.toml": "study.toml",
        servers / "contract.toml": "contract.toml",
        servers / "example" / "server.toml": "server.toml",
        servers / "example" / "server.py": "server.py",
        servers / "null" / "server.toml": "null.toml",
    }
    there = next((path for path in files if path.exists()), None)
    if there is not None:
        raise InputError(f"{there} is there already", "choose another name")
    try:
        for path, template in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            text = (_EXAMPLE / template).read_text(encoding="utf-8")
            path.write_text(text.replace("@NAME@", name), encoding="utf-8")
    except OSError as error:
        raise EnvironmentLacks(f"cannot write {folder}: {reason_of(error)}") from error
    return tuple(files)


class Study(msgspec.Struct, frozen=True):
    """A study file with its servers and their contracts."""

    document: TomlDocument[StudyFile]
    servers: dict[str, Server]
    contracts: dict[str, Contract]

    @property
    def file(self) -> StudyFile:
        """The file as written."""
        return self.document.value

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.document.path


def load_study(name_or_path: str, settings: Settings) -> Study:
    """The study of that name (`studies/<name>.toml`) or in that file.

    InputError in one line: file, line, key, what is wrong, what would be right.
    """
    document = toml.read(find_study(name_or_path, settings), StudyFile, "study")
    study = document.value
    servers: dict[str, Server] = {}
    for place, entry in enumerate(study.servers):
        try:
            servers[entry.server] = find_server(entry.server, settings)
        except Unknown as error:
            raise document.error(("servers", place, "server"), error.what, error.remedy) from error
    contracts = {server.contract: read_contract(server.contract_folder) for server in servers.values()}
    loaded = Study(document, servers, contracts)
    for check in (_check_entries, _check_workloads, _check_loads, _check_claims, _check_rules):
        check(loaded)
    return loaded


def list_studies(settings: Settings) -> tuple[Path, ...]:
    """The study files of every study folder, by name; of two with one name the first folder's counts."""
    paths: dict[str, Path] = {}
    for folder in settings.study_folders:
        for path in sorted(folder.glob("*.toml")):
            paths.setdefault(path.stem, path)
    return tuple(paths[name] for name in sorted(paths))


def find_study(name_or_path: str, settings: Settings) -> Path:
    """The file of a study, by its name or path. InputError for a name that no folder has."""
    if name_or_path.endswith(".toml") or "/" in name_or_path:
        return Path(name_or_path)
    for folder in settings.study_folders:
        if (folder / f"{name_or_path}.toml").is_file():
            return folder / f"{name_or_path}.toml"
    searched = ", ".join(str(folder) for folder in settings.study_folders)
    known = [path.stem for path in list_studies(settings)]
    raise InputError(f"there is no study {name_or_path!r} in {searched}", nearest(name_or_path, known))


def _check_entries(study: Study) -> None:
    _no_twins(study, "servers", [entry.id for entry in study.file.servers], "name")
    for place, entry in enumerate(study.file.servers):
        for profile, variant in entry.variant.items():
            try:
                study.servers[entry.server].variant(variant)
            except Unknown as error:
                key: KeyPath = ("servers", place, "variant", profile)
                raise study.document.error(key, error.what, error.remedy) from error


def _check_workloads(study: Study) -> None:
    file = study.file
    _no_twins(study, "workloads", [workload.name for workload in file.workloads], "name")
    ids = [entry.id for entry in file.servers]
    for place, workload in enumerate(file.workloads):
        _all_known(study, ("workloads", place, "servers"), workload.servers, ids, "server")
        others = [other.name for other in file.workloads if other is not workload]
        same = filter(None, [workload.same_input_of])
        _all_known(study, ("workloads", place, "same_input_of"), same, others, "other workload")
        for contract in study.contracts.values():
            known = [route.name for route in contract.file.routes]
            _all_known(study, ("workloads", place, "routes"), workload.routes, known, "route")


def _check_loads(study: Study) -> None:
    file = study.file
    for profile_name, profile in file.profiles.items():
        at: KeyPath = ("profiles", profile_name, "loads")
        names = [name for load in profile.loads for name in load_names(load)]
        _no_twins(study, "load", names, "", at)
        for place, load in enumerate(profile.loads):
            _all_known(study, (*at, place, "servers"), load.servers, [e.id for e in file.servers], "server")
            workloads = [workload.name for workload in file.workloads]
            _all_known(study, (*at, place, "workloads"), load.workloads, workloads, "workload")


def _check_claims(study: Study) -> None:
    file = study.file
    _no_twins(study, "claims", [claim.id for claim in file.claims], "id")
    ids = [entry.id for entry in file.servers]
    loads = [n for profile in file.profiles.values() for load in profile.loads for n in load_names(load)]
    workloads = [workload.name for workload in file.workloads]
    for place, claim in enumerate(file.claims):
        for inner, pair in enumerate(claim.comparisons):
            at: KeyPath = ("claims", place, "comparisons", inner)
            for key in ("a", "b"):
                _all_known(study, (*at, key), [getattr(pair, key)], ids, "server")
            for key in ("load", "load_a", "load_b"):
                _all_known(study, (*at, key), filter(None, [getattr(pair, key)]), loads, "load")
            for key in ("workload", "workload_a", "workload_b"):
                _all_known(study, (*at, key), filter(None, [getattr(pair, key)]), workloads, "workload")


def _check_rules(study: Study) -> None:
    places: list[tuple[KeyPath, dict[str, RuleSetting]]] = [(("rules",), study.file.rules)]
    places += [(("profiles", name, "rules"), profile.rules) for name, profile in study.file.profiles.items()]
    if not any(rules for _, rules in places):
        return
    from assay.verdict.rules import RunThresholds  # numpy behind it: only where a study needs it

    for at, rules in places:
        for code, setting in rules.items():
            try:
                RunThresholds({code: setting})
            except InputError as error:
                raise study.document.error((*at, code), error.message, error.remedy) from error


def load_names(load: LoadSetting) -> list[str]:
    """The names of the loads that a swept load stands for, in the order of `expand`."""
    return [name for name, *_ in expand(load)]


def expand(load: LoadSetting) -> list[tuple[str, int, int | None, float | None]]:
    """Each load of a sweep: its name, connections, threads, rate.

    A load is called by its name, and by what is swept of it: c64, t5-c500, peak-c64. One without a name says
    how far its servers are: c64-20ms-1%.
    """
    connections = load.connections if isinstance(load.connections, tuple) else (load.connections,)
    threads = load.threads if isinstance(load.threads, tuple) else (load.threads,)
    rates = load.rate_per_s if isinstance(load.rate_per_s, tuple) else (load.rate_per_s,)
    far = [load.emulation.name] if load.emulation is not None and not load.name else []
    expanded = []
    for t in threads:
        for c in connections:
            for r in rates:
                swept = [f"t{t}"] if len(threads) > 1 else []
                swept += [f"c{c}"] if len(connections) > 1 or (not load.name and r is None) else []
                swept += [f"r{r:g}"] if len(rates) > 1 or (not load.name and r is not None) else []
                expanded.append(("-".join(([load.name] if load.name else []) + swept + far), c, t, r))
    return expanded


def _no_twins(study: Study, what: str, names: list[str], key: str, at: KeyPath = ()) -> None:
    for place, name in enumerate(names):
        if name in names[:place]:
            where = at or (what, place, key)
            raise study.document.error(where, f"{name!r} is there twice", "give it another name")


def _all_known(study: Study, key: KeyPath, words: Iterable[str], known: list[str], what: str) -> None:
    for word in words:
        if word not in known:
            raise study.document.error(key, f"there is no {what} {word!r}", nearest(word, known))
