"""`assay view` and the report page in a real browser, and what must not get in."""

from __future__ import annotations

import http.client
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
import sample_run
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect
from sample_run import stored
from test_page_layout import browser

from assay.model.run import Series, SeriesPart
from assay.store import write_series

pytestmark = pytest.mark.beside
__all__ = ["browser"]

PATIENCE_S = 120
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs: one whole, one of hostile names, one that is going on."""
    folder = tmp_path_factory.mktemp("results")
    run = sample_run.run()
    stored(run, folder)
    cases = tuple(replace(case, label=HOSTILE + case.id) for case in run.header.cases)
    hostile = replace(
        sample_run.redesigned(run, title=HOSTILE).header, run_id="hostile-20251122-080000-bbbb", cases=cases
    )
    stored(replace(run, header=hostile), folder)
    going_on = replace(run.header, run_id="franklin-20251123-080000-cccc")
    stored(replace(run, header=going_on, trials=run.trials[:7], judgement=None), folder)
    return folder


@pytest.fixture(scope="module")
def url(results: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "assay.cli.main", "view", "--results", str(results)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, said
        assert "Traceback" not in said


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a real browser that fails the test on any error of its console."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_S * 1000)
    errors: list[str] = []
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(f"dialog: {dialog.message}"))
    yield page
    page.close()
    assert errors == []


def ask(
    url: str, path: str = "", method: str = "GET", **headers: str
) -> tuple[int, str, http.client.HTTPMessage]:
    """One request; `path` is appended to the address as it is."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE_S)
    connection.request(method, path if path.startswith("//") else parts.path + path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers


def test_every_page_is_reached_by_clicking(url: str, page: Page, tmp_path: Path) -> None:
    page.goto(url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Runs")
    page.get_by_role("link", name="franklin-20251121-080000-3f2a").click()
    for chart in ("answer", "throughput", "over-time", "percentiles", "cpu"):
        expect(page.locator(f"#{chart} svg").locator("visible=true")).to_have_count(1)
    page.screenshot(path=str(tmp_path / "report.png"), full_page=True)
    page.go_back()
    page.get_by_role("link", name="going on, or cut off").click()
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "7")
    page.get_by_role("link", name="Assay").click()
    page.get_by_label("franklin-20251121-080000-3f2a as base").check()
    page.get_by_label("franklin-20251123-080000-cccc as new").check()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(" → ")
    expect(page.get_by_text("no change is shown in any of 12 figures")).to_be_visible()
    page.screenshot(path=str(tmp_path / "compare.png"), full_page=True)


def test_the_list_says_what_each_run_answers(url: str, page: Page) -> None:
    page.goto(url)
    rows = page.get_by_role("row")
    judged = rows.filter(has=page.get_by_role("link", name="franklin-20251121-080000-3f2a"))
    expect(judged).to_contain_text("java-vertx is fastest: 1.11× quotes/go")
    shown = judged.locator("p").inner_text()
    expect(rows.filter(has_text="going on, or cut off")).to_contain_text("not judged")
    judged.get_by_role("link").click()
    told = " ".join(page.locator(".answer").inner_text().split())
    assert shown.partition(" …")[0] in told


def test_the_filter_works_from_the_keyboard(url: str, page: Page) -> None:
    page.goto(url)
    page.keyboard.press("Tab")  # the link home
    page.keyboard.press("Tab")
    expect(page.get_by_label("Study")).to_be_focused()
    page.keyboard.type("nothing")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No run fits.")).to_be_visible()


def test_everything_that_can_be_used_has_a_name(url: str, page: Page) -> None:
    for path in ("", "run/franklin-20251121-080000-3f2a", "live/franklin-20251123-080000-cccc"):
        page.goto(url + path)
        nameless = page.locator("a, button, input, progress, [tabindex]").evaluate_all(
            "all => all.filter(one => !(one.innerText || one.ariaLabel || one.labels?.length))"
            ".map(one => one.outerHTML)"
        )
        assert nameless == []


def test_hostile_names_stay_text(url: str, page: Page) -> None:
    for path in (
        "",
        "run/hostile-20251122-080000-bbbb",
        "compare?base=hostile-20251122-080000-bbbb&new=hostile-20251122-080000-bbbb",
    ):
        page.goto(url + path)
        expect(page.locator("img")).to_have_count(0)
    page.goto(url + "run/hostile-20251122-080000-bbbb")
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE)


