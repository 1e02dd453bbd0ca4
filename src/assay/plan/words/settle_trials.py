"""From words to a settled comparison or search: candidates at their addresses, loads, and a budget."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from assay.core import credentials
from assay.core.errors import InputError
from assay.core.settings import working_folder
from assay.engine import driver, target_policy
from assay.model.design import Bounds, Candidate, CandidatesDesign, Commands, Terms, WarmUp
from assay.model.plan import Closed, StopAfter
from assay.plan.next.comparison import pilot_ns
from assay.plan.next.warming import LEAST_NS
from assay.plan.resolved import ResolvedRun
from assay.plan.words import address, drafts
from assay.plan.words.case import Scan, candidates_of, cores_for, resolve
from assay.plan.words.load_plan import DraftedLoad
from assay.plan.words.settle import hidden_load, named
from assay.verdict.objective import Objective

DEFAULT_URL = "http://127.0.0.1:{port}/"


class SettledTrials(msgspec.Struct, frozen=True):
    """A run of candidates with nothing left to decide, and the load that each of them is offered."""

    run: ResolvedRun
    load: DraftedLoad


class AskedTrials(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison and a search are asked alike. `load` are values by the names of their flags.

    `measure_ns` is how long a trial measures, None where that depends on what is compared.
    """

    load: Mapping[str, Any] = msgspec.field(default_factory=dict)
    measure_ns: int | None = None
    warm_up_ns: int
    ready_timeout_ns: int = 30_000_000_000


class AskedComparison(AskedTrials, frozen=True, kw_only=True):
    """What `assay versus` is asked: commands and URLs, until when, and how."""

    candidates: Sequence[str]
    names: Sequence[str] = ()
    scans: Sequence[Scan] = ()
    url: str = DEFAULT_URL
    warm_up_ns: int = 10_000_000_000
    budget_ns: int | None = None
    margin: float = 0.02
    control: bool = True
    unlike: bool = False
    rank: bool = False
    slice_ns: int | None = None
    interleave: bool = True
    fail_if_slower: float | None = None
    fail_if_unsure: bool = False
    why: bool = False
    setup: str = ""
    prepare: str = ""
    cleanup: str = ""


class AskedSearch(AskedTrials, frozen=True, kw_only=True):
    """What `assay capacity` is asked: a server, an objective, and between which rates."""

    objective: Objective
    url: str = ""
    command: str = ""
    name: str = ""
    warm_up_ns: int = 1_000_000_000
    measure_ns: int = 3_000_000_000
    lowest_per_s: float | None = None
    highest_per_s: float | None = None
    resolution: float = 0.05
    budget_ns: int = 240_000_000_000
    max_connections: int | None = None


def comparison(words: AskedComparison) -> SettledTrials:
    """Everything settled; InputError where that cannot be a comparison."""
    given = tuple(map(credentials.hidden, words.candidates))
    url = credentials.hidden_url(words.url)
    candidates = tuple(map(at_address, candidates_of(given, words.names, words.scans)))
    credentials.check_names(candidate.name for candidate in candidates)
    _check_comparison(words, candidates)
    interleave = (
        drafts.interleave_of(candidates, words.slice_ns, words.fail_if_slower) if words.interleave else None
    )
    terms = _terms(words, url)
    warm_up = WarmUp(min_ns=min(LEAST_NS, words.warm_up_ns), max_ns=words.warm_up_ns)
    entries = len(candidates) + words.control
    measure_ns = words.measure_ns or drafts.usual_measure_ns(interleave, words.budget_ns, entries, warm_up)
    load = _load(words, candidates, url, measure_ns)
    pilots_ns = entries * pilot_ns(interleave)
    budget_ns, warm_up = drafts.affordable(
        words.budget_ns, entries, measure_ns, warm_up, pilots_ns, interleave
    )
    design = drafts.comparison(
        candidates,
        terms,
        load.plan,
        warm_up,
        measure_ns=measure_ns,
        budget_ns=budget_ns,
        margin=words.margin,
        seed=_seed(words),
        control=words.control,
        unlike_allowed=words.unlike,
        rank_all=words.rank,
        slower_allowed=words.fail_if_slower,
        unsure_fails=words.fail_if_unsure,
        why=words.why,
        interleave=drafts.within(interleave, budget_ns, entries),
        commands=Commands(
            setup=credentials.hidden(words.setup),
            prepare=credentials.hidden(words.prepare),
            cleanup=credentials.hidden(words.cleanup),
        ),
    )
    return _settled("versus", design, load)


