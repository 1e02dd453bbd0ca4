"""From a stored run to its judgement: every rule over everything it looks at, then ranks and claims."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from assay.core.settings import version
from assay.model.account import TimeAccount
from assay.model.design import ComparisonDesign
from assay.model.estimate import Ranked
from assay.model.finding import Finding, Subject
from assay.model.measurement import Measurement
from assay.model.plan import LoadPlan
from assay.model.run import Judgement, Run
from assay.model.trial import GeneratorSeen, HostSeen, Link
from assay.verdict.bottleneck import shares_of
from assay.verdict.conclusions import judge_claim, rank
from assay.verdict.effects import invalid, minimum_effect
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.load import Machine
from assay.verdict.objective import objectives
from assay.verdict.rule import (
    GRAVEST,
    CaseRule,
    Hit,
    LoadRule,
    PairRule,
    Rule,
    RunRule,
    Thresholds,
    TrialsRule,
    hit_in_search,
    hit_of,
)
from assay.verdict.rules import RULES, RunThresholds
from assay.verdict.see import see_load, see_parts
from assay.verdict.see_runs import blocks_of, claims_of, even_load_ns, load_ns, see_run, tried_in

ODD_SHARE = 0.2
"""Share of a case's trials that a passing disturbance may hit and still be a note: its weight is in
the interval already, and dropping those trials would be worse."""


def judge(run: Run, judged_unix_ns: int | None = None) -> Judgement:
    """The verdict over the run's trials so far, from its record alone.

    Raises InputError where the record's own claims or thresholds are not what they should be.
    """
    seen = see_run(run)
    findings = (*find(seen), *_unknown(run.judgement))
    order = rank(seen, findings)
    claims = tuple(judge_claim(claim, seen, findings) for claim in claims_of(run.header))
    failed = any(trial.failure is not None for trial in run.trials)
    blocks = blocks_of(run)
    if blocks is None:
        tried = Counter(trial.block for trial in run.trials)
        whole = {block.block for block in run.blocks}  # with all that took part
        complete = bool(tried) and all(
            block in whole or cases == len(run.header.cases) for block, cases in tried.items()
        )
    else:
        complete = tried_in(run, blocks)
    left = seen.leaving
    return Judgement(
        judged_unix_ns=time.time_ns() if judged_unix_ns is None else judged_unix_ns,
        assay_version=version(),
        complete=complete,
        ranking=_ranking(run, seen, findings, order.ranking),
        claims=claims,
        findings=findings,
        clean=complete and not failed and all(finding.severity == "note" for finding in findings),
        trials=len(run.trials),
        damaged_lines=len(run.damage),
        comparisons=order.comparisons,
        minimum_effect=minimum_effect(findings),
        load_ns=load_ns(run) if left else 0,
        even_load_ns=even_load_ns(run) if left else 0,
    )


def judged(run: Run) -> Run:
    """The run with a judgement: one that was cut off has none, or one of fewer trials."""
    return run if run.judgement is not None else msgspec.structs.replace(run, judgement=judge(run))


def _unknown(before: Judgement | None) -> tuple[Finding, ...]:
    """What rules that this version does not have found: shown as it was, its effect not known."""
    return tuple(
        msgspec.structs.replace(
            finding,
            on_throughput="unknown",
            on_times="unknown",
            on_comparison=None,
            because="a rule that this version does not have spoke",
        )
        for finding in (before.findings if before else ())
        if finding.code not in RULES
    )


def _ranking(
    run: Run, seen: RunSeen, findings: tuple[Finding, ...], places: tuple[Ranked, ...]
) -> tuple[Ranked, ...]:
    """The places; what a search found stands where other runs have the mean of their trials, and rests on
    its times."""
    searched = objectives(run.header)
    capacities = {case.case.id: case.capacity for case in seen.cases}
    reason = "a search for a capacity ranks nothing"
    return tuple(
        msgspec.structs.replace(
            place,
            throughput=capacities[place.case],
            reason=reason,
            invalid=invalid(findings, place.case, "times"),
            known=None,
        )
        if place.case in searched
        else place
        for place in places
    )


def judge_load(
    plan: LoadPlan,
    measurement: Measurement,
    *,
    cores: int,
    same_machine: bool,
    host: HostSeen | None = None,
    generators: tuple[GeneratorSeen, ...] = (),
    account: TimeAccount | None = None,
) -> tuple[Finding, ...]:
    """The findings about one load of `assay load`, gravest first.

    `cores` are those of this machine; `same_machine` says whether the server runs on it.
    """
    link = Link(same_machine=same_machine)
    served = account.of("server") if account else None
    own = served.cpus if served is not None and served.role == "server" else ()
    machine = Machine(cores=cores, client_cpus=plan.cpus, server_cpus=own, link=link, host=host)
    parts = see_parts(plan, generators, account=account)
    seen = see_load(plan, measurement, machine)
    load = replace(seen, follows=True, generators=generators, parts=parts, account=account)
    busy, findings = shares_of(load).works, []
    for rule in RULES.values():
        hit = hit_of(rule, load, rule.defaults) if isinstance(rule, LoadRule) else None
        if isinstance(rule, TrialsRule):
            hit = rule.check((load,), rule.defaults)
        if hit is not None:
            findings.append(rule.finding(Subject(), hit, busy_share=busy))
    return _sorted(findings)


def find(run: RunSeen, rules: Collection[Rule] = RULES.values()) -> tuple[Finding, ...]:
    """Every rule, or these, over everything it looks at, gravest findings first.

    Those that ask what the others made void come last, and stand in the registry's order all the same.
    """
    thresholds = RunThresholds(run.header.design.rules)
    made: dict[str, list[Finding]] = {}
    for rule in sorted(rules, key=lambda rule: rule.last):
        if rule.last:
            known = [finding for each in made.values() for finding in each]
            void = frozenset(seen.case.id for seen in run.cases if invalid(known, seen.case.id))
            run = replace(run, void=void)
        made[rule.code] = [
            _remarked(finding, thresholds.remark(rule)) for finding in _apply(rule, run, thresholds)
        ]
    return _sorted(finding for rule in rules for finding in made[rule.code])


def _apply(rule: Rule, run: RunSeen, settings: RunThresholds) -> Iterator[Finding]:
    thresholds = settings.of(rule)
    match rule:
        case LoadRule():
            return _apply_to_loads(rule, run, thresholds)
        case CaseRule() | TrialsRule():
            return _apply_to_cases(rule, run, thresholds)
        case PairRule():
            return _apply_to_pairs(rule, run, thresholds)
        case RunRule():
            busy = {seen.case.id: seen.server_busy_share for seen in run.cases}
            return (
                rule.finding(subject, hit, busy_share=busy.get(subject.case or ""))
                for subject, hit in rule.check(run, thresholds)
            )
    raise TypeError(f"{rule.code} is of no known kind")


def _apply_to_loads(rule: LoadRule, run: RunSeen, thresholds: Thresholds) -> Iterator[Finding]:
    findings: list[Finding] = []
    for seen in run.cases:
        if seen.case.role not in rule.exempt:
            loads = (*seen.loads, *seen.missed) if rule.of_misses else seen.loads
            hits = [hit_in_search(rule, load, thresholds) for load in loads]
            findings.extend(_merged(rule, seen, hits))
    yield from _shared(
        rule, findings, {seen.case.id: seen.name for seen in run.cases if seen.loads or seen.missed}
    )


def _apply_to_cases(rule: CaseRule | TrialsRule, run: RunSeen, thresholds: Thresholds) -> Iterator[Finding]:
    for seen in run.cases:
        if seen.case.role in rule.exempt:
            continue
        if isinstance(rule, TrialsRule):
            hit = rule.check(seen.loads, thresholds)
        else:
            hit = rule.check(seen, run, thresholds)
        if hit is not None:
            yield rule.finding(Subject(case=seen.case.id), hit, len(seen.loads), seen.server_busy_share)


def _apply_to_pairs(rule: PairRule, run: RunSeen, thresholds: Thresholds) -> Iterator[Finding]:
    design = run.header.design
    allowed = rule.of_answers and isinstance(design, ComparisonDesign) and design.unlike_allowed
    for group in run.groups.values():
        for a, b in itertools.combinations([seen for seen in group if seen.candidate], 2):
            hit = rule.check(a, b, thresholds)
            if hit is not None and allowed:
                said = f"{hit.evidence}; compared all the same (--unlike)"
                hit = msgspec.structs.replace(hit, severity="note", evidence=said)
            if hit is not None:
                yield rule.finding(Subject(case=a.case.id, other_case=b.case.id), hit)


def _merged(rule: Rule, seen: CaseSeen, answers: list[Hit | None]) -> Iterator[Finding]:
    """One finding for all trials of a case: the gravest speaks, the count is said."""
    hits = [hit for hit in answers if hit is not None]
    if not hits:
        return
    worst = max(hits, key=lambda hit: (GRAVEST[hit.severity], hit.gravity))
    if rule.passing and len(hits) <= ODD_SHARE * len(answers):
        worst = msgspec.structs.replace(worst, severity="note")
    finding = rule.finding(Subject(case=seen.case.id), worst, len(hits), seen.server_busy_share)
    if len(answers) > 1:
        every = "every trial" if len(hits) == len(answers) else f"{len(hits)} of {len(answers)} trials"
        finding = _remarked(
            finding, f" (in {every}; this is the worst)" if len(hits) > 1 else f" (in {every})"
        )
    yield finding


def _shared(rule: Rule, findings: list[Finding], names: Mapping[str, str]) -> list[Finding]:
    """A shared cause that meets every case alike is said once, by its worst case."""
    severities = {finding.severity for finding in findings}
    cases = len(names)
    if not rule.shared or cases < 2 or len(findings) < cases or len(severities) > 1:
        return findings
    most = max(findings, key=lambda finding: finding.trials)
    evidence = f"all {cases} cases, {names[most.subject.case or '']} for example: {most.evidence}"
    # What bounds one case from above need not hold of another: the loosest holds of all.
    bounds = [finding.at_most_times for finding in findings]
    known = [bound for bound in bounds if bound is not None]
    loosest = max(known) if len(known) == len(bounds) else None
    return [msgspec.structs.replace(most, subject=Subject(), evidence=evidence, at_most_times=loosest)]


def _remarked(finding: Finding, remark: str) -> Finding:
    return msgspec.structs.replace(finding, evidence=finding.evidence + remark) if remark else finding


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Gravest first; within a severity in the order of the registry."""
    return tuple(sorted(findings, key=lambda finding: -GRAVEST[finding.severity]))
