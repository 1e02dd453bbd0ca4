"""`assay setup`, `doctor` and `init`: what servers need, if the machine is fit, and a study to start from."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.before_run import add_yes
from assay.cli.verbs import VerbPart
from assay.core import console
from assay.core.errors import EXIT_INVALID, EXIT_OK, AssayError, InputError
from assay.core.units import counted
from assay.runner.bench import Silent

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.core.settings import Settings
    from assay.plan.resolved import ResolvedRun
    from assay.runner.prepare import Ready
    from assay.servers import Server, ServerSpec


def _setup_flags(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="a study, or a server such as quotes/go")
    parser.add_argument("--all", action="store_true", help="every server there is")
    profiles = ("fair", "published", "both")
    parser.add_argument("--profile", choices=profiles, default="fair", metavar="{fair,published,both}",
                        help="of studies, what this profile uses [fair]")  # fmt: skip
    parser.add_argument("--no-install", action="store_true", help="build only; install no Debian package")
    add_yes(parser)
    parser.examples(
        ("assay setup franklin", "all that the study needs under its fair profile"),
        ("assay setup franklin --profile both", "and under the published one"),
        ("assay setup quotes/go", "one server"),
        ("assay setup --all", "every server of every contract"),
    )


def _setup(args: argparse.Namespace) -> int:
    """Install and build; a server that cannot be had here is named, and the others are made."""
    from assay.core.settings import Settings
    from assay.runner import consent
    from assay.runner.prepare import prepare_all
    from assay.servers import list_servers
    from assay.servers.cores import split_cores
    from assay.servers.services import upstreams_of_all

    settings = Settings.resolve()
    studies = [] if args.all else _studies(args.names, args.profile, settings)
    specs = _builds_of(list_servers(settings)) if args.all else _servers(args.names, settings)
    specs += [spec for study in studies for spec in study.servers]
    specs += upstreams_of_all(specs, settings)
    servers = specs if not studies else _servers(args.names, settings)
    consent.ask(studies, settings, yes=args.yes, servers=servers)
    if not args.no_install:
        _install(specs, settings)
    if not _has_engine():  # make run builds it meanwhile; what comes with it is ready then
        specs = [spec for spec in specs if spec.build is not None]
    ready = prepare_all(specs, settings, split_cores().server_cores, _EventLines())
    return _tell(ready)


def _has_engine() -> bool:
    return importlib.util.find_spec("assay._engine") is not None


def _servers(names: Sequence[str], settings: Settings) -> list[ServerSpec]:
    """Those that are named themselves."""
    from assay.servers import find_server

    return _builds_of(find_server(name, settings) for name in names if _is_server(name))


def _studies(names: Sequence[str], profile: str, settings: Settings) -> list[ResolvedRun]:
    """Each study that is named, under that profile, or each of its profiles ("both"). InputError where
    nothing is named at all."""
    from assay.model.design import Choices
    from assay.plan.study import list_studies, load_study, resolve

    if not names:
        known = ", ".join(path.stem for path in list_studies(settings))
        raise InputError("nothing was named", f"name a server or a study ({known}), or pass --all")
    studies = [load_study(name, settings) for name in names if not _is_server(name)]
    return [
        resolve(study, settings, Choices(profile=one))
        for study in studies
        for one in (study.file.profiles if profile == "both" else (profile,))
    ]


def _is_server(name: str) -> bool:
    return name.count("/") == 1 and not name.endswith(".toml")


def _builds_of(servers: Iterable[Server]) -> list[ServerSpec]:
    """Each server once, and again for each variant that is built or needs something of its own."""
    specs: list[ServerSpec] = []
    for server in servers:
        specs.append(server.variant(""))
        specs += [
            server.variant(name)
            for name, variant in server.manifest.variants.items()
            if variant.build is not None or variant.requires
        ]
    return specs


def _install(specs: Sequence[ServerSpec], settings: Settings) -> None:
    from assay.servers import check_all, debian_packages
    from assay.servers.requires import install
    from assay.servers.services import requirements_of_all

    wanted = [one for spec in specs for one in spec.requires]
    packages = debian_packages(check_all([*wanted, *requirements_of_all(specs)]))
    if packages:
        console.note(f"installing {', '.join(packages)}")
        unknown = install(packages, settings.cache / "logs" / "apt-get.log")
        if unknown:
            console.note(f"not to be had from this Debian: {', '.join(unknown)}; what needs it is left out")


def _tell(ready: Sequence[Ready]) -> int:
    from assay.core.errors import ServerFailed

    failed = [had for _, had in ready if isinstance(had, ServerFailed)]
    broken = [had for had in failed if had.stage != "requires"]
    without = len(failed) - len(broken)
    lacking = f", {without} lack{'s' if without == 1 else ''} something here" if without else ""
    wrong = f", {len(broken)} failed" if broken else ""
    console.note(f"ready: {len(ready) - len(failed)} of {counted(len(ready), 'server')}{lacking}{wrong}")
    return EXIT_INVALID if broken else EXIT_OK


class _EventLines(Silent):
    """A line for each thing that happens: builds take from seconds to minutes, several at a time."""

    def server_preparing(self, server: str, step: str) -> None:
        """Say what is being built."""
        if step != "checking":
            console.note(f"  {server}: {step}")

    def server_prepared(self, server: str, version: str, built_s: float | None) -> None:
        """Say that it is ready."""
        built = "" if built_s is None else f", built in {built_s:.0f} s"
        console.note(f"  {server}: ready ({version}{built})")

    def server_failed(self, server: str, reason: str) -> None:
        """Say why it is not."""
        console.note(f"  {server}: {reason}")


setup = VerbPart(_setup_flags, _setup)


def _doctor_flags(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("study", nargs="?", metavar="STUDY", help="look at what this study needs as well")
    add_yes(parser)
    parser.add_argument("--ray", metavar="HOST:PORT", help="at the server nodes of a Ray cluster instead")
    parser.examples(
        ("assay doctor", "is this machine fit to measure on?"),
        ("assay doctor heroes", "and what does the study lack here?"),
        ("assay doctor heroes --ray 10.0.0.1:6379", "and on the server nodes of a cluster?"),
    )


def _doctor(args: argparse.Namespace) -> int:
    """Look and tell; 1 where something is missing or unfit."""
    from assay.cli import catalogue
    from assay.core.settings import Settings
    from assay.plan.study import load_study, resolve
    from assay.runner import consent, doctor

    settings = Settings.resolve()
    study = resolve(load_study(args.study, settings), settings) if args.study else None
    if study is not None:
        consent.ask([study], settings, yes=args.yes)
    if args.ray:
        from assay.cluster import session

        seen = session.examined(args.ray, settings, study)
        for address, (needs, machine) in seen.items():
            catalogue.show_sections(*catalogue.needs_page(needs, machine, f"Node {address}"))
    else:
        needs = doctor.server_needs(study.servers, settings) + doctor.service_needs(study) if study else ()
        seen = {"": (needs, doctor.machine(settings, study))}
        catalogue.show_sections(*catalogue.needs_page(*seen[""]))
    whole = all(one.fulfilled for needs, _ in seen.values() for need in needs for one in need.checked)
    fit = all(one.fit for _, machine in seen.values() for one in machine)
    return EXIT_OK if whole and fit else EXIT_INVALID


doctor = VerbPart(_doctor_flags, _doctor)


def _init_flags(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("name", metavar="NAME", help="what the study and its contract are called")
    parser.examples(("assay init shop", "studies/shop.toml and servers/shop/ in this folder, commented"))


def _init(args: argparse.Namespace) -> int:
    """Write the files and say what comes next."""
    from assay.core.settings import working_folder
    from assay.plan.study.load import write_example

    here = working_folder()
    for path in write_example(args.name, here):
        console.write(str(path.relative_to(here)))
    _trust(here / "studies" / f"{args.name}.toml")
    console.note(f"run it as it is with: assay run {args.name} --quick")
    return EXIT_OK


def _trust(path: Path) -> None:
    """What Assay itself has just written is not asked for until somebody changes it."""
    from assay.core.settings import Settings
    from assay.model.design import Choices
    from assay.plan.study import load_study, resolve
    from assay.runner import consent

    # Where ASSAY_SERVERS leads elsewhere, say, it is asked for then.
    with contextlib.suppress(AssayError, OSError, RuntimeError):
        settings = Settings.resolve()
        study = load_study(str(path), settings)
        profiles = study.file.profiles
        consent.remember((resolve(study, settings, Choices(profile=one)) for one in profiles), settings)


init = VerbPart(_init_flags, _init)