def _check_comparison(words: AskedComparison, candidates: Sequence[Candidate]) -> None:
    """InputError where there are too few candidates, or something is asked of a gate that is none."""
    if len(candidates) < 2:
        said = f"only {candidates[0].name!r} was given" if candidates else "nothing was given to compare"
        raise InputError(said, "give two commands or URLs, or one command with a --scan")
    if words.fail_if_slower is not None and len(candidates) > 2:
        said = (
            f"--fail-if-slower holds the second candidate against the first, and {len(candidates)} were given"
        )
        raise InputError(said, "give BASE and HEAD alone")
    if words.fail_if_unsure and words.fail_if_slower is None:
        said = "--fail-if-unsure is about a limit, and none was given"
        raise InputError(said, "add --fail-if-slower SHARE")


def search(words: AskedSearch) -> SettledTrials:
    """Everything settled; InputError where that cannot be a search."""
    if not words.url and not words.command:
        raise InputError("no server was named", "give a URL, or --command")
    url = credentials.hidden_url(address.full_url(words.url) if words.url else DEFAULT_URL)
    command = credentials.hidden(words.command)
    given = Candidate(
        name=words.name or " ".join(command.split()) or url,
        command=command,
        url="" if words.command else url,
    )
    credentials.check_names([given.name])
    candidate = at_address(given)
    started_at = url if words.command else DEFAULT_URL
    load = _load(words, (candidate,), started_at, words.measure_ns)
    terms = _terms(words, started_at)
    lowest, highest = words.lowest_per_s, words.highest_per_s
    if lowest and highest and lowest >= highest:
        raise InputError(f"--from {lowest:g} is not below --to {highest:g}", "give a lower --from")
    design = drafts.search(
        candidate,
        terms,
        load.plan,
        WarmUp(min_ns=words.warm_up_ns, max_ns=words.warm_up_ns),
        bounds=Bounds(
            objective=words.objective.text,
            lowest_per_s=lowest or 0.0,
            highest_per_s=highest or 0.0,
            resolution=words.resolution,
        ),
        measure_ns=words.measure_ns,
        budget_ns=words.budget_ns,
        seed=_seed(words),
        max_connections=words.max_connections,
    )
    return _settled("capacity", design, load)


def _settled(name: str, design: CandidatesDesign, load: DraftedLoad) -> SettledTrials:
    return SettledTrials(resolve(name, design, cores_for(design.candidates)), load)


def _load(words: AskedTrials, candidates: Sequence[Candidate], url: str, measure_ns: int) -> DraftedLoad:
    """What each of them is offered, at `url` of those to start. InputError where values exclude others."""
    urls = [candidate.url or url for candidate in candidates]
    behind_tls = any(one.lower().startswith("https:") for one in urls)
    drafted = hidden_load("https://127.0.0.1/" if behind_tls else "http://127.0.0.1/", words.load)
    plan = drafted.plan
    assert isinstance(plan.load, Closed)  # no value for a rate is taken
    threads = words.load.get("threads") or cores_for(candidates).client_cores
    threads = min(threads, plan.load.connections)
    drafted = replace(
        drafted, plan=msgspec.structs.replace(plan, threads=threads, stop=StopAfter(ns=measure_ns))
    )
    with named(drafted):
        driver.check(drafted.plan)
    return drafted


def _terms(words: AskedTrials, url: str) -> Terms:
    """How servers are had. InputError where `url` is none."""
    if not re.match(r"https?://", url):
        raise InputError(f"{url!r} is not a URL", f"write it like {DEFAULT_URL}")
    return Terms(url=url, folder=str(working_folder()), ready_timeout_s=words.ready_timeout_ns / 1e9)


def _seed(words: AskedTrials) -> int:
    """The seed that was given, or one that is drawn."""
    seed: int = words.load["seed"] if "seed" in words.load else secrets.randbelow(2**31)
    return seed


def at_address(candidate: Candidate) -> Candidate:
    """The candidate with the address of its URL, which is looked up only here; one to start stays as it is.

    Other people's machines are not loaded for half an hour on a word: InputError for one of theirs.
    """
    if not candidate.url:
        return candidate
    found = address.resolve(candidate.url)
    outside = target_policy.outsiders(endpoint.ip for endpoint in found)
    if outside:
        said = f"{candidate.url} is {outside[0]}, neither loopback nor private"
        raise InputError(said, "compare and search on machines of your own; `assay load` asks")
    return msgspec.structs.replace(candidate, address=target_policy.first_that_answers(found).ip)
