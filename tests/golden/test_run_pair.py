"""A study under both profiles: what is set side by side, and how it looks."""

from __future__ import annotations

import pytest
import sample_run
from msgspec.structs import replace
from test_run_output import Golden, hostile_run, rendered
from test_run_page import ONE_MEGABYTE, tags_of

from assay.core.errors import InputError
from assay.model.design import PublishedFigures
from assay.model.estimate import Ranked
from assay.model.finding import Claim
from assay.model.run import Run
from assay.report import markdown, pages, terminal
from assay.report.document import Paragraph, Table
from assay.report.model import profiles

FIGURES = {
    "quotes/java-vertx": (
        PublishedFigures(throughput_per_s=106226.41),
        PublishedFigures(throughput_per_s=1.0, note="a later run"),
    ),
    "quotes/go": (PublishedFigures(load="t12-c400", throughput_per_s=84765.94),),
    "quotes/crystal": (PublishedFigures(load="another", throughput_per_s=58458.0),),
    "quotes/ruby-sinatra": (PublishedFigures(throughput_per_s=3025.77),),
}


def published() -> Run:
    """The study's published settings measured: two blocks, too few for an order, and one claim."""
    run = sample_run.run()
    cases = tuple(replace(case, variant="published", load="t12-c400") for case in run.header.cases)
    cases = (replace(cases[0], facts={"workers": 4, "request_log": True}), *cases[1:])
    claims = sample_run.CLAIMS[1:2]
    design = replace(
        sample_run.under("published", run).header.design, blocks=2, figures=FIGURES, claims=claims
    )
    header = replace(run.header, cases=cases, design=design)
    return sample_run.judged(replace(run, header=header, trials=sample_run.trials(2), judgement=None))


def fair(go: float = 61_000, blocks: int = 5) -> Run:
    """The same on fair terms, Go as fast as Java: the two share the first rank."""
    run = sample_run.redesigned(sample_run.run(), blocks=blocks)
    return sample_run.judged(replace(run, trials=sample_run.trials(blocks, go=go), judgement=None))


def pair() -> profiles.ProfilePair:
    return profiles.pair(fair(), published())


def test_the_screen_of_both_profiles(golden: Golden) -> None:
    text = rendered(terminal.sections((profiles.beside(pair())[0],)))
    assert max(map(len, text.splitlines())) <= 80
    golden("pair-80.txt", text)


def test_the_markdown_of_both_profiles(golden: Golden) -> None:
    golden("pair.md", markdown.render(profiles.document(pair())))


def test_a_published_figure_belongs_to_its_load_and_the_first_counts() -> None:
    [table] = profiles.tables(pair())
    printed = {line.name: line.printed_per_s for line in table.lines}
    assert printed == {
        "quotes/java-vertx": 106226.41,
        "quotes/go": 84765.94,
        "quotes/crystal": None,
        "quotes/ruby-sinatra": 3025.77,
        "quotes/null": None,
    }


def test_bare_figures_give_an_order_and_no_rank() -> None:
    [table] = profiles.tables(pair())
    java = next(line for line in table.lines if line.name == "quotes/java-vertx")
    assert java.printed_place == profiles.ProfileRank(1, shown=False)
    assert java.published.place == profiles.ProfileRank(1, shown=False)
    assert java.fair.place == profiles.ProfileRank(1, shown=True)


def test_a_pair_that_shares_a_rank_on_fair_terms_is_told() -> None:
    [table] = profiles.tables(pair())
    said = profiles.sentences(table)
    assert "The fair profile: quotes/java-vertx and quotes/go, then quotes/ruby-sinatra." in said
    turned = "quotes/java-vertx was published ahead of quotes/go; on fair terms no difference is shown."
    assert said[-1] == turned


def test_an_order_that_turned_round_is_told() -> None:
    [table] = profiles.tables(profiles.pair(fair(go=70_000), published()))
    assert profiles.sentences(table)[-1].endswith("ahead of quotes/go; on fair terms it is behind.")


def test_an_order_that_turned_round_in_a_run_without_a_ranking_is_told() -> None:
    """Too few trials: the report of that run says so."""
    figures = FIGURES | {"quotes/go": (PublishedFigures(load="t12-c400", throughput_per_s=200_000.0),)}
    found = profiles.pair(fair(go=60_000, blocks=2), sample_run.redesigned(published(), figures=figures))
    [table] = profiles.tables(found)
    told = profiles.sentences(table)[-1]
    assert told.startswith("quotes/go was published ahead of quotes/java-vertx; ")
    assert told.endswith("on fair terms its bare figure is lower (that run ranks nobody).")


