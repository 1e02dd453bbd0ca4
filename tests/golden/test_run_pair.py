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
from assay.report.document import Items, Paragraph, Table
from assay.report.model import profiles

_RANKS = ("published rank", "measured rank", "fair rank")
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


def table_of(found: profiles.ProfilePair) -> Table:
    """The servers at the first of the loads that are set side by side."""
    return next(part for part in profiles.beside(found)[0].parts if isinstance(part, Table))


def column(found: profiles.ProfilePair, name: str) -> dict[str, str]:
    """What stands in a column of that table, by the server."""
    made = table_of(found)
    return dict(zip(made.texts("server"), made.texts(name), strict=True))


def sentences(found: profiles.ProfilePair) -> tuple[str, ...]:
    """What became of the ranking."""
    return next(part.lines for part in profiles.beside(found)[0].parts if isinstance(part, Items))


def lines_of(found: profiles.ProfilePair, title: str) -> list[list[str]]:
    """The cells of a table of words, line by line."""
    tables = [part for part in profiles.beside(found)[0].parts if isinstance(part, Table)]
    return [
        [cell.text for cell in line.cells] for made in tables if made.title == title for line in made.lines
    ]


def test_the_screen_of_both_profiles(golden: Golden) -> None:
    text = rendered(terminal.sections((profiles.beside(pair())[0],)))
    assert max(map(len, text.splitlines())) <= 80
    golden("pair-80.txt", text)


def test_the_markdown_of_both_profiles(golden: Golden) -> None:
    golden("pair.md", markdown.render(profiles.document(pair())))


def test_a_published_figure_belongs_to_its_load_and_the_first_counts() -> None:
    assert column(pair(), "published") == {
        "quotes/java-vertx": "106,000/s",
        "quotes/go": "84,800/s",
        "quotes/crystal": "–",
        "quotes/ruby-sinatra": "3,030/s",
        "quotes/null": "–",
    }


def test_bare_figures_give_an_order_and_no_rank() -> None:
    ranks = [column(pair(), name)["quotes/java-vertx"] for name in _RANKS]
    assert ranks == ["(1)", "(1)", "1"]


def test_a_pair_that_shares_a_rank_on_fair_terms_is_told() -> None:
    said = sentences(pair())
    assert "The fair profile: quotes/java-vertx and quotes/go, then quotes/ruby-sinatra." in said
    turned = "quotes/java-vertx was published ahead of quotes/go; on fair terms no difference is shown."
    assert said[-1] == turned


def test_an_order_that_turned_round_is_told() -> None:
    assert sentences(profiles.pair(fair(go=70_000), published()))[-1].endswith(
        "ahead of quotes/go; on fair terms it is behind."
    )


def test_an_order_that_turned_round_in_a_run_without_a_ranking_is_told() -> None:
    """Too few trials: the report of that run says so."""
    figures = FIGURES | {"quotes/go": (PublishedFigures(load="t12-c400", throughput_per_s=200_000.0),)}
    found = profiles.pair(fair(go=60_000, blocks=2), sample_run.redesigned(published(), figures=figures))
    told = sentences(found)[-1]
    assert told.startswith("quotes/go was published ahead of quotes/java-vertx; ")
    assert told.endswith("on fair terms its bare figure is lower (that run ranks nobody).")


def test_an_invalid_figure_has_no_place_and_says_why() -> None:
    run = fair()
    assert run.judgement is not None
    finding = sample_run.finding("G1", "error", "quotes/go", on_throughput="void")
    found = profiles.pair(replace(run, judgement=replace(run.judgement, findings=(finding,))), published())
    assert column(found, "fair")["quotes/go"] == "invalid: G1"


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
    titles = [part.title for part in profiles.beside(found)[0].parts if isinstance(part, Table)]
    assert titles[:2] == ["c50 as published, c50 fair", "c10 as published, c64 fair"]


def test_a_claim_that_changed_is_told() -> None:
    changed, one_sided, _ = lines_of(pair(), "Claims under both profiles")
    assert (changed[-1], one_sided[-1]) == ("yes", "–")
    assert one_sided[2] == "not put to the test"
    said = "Claim (b): inconclusive as published, supported on fair terms."
    assert Paragraph(said, "strong") in profiles.beside(pair())[0].parts


def test_a_claim_that_a_profile_does_not_put_to_the_test_is_none_of_its() -> None:
    run = fair()
    run = sample_run.redesigned(run, claims=(Claim(id="b", statement="", comparisons=()),))
    [line] = lines_of(profiles.ProfilePair(published(), run), "Claims under both profiles")
    assert line[0].startswith("(b)") and line[3] == "not put to the test"


def test_what_the_fair_profile_sets_otherwise() -> None:
    expected = [["quotes/go", "workers", "4", "1"], ["quotes/go", "request log", "yes", "no"]]
    assert lines_of(pair(), "What the fair profile sets otherwise") == expected


def test_two_machines_and_a_run_that_did_not_end_are_warned_of() -> None:
    run = published()
    assert run.judgement is not None
    elsewhere = replace(run.header.environment, machine_id="another", hostname="elsewhere")
    other = replace(
        run,
        header=replace(run.header, environment=elsewhere),
        judgement=replace(run.judgement, complete=False),
    )
    parts = profiles.beside(profiles.pair(fair(), other))[0].parts
    machines, unfinished = [part.text for part in parts if isinstance(part, Paragraph) and part.tone == "bad"]
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
