"""The report page as it lies on a screen: nothing overlaps, nothing is cut off, nothing needs a script."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import sample_run
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, sync_playwright

from assay.model.run import Run
from assay.report import pages
from assay.report.model.answer import in_a_line
from assay.store.index import Filter, Index
from assay.verdict.compare import compare

pytestmark = pytest.mark.beside

LABELS = {
    "long": "a server with a name that never ends " * 6,
    "arabic": "خادم سريع جدا للاختبار",
    "markup": "<b onclick=alert(1)>&amp;\"'</b>",
    "wide": "服务器" * 30,
}
OVERLAPS = """() => {
  const shown = [...document.querySelectorAll('svg')].filter(one => one.getBoundingClientRect().width > 0);
  const bad = [];
  for (const svg of shown) {
    const frame = svg.getBoundingClientRect();
    const words = [...svg.querySelectorAll('text')]
      .map(one => [one.lastChild.textContent, one.getBoundingClientRect()]);
    for (const [said, box] of words) {
      const out = box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 2
        || box.bottom > frame.bottom + 2;
      if (out) bad.push(`cut off: ${said}`);
    }
    words.forEach(([a, p], place) => words.slice(place + 1).forEach(([b, q]) => {
      const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
      const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (across > 1 && down > 3) bad.push(`${a} over ${b}`);
    }));
  }
  return bad;
}"""
BEYOND = """() => [...document.querySelectorAll('body *')]
  .filter(one => !one.closest('svg') && one.getBoundingClientRect().width > 1)
  .filter(one => one.getBoundingClientRect().right > innerWidth + 1 || one.getBoundingClientRect().left < -1
    || (one.matches('.scroll') && one.scrollWidth > one.clientWidth + 1))
  .map(one => one.outerHTML.slice(0, 120))"""
SMALLEST = """() => Math.min(...[...document.querySelectorAll('svg text')]
  .filter(one => one.getBoundingClientRect().width > 0)
  .map(one => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


def labelled(label: str) -> Run:
    """The sample whose servers are all called so, with a number that tells them apart."""
    run = sample_run.run()
    cases = tuple(replace(case, label=f"{label}{place}") for place, case in enumerate(run.header.cases))
    return replace(run, header=replace(run.header, cases=cases))


RUNS = {"sample": sample_run.run()} | {name: labelled(label) for name, label in LABELS.items()}


def around(run: Run, folder: Path) -> dict[str, str]:
    """The pages around the report."""
    sample_run.stored(run, folder)
    entries = Index(folder, in_a_line).runs(Filter())
    return {
        "history": pages.history(entries, Filter(), ""),
        "live": pages.live(run, "folder", "", ended=False),
        "compare": pages.of_comparison(compare(run, run, {"throughput": 0.05})),
    }


def opened(browser: Browser, shown: Run | str, width: int, folder: Path) -> Page:
    """A run's page, or this one, in a window of that width, in a browser that runs no scripts."""
    path = folder / "report.html"
    path.write_text(shown if isinstance(shown, str) else pages.of_run(shown), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900}, java_script_enabled=False)
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize("width", [390, 800, 1400])
@pytest.mark.parametrize("name", RUNS)
def test_nothing_overlaps_or_is_cut_off(browser: Browser, name: str, width: int, tmp_path: Path) -> None:
    page = opened(browser, RUNS[name], width, tmp_path)
    assert page.locator("figure svg").locator("visible=true").count() == page.locator("figure").count() > 6
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(BEYOND) == [] or width > 390  # a table may scroll where there is a mouse
    assert page.evaluate(SMALLEST) > 9
    page.close()


@pytest.mark.parametrize("name", ["history", "live", "compare"])
@pytest.mark.parametrize("label", ["sample", "long"])
def test_the_pages_around_it_fit_a_phone(browser: Browser, name: str, label: str, tmp_path: Path) -> None:
    page = opened(browser, around(RUNS[label], tmp_path)[name], 390, tmp_path)
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(BEYOND) == []
    page.close()


def test_a_name_is_text_and_nothing_else(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, RUNS["markup"], 1400, tmp_path)
    assert page.locator("[onclick]").count() == 0
    assert page.get_by_text(LABELS["markup"] + "0", exact=True).count() > 3
    page.close()


def test_it_is_dark_where_the_reader_is_and_light_on_paper(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, RUNS["sample"], 1400, tmp_path)
    ground = "getComputedStyle(document.body).backgroundColor"
    seen = []
    for scheme, media in (("light", "screen"), ("dark", "screen"), ("dark", "print")):
        page.emulate_media(color_scheme=scheme, media=media)  # type: ignore[arg-type]  # two of its words
        seen.append(page.evaluate(ground))
    assert seen[0] == seen[2] != seen[1]
    assert page.locator("details.finding p").first.is_visible()  # paper cannot be unfolded
    orphans = "all => all.filter(one => getComputedStyle(one).breakAfter !== 'avoid').length"
    assert page.locator("h1, h2, h3").evaluate_all(orphans) == 0
    page.close()