def test_an_invalid_figure_has_no_place_and_says_why() -> None:
    run = fair()
    assert run.judgement is not None
    finding = sample_run.finding("G1", "error", "quotes/go", on_throughput="void")
    found = profiles.pair(replace(run, judgement=replace(run.judgement, findings=(finding,))), published())
    table = next(part for part in profiles.beside(found)[0].parts if isinstance(part, Table))
    fair_of = dict(zip(table.texts("server"), table.texts("fair"), strict=True))
    assert fair_of["quotes/go"] == "invalid: G1"


def test_loads_of_one_name_stand_side_by_side() -> None:
    def loaded(run: Run, *loads: str) -> Run:
        cases = [
            replace(case, id=f"{case.id}@{load}", load=load) for load in loads for case in run.header.cases
        ]
        trials = [replace(trial, case=f"{trial.case}@{load}") for load in loads for trial in run.trials]
        assert run.judgement is not None
        places: list[Ranked] = [
            replace(place, case=f"{place.case}@{load}") for load in loads for place in run.judgement.ranking
        ]
        judgement = replace(run.judgement, ranking=tuple(places), findings=())
        return replace(
            run, header=replace(run.header, cases=tuple(cases)), trials=tuple(trials), judgement=judgement
        )

    found = profiles.pair(loaded(fair(), "c50", "c64"), loaded(published(), "c10", "c50"))
    loads = [(table.published_load, table.fair_load) for table in profiles.tables(found)]
    assert loads == [("c50", "c50"), ("c10", "c64")]


def test_a_claim_that_changed_is_told() -> None:
    changed, one_sided, _ = profiles.claims(pair())
    assert (changed.changed, one_sided.changed) == (True, False)
    assert one_sided.published is None
    said = "Claim (b): inconclusive as published, supported on fair terms."
    assert Paragraph(said, "strong") in profiles.beside(pair())[0].parts


def test_a_claim_that_a_profile_does_not_put_to_the_test_is_none_of_its() -> None:
    run = fair()
    run = sample_run.redesigned(run, claims=(Claim(id="b", statement="", comparisons=()),))
    lines = profiles.claims(profiles.ProfilePair(published(), run))
    assert [(line.id, line.fair) for line in lines] == [("b", None)]


def test_what_the_fair_profile_sets_otherwise() -> None:
    expected = (("quotes/go", "workers", "4", "1"), ("quotes/go", "request log", "yes", "no"))
    assert profiles.settings(pair()) == expected


def test_two_machines_and_a_run_that_did_not_end_are_warned_of() -> None:
    run = published()
    assert run.judgement is not None
    elsewhere = replace(run.header.environment, machine_id="another", hostname="elsewhere")
    other = replace(
        run,
        header=replace(run.header, environment=elsewhere),
        judgement=replace(run.judgement, complete=False),
    )
    machines, unfinished = profiles.warnings(profiles.pair(fair(), other))
    assert "two machines" in machines
    assert unfinished == "the run of the profile 'published' did not end"


def test_two_runs_that_are_no_pair_are_refused() -> None:
    with pytest.raises(InputError, match="both runs are of the profile 'fair'"):
        profiles.pair(fair(), fair())
    other = replace(published(), header=replace(published().header, study_name="heroes"))
    with pytest.raises(InputError, match="two studies"):
        profiles.pair(fair(), other)


def test_the_page_holds_both_and_stays_small() -> None:
    page = pages.of_run(fair(), pair())
    assert 'id="beside"' in page
    assert "on fair terms no difference is shown" in page
    assert len(page.encode()) < ONE_MEGABYTE
    assert 'id="beside"' not in pages.of_run(fair())


def test_markup_from_a_record_stays_text_in_a_pair() -> None:
    hostile = hostile_run()
    found = profiles.pair(hostile, sample_run.under("published", hostile))
    page = pages.of_run(hostile, found)
    assert tags_of(page).scripts == 0
    assert "<script>alert" not in page
    assert "<script>" not in markdown.render(profiles.document(found))
    assert "\x1b" not in rendered(terminal.sections((profiles.beside(found)[0],)))
