"""What `assay versus` and `assay capacity` share: how a server is had, and what it is asked."""

from __future__ import annotations

import argparse
import re
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.cli import before_run, one_run, report_outputs, words
from assay.core.errors import InputError

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.model.design import Candidate, CandidatesDesign, Terms
    from assay.model.plan import LoadPlan

DEFAULT_URL = "http://127.0.0.1:{port}/"
DEFAULT_READY_NS = 30_000_000_000
_LOAD_FLAGS = frozenset(
    {"connections", "threads", "method", "header", "body", "body_file", "expect_status", "accept_encoding",
     "user", "bearer", "timeout", "no_keep_alive", "no_resend", "http2", "http3", "http", "streams", "seed",
     "cacert", "cert", "key", "sni", "tls_min", "tls_max", "insecure", "no_resumption"}
)  # fmt: skip
"""Those of `assay load` that make sense for every trial of a comparison."""


def add_to(
    parser: Parser,
    *,
    duration: str,
    warm_up: str,
    warm_up_help: str,
    connections: bool = True,
    duration_depends: str = "",
) -> None:
    """Add them; `duration` and `warm_up` are how long a trial takes unless it is said. Where the duration
    depends on what is compared, `duration_depends` says how, and it is None unless it is given."""
    from assay.cli import load_flags

    before_run.add_cluster_flags(parser)
    before_run.add_quiet_flag(parser)
    start = parser.add_argument_group("the servers")
    start.add_argument("--ready-timeout", type=words.time_ns, default=DEFAULT_READY_NS, metavar="TIME",
                       help="how long a server may take to answer rightly [30s]")  # fmt: skip
    how = parser.add_argument_group("each trial")
    how.add_argument("-d", "--duration", common=True, dest="measure_ns", type=words.time_ns, metavar="TIME",
                     default=None if duration_depends else words.time_ns(duration),
                     help=f"measure for so long [{duration}{duration_depends}]")  # fmt: skip
    how.add_argument("--warm-up", dest="warm_up_ns", type=_time_or_none, metavar="TIME",
                     default=words.time_ns(warm_up), help=f"{warm_up_help} [{warm_up}]")  # fmt: skip
    load_flags.add_some(parser, _LOAD_FLAGS if connections else _LOAD_FLAGS - {"connections"})
    output = parser.add_argument_group("output")
    output.add_argument("--results", metavar="DIR", help="the folder of runs [./results]")
    output.add_argument(
        "--json", common=True, action="store_true", help="the whole run as JSON on standard output"
    )
    report_outputs.add_verbose(output, common=False)
    report_outputs.add_to(parser)


def plan_from(args: argparse.Namespace, candidates: Sequence[Candidate], url: str) -> LoadPlan:
    """What the flags ask of each of them, at `url` of those to start. InputError where they exclude each
    other."""
    import msgspec

    from assay.cli import load_flags, plan_words
    from assay.core import credentials
    from assay.engine import driver
    from assay.model.plan import Closed, StopAfter
    from assay.plan.words.case import cores_for

    urls = [candidate.url or url for candidate in candidates]
    behind_tls = next((one for one in urls if one.lower().startswith("https:")), None)
    stated = argparse.Namespace(
        **{**vars(args), "url": "https://127.0.0.1/" if behind_tls else "http://127.0.0.1/"}
    )
    plan = credentials.hidden_plan(load_flags.plan_from(stated))
    assert isinstance(plan.load, Closed)  # no flag for a rate is offered
    threads = args.threads if "threads" in args else cores_for(candidates).client_cores
    threads = min(threads, plan.load.connections)
    plan = msgspec.structs.replace(plan, threads=threads, stop=StopAfter(ns=args.measure_ns))
    with plan_words.typed(plan, args):
        driver.check(plan)
    return plan


def terms_from(args: argparse.Namespace, url: str) -> Terms:
    """How the flags say that servers are had. InputError where `url` is none."""
    from assay.core.settings import working_folder
    from assay.model.design import Terms

    if not re.match(r"https?://", url):
        raise InputError(f"{url!r} is not a URL", f"write it like {DEFAULT_URL}")
    return Terms(url=url, folder=str(working_folder()), ready_timeout_s=args.ready_timeout / 1e9)


def seed_from(args: argparse.Namespace) -> int:
    """The seed that was given, or one that is drawn."""
    return args.seed if "seed" in args else secrets.randbelow(2**31)


def carry_out(name: str, design: CandidatesDesign, args: argparse.Namespace) -> int:
    """Run it, show what came of it, and write what was asked for."""
    from assay.cli import plan_words
    from assay.core.settings import Settings
    from assay.plan.words.case import cores_for, resolve
    from assay.runner import machine_lock

    settings = Settings.resolve(results=args.results)
    report_outputs.attempt(args, settings.results)
    resolved = resolve(name, design, cores_for(design.candidates))
    show = one_run.shown(
        as_json=args.json,
        verbose=args.verbose,
        write=lambda run: report_outputs.write_all(run, None, args),
        silent=report_outputs.takes_standard_output(args),
    )
    with machine_lock(settings), before_run.somewhere(args, resolved, settings) as (resolved, where):
        before_run.wait_until_quiet(args)
        with plan_words.typed(resolved.cases[0].plan, args):
            return one_run.begin(resolved, settings, show, where=where).code


def at_address(candidate: Candidate) -> Candidate:
    """The candidate with the address of its URL, which is looked up only here; one to start stays as it is.

    Other people's machines are not loaded for half an hour on a word: InputError for one of theirs.
    """
    import msgspec

    from assay.cli import plan_words
    from assay.engine import target_policy

    if not candidate.url:
        return candidate
    found = plan_words.resolve(candidate.url)
    outside = target_policy.outsiders(endpoint.ip for endpoint in found)
    if outside:
        said = f"{candidate.url} is {outside[0]}, neither loopback nor private"
        raise InputError(said, "compare and search on machines of your own; `assay load` asks")
    return msgspec.structs.replace(candidate, address=target_policy.first_that_answers(found).ip)


def share(word: str) -> float:
    """A share above zero: 2%, 0.5%, 0.02."""
    from assay.cli.compare import share as any_share

    found = any_share(word)
    if not found:
        raise argparse.ArgumentTypeError(f"{word!r} is not above zero")
    return found


def _time_or_none(word: str) -> int:
    return 0 if word in ("0", "0s") else words.time_ns(word)
