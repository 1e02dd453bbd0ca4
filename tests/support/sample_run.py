"""Runs made by hand of real structures: known figures, so that every screen is known too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from sample_load import CREATED_NS as CREATED_NS
from sample_load import OPEN_PLAN as OPEN_PLAN
from sample_load import PLAN as PLAN
from sample_load import SECOND_NS as SECOND_NS
from sample_load import histogram as histogram
from sample_load import measurement as measurement

from assay.resolved import ResolvedRun
from assay.store.lines import seal
from assay.values.design import Choices, Figures, StudyDesign
from assay.values.estimate import ClaimVerdict, Compared, Estimate, Known, Ranked
from assay.values.finding import Finding, Severity, Subject
from assay.values.run import FORMAT, Environment, Header, Judgement, Run, TrialDone
from assay.values.trial import Case, ContractSeen, Failure, HostSeen, ServerSeen, Trial

CASES = (
    Case(
        id="quotes/go",
        server="quotes/go",
        variant="fair",
        workload="quote",
        load="c64",
        facts={"workers": 1, "request_log": False},
    ),
    Case(id="quotes/java-vertx", server="quotes/java-vertx", variant="fair", workload="quote", load="c64"),
    Case(
        id="quotes/ruby-sinatra", server="quotes/ruby-sinatra", variant="fair", workload="quote", load="c64"
    ),
    Case(id="quotes/crystal", server="quotes/crystal", variant="fair", workload="quote", load="c64"),
    Case(id="quotes/null", server="quotes/null", variant="", workload="quote", load="c64", role="ceiling"),
)
RATES = {
    "quotes/go": 55_100.0,
    "quotes/java-vertx": 61_200.0,
    "quotes/ruby-sinatra": 3_030.0,
    "quotes/null": 231_000.0,
}
MEMORY = {
    "quotes/go": 18_400_000,
    "quotes/java-vertx": 212_000_000,
    "quotes/ruby-sinatra": 64_000_000,
    "quotes/null": 1_900_000,
}
START_NS = {
    "quotes/go": 9_400_000,
    "quotes/java-vertx": 812_000_000,
    "quotes/ruby-sinatra": 1_320_000_000,
    "quotes/null": 1_100_000,
}


def trial(number: int, case: str, block: int) -> Trial:
    """The case's trial of a block; crystal was never built."""
    about: dict[str, Any] = {
        "number": number,
        "case": case,
        "block": block,
        "position": number % len(CASES),
        "started_at_unix_ns": CREATED_NS + number * 15 * SECOND_NS,
        "plan": PLAN,
    }
    if case not in RATES:
        log = "In src/server.cr:3:1\n\n 3 | requir \"http\"\n     ^-----\nError: undefined method 'requir'"
        return Trial(
            **about, failure=Failure(stage="build", reason="crystal build ended with status 1", log_tail=log)
        )
    per_s = RATES[case] * (1 + 0.01 * ((block * 7 + len(case)) % 5 - 2))
    return Trial(
        **about,
        measurement=measurement(per_s, failed=31 if case.endswith("sinatra") else 0, seed=number + 1),
        server=ServerSeen(
            version="1.0",
            pid=4242 + number,
            cpus=(1,),
            start_ns=START_NS[case],
            cpu_ns=9_800_000_000,
            cpu_share=0.98,
            peak_rss_bytes=MEMORY[case],
            threads=4,
        ),
        contract=ContractSeen(before=3, before_wrong=0, during=1200, during_wrong=0, after=3, after_wrong=0),
        host=HostSeen(load_average_1m=1.1, steal_share=0.001, client_cpus_idle_share=0.3, mhz=2900.0),
    )


def estimate(value: float, half: float, unit: str = "req/s") -> Estimate:
    """An estimate of five trials with a symmetric interval of `half` as a share."""
    low, high = value * (1 - half), value * (1 + half)
    return Estimate(value=value, low=low, high=high, n=5, unit=unit, method="t interval on trial values")


def finding(code: str, severity: Severity, case: str | None, **changes: object) -> Finding:
    """A finding with the words of a rule."""
    fields: dict[str, Any] = {
        "code": code,
        "severity": severity,
        "subject": Subject(case=case),
        "title": "measured window shorter than 10 s",
        "evidence": "the measured window was 5.0 s",
        "figures": {"window_s": 5.0},
        "meaning": "Slow things (garbage collection, timers, caches) may not have happened yet.",
        "remedy": "Measure for 10 s or longer: leave out --quick.",
        "source": "ours; SPEC and MLPerf ask for minutes",
    }
    return Finding(**(fields | changes))


FINDINGS = (
    finding("S7", "flagged", "quotes/go"),
    finding("S7", "flagged", "quotes/java-vertx"),
    finding("S7", "flagged", "quotes/ruby-sinatra"),
    finding(
        "W2",
        "flagged",
        "quotes/ruby-sinatra",
        title="requests failed",
        evidence="0.10 % of 30,331 requests failed, all of them connections reset",
        meaning="Part of the load was turned away, so the rest was served under less of it.",
        remedy="Read the server's log; raise its backlog or its workers.",
        source="SPECweb",
    ),
    finding(
        "S6",
        "note",
        None,
        title="the intervals could be narrower",
        evidence="half-widths reach 2.1 % of the mean",
        meaning="Small differences cannot be told apart.",
        remedy="23 blocks would bring them to 1 %.",
        source="pyperf",
    ),
)


def compared(a: str, b: str, ratio: float) -> Compared:
    """A pair whose order is shown."""
    found = estimate(ratio, 0.015, "ratio")
    return Compared(a=a, b=b, ratio=found, known=Known(low=found.low, high=found.high), shown=True)


