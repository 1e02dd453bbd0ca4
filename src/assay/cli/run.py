"""`assay run STUDY`: build, check, load in blocks, judge, and say what came of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.cli import before_run, one_run, report_outputs
from assay.core import console, vault
from assay.core.errors import InputError
from assay.plan.words import parse

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.cli.run_series import SeriesView
    from assay.core.settings import Settings
    from assay.model.design import Choices
    from assay.model.run import Series


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("study", nargs="*", metavar="STUDY", help="a study's name or the path of its file")
    parser.add_argument(
        "--all", common=True, action="store_true", help="every study there is, one after the other"
    )
    how = parser.add_argument_group("how it is run")
    how.add_argument("--profile", common=True, choices=("fair", "published", "both"),
                     metavar="{fair,published,both}",
                     help="equal terms, the settings as published, or both side by side [fair]")  # fmt: skip
    how.add_argument(
        "--quick", common=True, action="store_true", help="a first look: 3 minutes of measuring at most"
    )
    how.add_argument(
        "--blocks", common=True, type=parse.whole, metavar="N", help="trials of each case [the study's]"
    )
    how.add_argument("--seed", type=parse.natural, metavar="N", help="seed of the order of trials [drawn]")
    how.add_argument("--server", common=True, action="append", default=[], metavar="NAME",
                     help="only this server (and the null server); repeatable")  # fmt: skip
    how.add_argument("--latency", common=True, action="store_true",
                     help="open loops too: response times at 25 to 90 %% of capacity")  # fmt: skip
    how.add_argument("--no-control", action="store_true",
                     help="do not measure one server a second time (A/A)")  # fmt: skip
    how.add_argument("--sequential", common=True, action="store_true",
                     help="trials one after the other instead of servers that are interleaved")  # fmt: skip
    before_run.add_why(how)
    how.add_argument(
        "--resume", common=True, metavar="RUN", help="go on with a run, or a series, that was cut off"
    )
    how.add_argument("--secret", action="append", default=[], metavar="VALUE",
                     help="of --resume: what the record hides, a password, say; - reads lines from standard "
                     "input; repeatable")  # fmt: skip
    before_run.add_yes(how)
    before_run.add_cluster_flags(parser)
    before_run.add_quiet_flag(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--results", common=True, metavar="DIR", help="the folder of runs [./results]")
    output.add_argument(
        "--json", common=True, action="store_true", help="each whole run as JSON on standard output"
    )
    report_outputs.add_verbose(output)
    parser.examples(
        ("assay run franklin", "the study, on equal terms"),
        ("assay run franklin --quick", "a first look in one to two minutes"),
        ("assay run franklin --profile published", "as published, flaws included"),
        ("assay run heroes --profile both", "both, and what the flaws did to the ranking"),
        ("assay run franklin --server quotes/go --blocks 3", "one server, three trials"),
        ("assay run franklin --ray 10.0.0.1:6379", "servers and generators on the machines of a cluster"),
        ("assay run franklin --sequential", "each server alone, one trial after the other"),
        ("assay run --all", "every study, with a time estimate first"),
        ("assay run --resume latest", "go on where a run, or a series of runs, was cut off"),
    )


def run(args: argparse.Namespace) -> int:
    """Run or resume: one run, or a series of them."""
    from assay.core.settings import Settings

    before_run.check_cluster_flags(args)
    settings = Settings.resolve(results=args.results)
    report_outputs.attempt_folder(settings.results)
    if args.secret and not args.resume:
        raise InputError("--secret belongs to --resume", "leave it out")
    if args.resume:
        _refuse_with_resume(args)
        return _resume(args, settings)
    names = _names(args, settings)
    if len(names) == 1 and args.profile != "both":
        return _start(names[0], args, settings)
    from assay.cli import run_series

    if args.ray:
        raise InputError("--ray takes one study under one profile", "run them one after the other")
    if args.server and len(names) > 1:
        raise InputError("--server names servers of one study", "name one study, or leave --server out")
    profiles = ("fair", "published") if args.profile == "both" else (args.profile or "fair",)
    return run_series.start(names, profiles, _choices(args), settings, _shown(args))


def _names(args: argparse.Namespace, settings: Settings) -> list[str]:
    from assay.plan.study import list_studies
    from assay.plan.study.load import find_study

    known = list(dict.fromkeys(path.stem for path in list_studies(settings)))
    if args.all:
        if args.study:
            raise InputError(
                f"--all is every study: {args.study[0]!r} is one of them", "leave one of the two out"
            )
        if not known:
            raise InputError("there is no study here", "write one with `assay init NAME`")
        return known
    if not args.study:
        raise InputError("no study was named", f"one of: {', '.join(known) or 'there is no study here'}")
    names = list(dict.fromkeys(args.study))
    if len(names) > 1:
        for name in names:  # a slip in a name is told at once, not behind the runs before it
            if not find_study(name, settings).is_file():
                raise InputError(f"there is no study file {name}", "check the path")
    return names


def _choices(args: argparse.Namespace) -> Choices:
    from assay.model.design import Choices

    return Choices(
        profile=args.profile or "fair",
        quick=args.quick,
        blocks=args.blocks,
        seed=args.seed,
        servers=tuple(args.server),
        control=not args.no_control,
        latency=args.latency,
        interleave=not args.sequential,
        why=args.why,
    )


def _shown(args: argparse.Namespace) -> SeriesView:
    from assay.cli.run_series import SeriesView

    return SeriesView(
        as_json=args.json,
        verbose=args.verbose,
        check_quiet=lambda: before_run.wait_until_quiet(args),
        yes=args.yes,
    )


def _start(name: str, args: argparse.Namespace, settings: Settings) -> int:
    from assay.plan.study import load_study, resolve
    from assay.runner import consent, machine_lock

    study = resolve(load_study(name, settings), settings, _choices(args))
    consent.ask([study], settings, yes=args.yes)
    show = one_run.shown(as_json=args.json, verbose=args.verbose)
    with machine_lock(settings), before_run.somewhere(args, study, settings) as (study, where):
        before_run.wait_until_quiet(args)
        return one_run.begin(study, settings, show, where=where).code


def _resume(args: argparse.Namespace, settings: Settings) -> int:
    from assay import store
    from assay.model.design import CandidatesDesign
    from assay.plan.words.settle_trials import at_address
    from assay.runner import consent, machine_lock, resume

    series = store.find_series(settings.results, args.resume)
    if series is None:
        path = store.find(settings.results, args.resume, console.note)
        series = _unfinished(settings, store.load(path).header.series)
    if series is not None:
        from assay.cli import run_series

        return run_series.go_on(series, settings, _shown(args))
    _learn(args.secret)
    with machine_lock(settings), resume(path, settings) as resumed:
        consent.ask([resumed.resolved], settings, yes=args.yes, record=resumed.run.header)
        before_run.wait_until_quiet(args)
        design = resumed.run.header.design
        for candidate in design.candidates if isinstance(design, CandidatesDesign) else ():
            at_address(candidate)  # a record may name anybody's machine
        return one_run.go_on(resumed, settings, one_run.shown(as_json=args.json, verbose=args.verbose)).code


def _learn(secrets: Sequence[str]) -> None:
    """Know again what a record hides; "-" are the lines of standard input."""
    for word in secrets:
        for secret in sys.stdin.read().splitlines() if word == "-" else (word,):
            vault.give(secret)


def _unfinished(settings: Settings, series_id: str) -> Series | None:
    """The series of that id, if something of it is still to come."""
    from assay import store

    try:
        series = store.find_series(settings.results, series_id)
    except InputError as problem:
        console.note(f"assay: gone on with alone: {problem.message}")
        return None
    open_parts = [part for part in series.parts if part.state in ("to do", "begun")] if series else []
    return series if open_parts else None


def _refuse_with_resume(args: argparse.Namespace) -> None:
    """A resumed run is the run that it was: nothing of it can be chosen again."""
    chosen = (
        "study",
        "all",
        "profile",
        "quick",
        "blocks",
        "server",
        "latency",
        "no_control",
        "sequential",
        "why",
    )
    given = [name for name in chosen if getattr(args, name)]
    if args.seed is not None:
        given.append("seed")
    if given:
        raise InputError(f"--resume goes on with a run as it was: {given[0]!r} cannot change", "leave it out")
    if args.ray:
        raise InputError(
            "--resume goes on where the run was, and on a cluster not yet: '--ray' cannot be added",
            "leave it out, or make a new run",
        )
