"""Every page as a real browser lays it out: the answer first, nothing cut off, on screen and on paper, in
both schemes; and the order and columns of its parts, held as an outline."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
import sample_run
from msgspec.structs import replace
from playwright.sync_api import Browser
from test_page_layout import BEYOND, OVERLAPS, around, browser, opened

from assay import store, verdict
from assay.model.run import Run
from assay.report import pages
from assay.verdict.compare import compare

pytestmark = pytest.mark.beside
__all__ = ["browser"]

RECORDS = Path(__file__).parents[1] / "golden" / "records"
DESK, PHONE, PAPER = 1400, 390, 703
"""Widths in pixels of a window, and of what is printed on a sheet of A4 between its margins."""
FIRST_SCREEN = 844
"""Height in pixels of a phone's screen."""

CONTRAST = """() => {
  const parts = text => (text.match(/[0-9.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(one => one / 255)
    .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, place) => sum + one * [0.2126, 0.7152, 0.0722][place], 0);
  const ground = one => {
    for (; one; one = one.parentElement) {
      const seen = parts(getComputedStyle(one).backgroundColor);
      if (seen.length === 3 || seen[3] > 0) return seen;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const one of document.querySelectorAll('body *')) {
    const said = [...one.childNodes].filter(node => node.nodeType === 3 && node.data.trim());
    if (!said.length || one.getBoundingClientRect().width < 2 || one.closest('title')) continue;
    const style = getComputedStyle(one);
    const [a, b] = [light(parts(one.closest('svg') ? style.fill : style.color)), light(ground(one))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push([ratio.toFixed(2), one.className.baseVal ?? one.className, said[0].data]);
  }
  return bad;
}"""

OUTLINE = """() => {
  const parts = document.querySelectorAll(
    'h1, .answer, .asides, nav, form, h2, h3, figure, .scroll, .failure, .finding, details.how, dl, footer');
  const folded = one => one.parentElement.closest('details:not([open])');
  return [...parts].filter(one => one.getBoundingClientRect().height > 0 && !folded(one)).map(one => {
    const box = one.getBoundingClientRect();
    const column = side => Math.round(12 * (side - document.body.getBoundingClientRect().left)
      / document.body.clientWidth);
    const said = one.matches('h1, h2, h3') ? one.textContent : one.id || one.className;
    return [one.tagName.toLowerCase(), said.trim(), column(box.left), column(box.right)];
  });
}"""


def made(folder: Path) -> dict[str, str]:
    """Each kind of page, by a name."""
    runs = {
        path.parent.name: verdict.judged(store.load(path)) for path in sorted(RECORDS.glob("*/run.jsonl"))
    }
    shown = {name: pages.of_run(run) for name, run in runs.items()}
    full = sample_run.run()
    return shown | around(full, folder) | {"load": pages.of_run(load_alone(full)), "change": change(full)}


def load_alone(run: Run) -> Run:
    """One trial of one server: what `assay load --save` keeps."""
    case = next(case for case in run.header.cases if case.id == "quotes/go")
    trial = next(trial for trial in run.trials if trial.case == case.id)
    assert run.judgement is not None
    place = next(one for one in run.judgement.ranking if one.case == case.id)
    judgement = replace(run.judgement, findings=(), ranking=(place,), comparisons=(), claims=())
    return replace(
        run, header=replace(run.header, cases=(case,)), trials=(trial,), judgement=judgement, blocks=()
    )


def change(run: Run) -> str:
    """The page of a comparison in which something got worse."""
    sys.path.insert(0, str(RECORDS.parent))
    from test_compare import scaled

    return pages.of_comparison(compare(run, scaled(0.8), {"throughput": 0.05}))


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return made(tmp_path_factory.mktemp("pages"))


NAMES = ("capacity", "franklin", "sample", "versus", "history", "live", "compare", "load", "change")


def test_every_kind_of_page_is_looked_at(shown: dict[str, str]) -> None:
    assert sorted(shown) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_phone_shows_the_answer_first_and_nothing_is_cut(
    browser: Browser, name: str, shown: dict[str, str], tmp_path: Path
) -> None:
    page = opened(browser, shown[name], PHONE, tmp_path)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
    assert page.evaluate(BEYOND) == []
    assert page.evaluate(OVERLAPS) == []
    if page.locator(".said").count():
        box = page.locator(".said").first.bounding_box()
        assert box is not None and box["y"] + box["height"] < FIRST_SCREEN / 2
    page.close()


@pytest.mark.parametrize("name", NAMES)
def test_paper_holds_all_columns_and_what_is_folded(
    browser: Browser, name: str, shown: dict[str, str], tmp_path: Path
) -> None:
    page = opened(browser, shown[name], PAPER, tmp_path)
    page.emulate_media(media="print")
    assert page.evaluate(BEYOND) == []
    assert page.evaluate(OVERLAPS) == []
    folded = page.locator("details.how dl")
    assert all(folded.nth(place).is_visible() for place in range(folded.count()))
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_all_text_can_be_read_in_both_schemes(
    browser: Browser, name: str, scheme: Literal["light", "dark"], shown: dict[str, str], tmp_path: Path
) -> None:
    page = opened(browser, shown[name], DESK, tmp_path)
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate(CONTRAST) == []
    page.close()


@pytest.mark.parametrize("name", NAMES)
def test_the_parts_of_a_page_keep_their_order_and_columns(
    browser: Browser,
    name: str,
    shown: dict[str, str],
    golden: Callable[[str, str], None],
    tmp_path: Path,
) -> None:
    """In twelfths of the page's width, so that another font moves nothing."""
    lines = []
    for width in (DESK, PHONE):
        page = opened(browser, shown[name], width, tmp_path)
        lines.append(f"{width} pixels")
        parts = page.evaluate(OUTLINE)
        lines += [f"  {left:2} to {right:2}  {tag} {said}".rstrip() for tag, said, left, right in parts]
        page.close()
    golden(f"pages/{name}.txt", "\n".join(lines) + "\n")
