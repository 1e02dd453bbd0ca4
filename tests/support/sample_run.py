"""Runs made by hand of real structures: known figures, so that every screen is known too."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from sample_load import CREATED_NS as CREATED_NS
from sample_load import OPEN_PLAN as OPEN_PLAN
from sample_load import PLAN as PLAN
from sample_load import SECOND_NS as SECOND_NS
from sample_load import histogram as histogram
from sample_load import measurement as measurement
from sample_load import whole as whole

from assay.model.design import Choices, PublishedFigures, StudyDesign
from assay.model.estimate import Estimate
from assay.model.finding import Claim, Comparison, Finding, Severity, Subject
from assay.model.run import FORMAT, Environment, Header, Judgement, Run, TrialDone
from assay.model.trial import Case, ContractSeen, Failure, HostSeen, ServerSeen, Trial
from assay.plan.resolved import ResolvedRun
from assay.store.lines import Line, LinePlace, seal
from assay.verdict import judge

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


_CONTRACT = ContractSeen(before=3, before_wrong=0, during=1200, during_wrong=0, after=3, after_wrong=0)


def trial(number: int, case: str, block: int, rates: Mapping[str, float] = RATES) -> Trial:
    """The case's trial of a block; crystal was never built."""
    about: dict[str, Any] = {
        "number": number,
        "case": case,
        "block": block,
        "position": number % len(CASES),
        "started_at_unix_ns": CREATED_NS + number * 15 * SECOND_NS,
        "plan": msgspec.structs.replace(PLAN, cpus=(0,)),
    }
    if case not in rates:
        log = "In src/server.cr:3:1\n\n 3 | requir \"http\"\n     ^-----\nError: undefined method 'requir'"
        return Trial(
            **about, failure=Failure(stage="build", reason="crystal build ended with status 1", log_tail=log)
        )
    per_s = rates[case] * (1 + 0.01 * ((block * (7 + len(case) % 3) + len(case)) % 5 - 2))
    return Trial(
        **about,
        measurement=whole(per_s, failed=31 if case.endswith("sinatra") else 0, seed=number + 1),
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
        contract=_CONTRACT,
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


CLAIMS = (
    Claim(
        id="a",
        statement="Java/Vert.x beats Go",
        comparisons=(Comparison(a="quotes/java-vertx", b="quotes/go", published_ratio=1.25),),
    ),
    Claim(
        id="b",
        statement="Go beats Ruby by 28",
        comparisons=(Comparison(a="quotes/go", b="quotes/ruby-sinatra", published_ratio=28.0),),
    ),
    Claim(
        id="c",
        statement="Java and Crystal are an order of magnitude ahead of Ruby, and Go starts faster",
        comparisons=(
            Comparison(a="quotes/java-vertx", b="quotes/ruby-sinatra", published_ratio=35.0),
            Comparison(a="quotes/crystal", b="quotes/ruby-sinatra"),
            Comparison(metric="start_time", a="quotes/go", b="quotes/ruby-sinatra", relation="less"),
        ),
    ),
)


def run(**changes: object) -> Run:
    """Three servers that differ, one that does not build, the ceiling; five blocks, and their judgement."""
    fields: dict[str, Any] = {"header": HEADER, "trials": trials(), "judgement": judgement()}
    return Run(**(fields | changes))


def trials(blocks: int = 5, **per_s: float) -> tuple[Trial, ...]:
    """Every case once a block; some servers of the entry "quotes" at other rates."""
    numbered = [(case.id, block) for block in range(blocks) for case in CASES]
    rates = RATES | {f"quotes/{name}": rate for name, rate in per_s.items()}
    return tuple(trial(number, case, block, rates) for number, (case, block) in enumerate(numbered))


def judged(run: Run) -> Run:
    """The run as this version judges it."""
    made = judge(run, CREATED_NS + 900 * SECOND_NS)
    return msgspec.structs.replace(run, judgement=msgspec.structs.replace(made, assay_version="0.1.0"))


@functools.cache
def judgement() -> Judgement:
    """What the verdict says of the sample."""
    made = judged(Run(header=HEADER, trials=trials(), judgement=None)).judgement
    assert made is not None  # it was just made
    return made


def with_wrong_answers(case: str, example: str = "no quote") -> Run:
    """The sample, where one case's answers fail their contract before the load."""
    wrong = msgspec.structs.replace(_CONTRACT, before_wrong=1, examples=(example,))
    made = tuple(
        msgspec.structs.replace(one, contract=wrong) if one.case == case else one for one in trials()
    )
    return judged(Run(header=HEADER, trials=made, judgement=None))


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
    lines: list[Line] = [run.header, *(TrialDone(trial=trial) for trial in run.trials)]
    if run.judgement:
        lines.append(msgspec.structs.replace(run.judgement, trials=len(run.trials)))
    path.write_bytes(sealed(run.header.run_id, lines))
    return path


def sealed(run_id: str, lines: Sequence[Line]) -> bytes:
    """Lines as the record of that run holds them."""
    return b"".join(seal(line, LinePlace(run_id, number)) for number, line in enumerate(lines, start=1))


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
            "quotes/go": (PublishedFigures(throughput_per_s=84765.94, mean_ms=2.81, bytes_per_response=180),),
            "quotes/ruby-sinatra": (
                PublishedFigures(throughput_per_s=3025.77, failed=20167, note="22 % of the requests"),
            ),
        },
        claims=CLAIMS,
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