@pytest.mark.parametrize(
    ("path", "method", "headers", "status"),
    [
        ("", "GET", {}, 200),
        ("", "HEAD", {}, 200),
        ("", "POST", {}, 405),
        ("", "DELETE", {}, 405),
        ("", "GET", {"Host": "evil.example"}, 421),
        ("", "GET", {"Host": "evil.example:80"}, 421),
        ("", "GET", {"Origin": "http://evil.example"}, 403),
        ("", "GET", {"Origin": "null"}, 403),
        ("", "GET", {"Sec-Fetch-Site": "cross-site"}, 403),
        ("", "GET", {"Sec-Fetch-Site": "same-origin"}, 200),
        ("run/nothing", "GET", {}, 404),
        ("run/" + quote("../../../etc/passwd", safe=""), "GET", {}, 404),
        ("run/..", "GET", {}, 404),
        ("run/%00", "GET", {}, 404),
        ("../../etc/passwd", "GET", {}, 404),
        ("compare", "GET", {}, 404),
        ("nothing", "GET", {}, 404),
    ],
)
def test_only_reads_of_known_runs_from_here(
    url: str, path: str, method: str, headers: dict[str, str], status: int
) -> None:
    found, text, answered = ask(url, path, method, **headers)
    assert found == status, text
    assert "root:" not in text
    assert answered["referrer-policy"] == "no-referrer"


def test_without_the_token_nothing_is_shown(url: str) -> None:
    parts = urlsplit(url)
    for path in (
        "*",
        "/",
        "//",
        "/run/franklin-20251121-080000-3f2a",
        f"/{'x' * 22}/",
        parts.path[:-2] + "/",
    ):
        status, text, _ = ask(f"http://{parts.netloc}", path)
        assert status == 403
        assert "franklin" not in text


def test_a_port_that_is_taken_is_said_in_a_line(url: str, results: Path) -> None:
    port = str(urlsplit(url).port)
    command = [sys.executable, "-m", "assay.cli.main", "view", "--results", str(results), "--port", port]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"assay: cannot listen on 127.0.0.1:{port}")
    assert ended.stderr.count("\n") == 1


def test_a_run_of_a_pair_is_shown_beside_the_other(page: Page, tmp_path: Path) -> None:
    run = sample_run.run()
    for profile in ("published", "fair"):
        of_profile = sample_run.under(profile, run).header
        header = replace(of_profile, run_id=f"franklin-{profile}", series="series-1")
        stored(replace(run, header=header), tmp_path)
    parts = tuple(
        SeriesPart(study="franklin", profile=profile, run=f"franklin-{profile}", state="ended")
        for profile in ("published", "fair")
    )
    write_series(tmp_path, Series(series_id="series-1", created_unix_ns=1, parts=parts))
    command = [sys.executable, "-m", "assay.cli.main", "view", "--results", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            where = urlsplit(process.stdout.readline().strip())
            page.goto(
                f"{where.scheme}://{where.netloc}{where.path.rstrip('/')}/run/franklin-fair?{where.query}"
            )
            expect(page.get_by_role("heading", name="Published against fair")).to_be_visible()
            expect(page.get_by_role("region", name="c64 as published, c64 fair")).to_be_visible()
            page.screenshot(path=tmp_path / "pair.png", full_page=True)
        finally:
            process.send_signal(signal.SIGINT)


def test_more_connections_than_descriptors_are_told_in_one_line(results: Path) -> None:
    command = ["sh", "-c", 'ulimit -n 24; exec "$@"', "sh", sys.executable, "-m", "assay.cli.main", "view"]
    with subprocess.Popen(
        [*command, "--results", str(results)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        where = urlsplit(process.stdout.readline().strip())
        at = ("127.0.0.1", where.port or 0)
        opened = [socket.create_connection(at) for _ in range(24)]
        while "more connections cannot be taken now: too many open files" not in (
            line := process.stderr.readline()
        ):
            assert line  # its end would be one
        for one in opened:
            one.close()
        asking = http.client.HTTPConnection(*at, timeout=PATIENCE_S)
        asking.request("GET", where.path)
        assert asking.getresponse().status == 200
        asking.close()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0 and said == ""
