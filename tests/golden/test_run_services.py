"""What a database took beside the servers, apart from their own share, in each form of the report."""

from __future__ import annotations

import sample_run
from msgspec.structs import replace
from test_run_output import Golden, rendered

from assay.model.run import Run
from assay.model.trial import ServiceSeen
from assay.report import markdown, pages, terminal
from assay.report.document import Table
from assay.report.model.followers import apart
from assay.report.model.rows import sections
from assay.report.model.run_document import document


def with_database(*servers: str) -> Run:
    """A run where these servers ask a database: half of the core in the first block, then a quarter."""
    run = sample_run.run()
    trials = tuple(
        replace(trial, services=(seen(0.5 if trial.block == 0 else 0.25, trial.block),))
        if trial.case in servers
        else trial
        for trial in run.trials
    )
    return replace(run, trials=trials)


def seen(share: float, block: int) -> ServiceSeen:
    return ServiceSeen(
        name="postgres",
        version="PostgreSQL 15.18",
        cpus=(1,),
        cpu_ns=int(share * 10e9),
        cpu_share=share,
        memory_bytes=(200 + block) * 10**6,
        pages_shared_out=True,
    )


def services(run: Run) -> list[Table]:
    _, tables = apart(sections(run))
    return [table for table in tables if table.title.startswith("Services")]


def test_a_service_is_told_by_the_server_that_asks_it() -> None:
    [table] = services(with_database("quotes/go", "quotes/ruby-sinatra"))
    assert table.title == "Services"
    assert [tuple(cell.text for cell in line.cells) for line in table.lines] == [
        ("quotes/go", "postgres", "30 %", "204 MB", "PostgreSQL 15.18"),
        ("quotes/ruby-sinatra", "postgres", "30 %", "204 MB", "PostgreSQL 15.18"),
    ]


def test_of_a_service_that_nobody_could_look_at_in_time_no_share_is_told() -> None:
    run = with_database("quotes/go")
    unknown = seen(0.5, 0).using(None, 10**10)
    known = [
        replace(trial, services=(unknown,) if trial.block == 0 else trial.services)
        for trial in run.trials
        if trial.services
    ]
    [table] = services(replace(run, trials=tuple(known)))
    assert table.texts("CPU") == ("25 %",)
    [table] = services(replace(run, trials=tuple(replace(trial, services=(unknown,)) for trial in known)))
    assert table.texts("CPU") == ()  # a column in which nothing is known is not there


def test_a_run_without_services_has_no_such_table() -> None:
    assert services(sample_run.run()) == []


def test_every_form_of_the_report_shows_it(golden: Golden) -> None:
    run = with_database("quotes/go")
    screen = rendered(terminal.in_full(document(run)))
    assert max(map(len, screen.splitlines())) <= 80
    golden("services-80.txt", screen[screen.index("Services\n") :].split("\nNot measured")[0])
    text = markdown.render(document(run))
    golden("services.md", text[text.index("## Services\n") :].split("\n## Not measured")[0] + "\n")
    page = pages.of_run(run)
    assert "<h2>Services</h2>" in page
    assert "PostgreSQL 15.18" in page


def test_memory_with_shared_pages_counted_for_each_process_is_marked() -> None:
    old = replace(seen(0.5, 0), pages_shared_out=False)
    run = with_database("quotes/go")
    trials = tuple(replace(trial, services=(old,) if trial.services else ()) for trial in run.trials)
    [table] = services(replace(run, trials=trials))
    assert table.texts("memory")[0] == "200 MB *"