def ranking() -> tuple[Ranked, ...]:
    """Places as the judgement gives them."""
    return (
        Ranked(
            case="quotes/java-vertx",
            tier=1,
            throughput=estimate(61_200, 0.012),
            relative_to_best=estimate(1, 0, "ratio"),
        ),
        Ranked(
            case="quotes/go",
            tier=2,
            throughput=estimate(55_100, 0.008),
            relative_to_best=estimate(0.9, 0.015, "ratio"),
        ),
        Ranked(
            case="quotes/ruby-sinatra",
            tier=3,
            throughput=estimate(3_030, 0.021),
            relative_to_best=estimate(0.0495, 0.02, "ratio"),
        ),
        Ranked(
            case="quotes/crystal",
            tier=None,
            throughput=None,
            relative_to_best=None,
            reason="no trial was measured",
        ),
        Ranked(
            case="quotes/null",
            tier=None,
            throughput=estimate(231_000, 0.005),
            relative_to_best=None,
            reason="ceiling",
        ),
    )


CLAIMS = (
    ClaimVerdict(
        claim="a",
        statement="Java/Vert.x beats Go",
        verdict="supported",
        published_ratio=1.25,
        measured=estimate(1.11, 0.015, "ratio"),
        reason="",
    ),
    ClaimVerdict(
        claim="b",
        statement="Go beats Ruby by 28",
        verdict="contradicted",
        published_ratio=28.0,
        measured=estimate(18.2, 0.02, "ratio"),
        reason="the ratio lies below the published one",
    ),
    ClaimVerdict(
        claim="c",
        statement="Both are an order of magnitude ahead of Ruby",
        verdict="inconclusive",
        published_ratio=None,
        measured=None,
        reason="supported in 1, inconclusive in 1 of 2 comparisons",
        parts=(
            ClaimVerdict(
                claim="c",
                statement="Java/Vert.x / Ruby",
                verdict="supported",
                published_ratio=35.0,
                measured=estimate(20.2, 0.02, "ratio"),
                reason="the interval 19.8 to 20.6 has the claimed direction",
            ),
            ClaimVerdict(
                claim="c",
                statement="start time, Go / Ruby",
                verdict="inconclusive",
                published_ratio=None,
                measured=None,
                reason="2 blocks hold both cases; 3 are needed",
            ),
        ),
    ),
)


def run(**changes: object) -> Run:
    """Three servers that differ, one that does not build, the ceiling; five blocks."""
    numbered = [(case.id, block) for block in range(5) for case in CASES]
    fields: dict[str, Any] = {
        "header": HEADER,
        "trials": tuple(trial(number, case, block) for number, (case, block) in enumerate(numbered)),
        "judgement": JUDGEMENT,
    }
    return Run(**(fields | changes))


def begun(made: ResolvedRun, trials: Sequence[Trial] = ()) -> Run:
    """A run of what was resolved, as far as these trials."""
    cases = tuple(case.case for case in made.cases)
    design: Any = made.design
    header = msgspec.structs.replace(HEADER, study_name=made.name, design=design, cases=cases)
    return Run(header=header, trials=tuple(trials), judgement=None)


def redesigned(run: Run, **changes: object) -> Run:
    """The run of a study whose design says something else."""
    assert run.header.study is not None
    design = msgspec.structs.replace(run.header.study, **changes)
    return msgspec.structs.replace(run, header=msgspec.structs.replace(run.header, design=design))


def under(profile: str, run: Run) -> Run:
    """The run under another profile of its study."""
    return redesigned(run, choices=Choices(profile=profile))


def stored(run: Run, results: Path) -> Path:
    """The run's file in a results folder, as the product stores it."""
    path = results / run.header.run_id / "run.jsonl"
    path.parent.mkdir(parents=True)
    lines = [seal(run.header), *(seal(TrialDone(trial=trial)) for trial in run.trials)]
    if run.judgement:
        lines.append(seal(msgspec.structs.replace(run.judgement, trials=len(run.trials))))
    path.write_bytes(b"".join(lines))
    return path


HEADER = Header(
    format=FORMAT,
    run_id="franklin-20251121-080000-3f2a",
    created_unix_ns=CREATED_NS,
    command=("assay", "run", "franklin"),
    study_name="franklin",
    design=StudyDesign(
        title="A random quote in Ruby, Go and Java",
        question="How do idiomatic servers in three languages compare on a trivial dynamic response?",
        seed=42,
        blocks=5,
        figures={
            "quotes/go": (Figures(throughput_per_s=84765.94, mean_ms=2.81, bytes_per_response=180),),
            "quotes/ruby-sinatra": (
                Figures(throughput_per_s=3025.77, failed=20167, note="22 % of the requests"),
            ),
        },
    ),
    cases=CASES,
    environment=Environment(
        machine_id="0f3c",
        hostname="bench",
        os="Debian GNU/Linux 12",
        kernel="6.1.0",
        cpu_model="AMD EPYC 7B13",
        cores=2,
        memory_bytes=8_000_000_000,
        governor=None,
        descriptor_limit=1_048_576,
        client_cpus=(0,),
        server_cpus=(1,),
        assay_version="0.1.0",
        git_commit="0123abc",
        tool_versions={"go": "1.26", "java": "17.0.9", "ruby": "3.1.2"},
    ),
)
JUDGEMENT = Judgement(
    judged_unix_ns=CREATED_NS + 900 * SECOND_NS,
    assay_version="0.1.0",
    complete=True,
    ranking=ranking(),
    claims=CLAIMS,
    findings=FINDINGS,
    hallmark=False,
    comparisons=(
        compared("quotes/java-vertx", "quotes/go", 1.11),
        compared("quotes/java-vertx", "quotes/ruby-sinatra", 20.2),
        compared("quotes/go", "quotes/ruby-sinatra", 18.2),
    ),
)
