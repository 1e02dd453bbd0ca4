"""Options of Python make the plan that flags make, for each flag of a load, and errors name the option."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.cli import load_flags
from assay.cli.parser import Parser
from assay.core.errors import InputError
from assay.engine import driver
from assay.model.plan import LoadPlan
from assay.plan.words import options
from assay.plan.words.load_plan import drafted_load
from assay.plan.words.load_table import GROUPS
from assay.plan.words.settle import named

URL = "https://127.0.0.1:8443/a"
SAME: tuple[tuple[dict[str, Any], tuple[str, ...]], ...] = (
    ({"connections": 8, "duration": 0.5}, ("-c", "8", "-d", "500ms")),
    ({"count": 10, "threads": 2, "cpus": [0]}, ("-n", "10", "-t", "2", "--cpus", "0")),
    ({"rate": 0.5, "duration": "10s"}, ("--rate", "30/m", "-d", "10")),
    ({"stages": [(1, 0, 500), (2.5, 500)]}, ("--stage", "1s:0..500", "--stage", "2.5s:500")),
    ({"headers": {"A": "b: c"}}, ("-H", "A: b: c")),
    ({"headers": [("A", "1"), ("A", "2")]}, ("-H", "A: 1", "-H", "A: 2")),
    ({"json": {"a": 1}}, ("-b", '{"a": 1}', "-H", "Content-Type: application/json")),
    ({"auth": ("ada", "p:w")}, ("-u", "ada:p:w")),
    ({"bearer": "t", "method": "put"}, ("--bearer", "t", "-m", "PUT")),
    ({"form": {"a": "1", "b": "2"}}, ("-F", "a=1", "-F", "b=2")),
    ({"expect_status": [200, 204]}, ("--expect-status", "200,204")),
    ({"expect_header": {"A": "^x", "B": None}}, ("--expect-header", "A: ^x", "--expect-header", "B")),
    ({"http": 3, "streams": 4}, ("--http3", "--streams", "4")),
    ({"http": "1.0"}, ("--http1.0",)),
    ({"verify": False, "keep_alive": False}, ("-k", "--no-keep-alive")),
    ({"verify": True, "keep_alive": True, "resend": True, "resumption": True, "cookies": False}, ()),
    ({"resend": False, "cookies": True}, ("--no-resend", "--cookies")),
    ({"resumption": False, "timeout": 2}, ("--no-resumption", "--timeout", "2s")),
    ({"verify": __file__, "cert": (__file__, __file__)},
     ("--cacert", __file__, "--cert", __file__, "--key", __file__)),
    ({"address": ["127.0.0.1", "::1"]}, ("--address", "127.0.0.1", "--address", "::1")),
    ({"alpn": ()}, ("--alpn", "none")),
    ({"follow": 2, "pacer": None}, ("--follow", "2")),
)  # fmt: skip


def of_flags(words: tuple[str, ...], url: str = URL) -> LoadPlan:
    parser = Parser("assay load", "test")
    load_flags.add_to(parser)
    return drafted_load(url, load_flags.given(parser.read([url, *words, "--seed", "1"]))).plan


def of_options(given: dict[str, Any], url: str = URL) -> LoadPlan:
    drafted = drafted_load(url, options.values({**given, "seed": 1}))
    with named(drafted):
        driver.check(drafted.plan)
    return drafted.plan


@pytest.mark.parametrize(("given", "words"), SAME, ids=lambda one: str(one)[:40])
def test_options_make_the_plan_that_flags_make(given: dict[str, Any], words: tuple[str, ...]) -> None:
    assert of_options(given) == of_flags(words)


def test_requests_may_be_a_list(tmp_path: Path) -> None:
    file = tmp_path / "mix"
    file.write_text('/a\n{"path": "/b", "weight": 3}\n')
    url = "http://127.0.0.1/"
    given = {"requests": ["/a", {"path": "/b", "weight": 3}]}
    assert of_options(given, url) == of_options({"requests": file}, url)
    assert [request.weight for request in of_options(given, url).requests] == [1, 3]
    with pytest.raises(InputError, match="requests, line 2"):
        of_options({"requests": ["/a", {"weight": 3}]}, url)


def test_each_flag_of_a_load_has_an_option() -> None:
    known = {*options.LoadOptions.__annotations__, *options.TrialOptions.__annotations__}
    known |= {"connections", "duration", "count", "rate", "warm_up"}  # arguments of `load` itself
    flags = {options.option_of(flag.dest) for _, group in GROUPS for flag in group}
    assert flags <= known
    assert known - flags == {"json"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"connections": 0}, "connections: '0' is not a whole number"),
        ({"duration": "soon"}, "duration: 'soon' is not a length of time"),
        ({"arrivals": "even"}, "arrivals: 'even' is none of constant, poisson"),
        ({"auth": "ada"}, "auth: it is a tuple of two"),
        ({"rate": 5, "stages": [(1, 5)]}, "rate and stages exclude each other"),
        ({"keep_alive": False, "pipeline": 2}, "pipeline: needs keep_alive"),
        ({"cert": ("/missing", "/missing")}, "cert: /missing: no such file"),
        ({"body": "a", "json": 1, "chunked": 1, "template": True}, "chunked and template exclude"),
    ],
)
def test_an_error_names_the_option(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused, options.called():
        of_options(given)
    assert said in str(refused.value)


def test_an_option_that_there_is_not_is_a_type_error() -> None:
    for name in ("conections", "header", "user", "no_keep_alive"):
        with pytest.raises(TypeError, match=f"there is no option '{name}'"):
            options.values({name: 1})


def test_what_versus_and_capacity_are_asked() -> None:
    asked = options.comparison(
        {"candidates": ("./a {n}",), "duration": 0.5, "margin": 0.01, "timeout": 2, "slice": "100ms"},
        {"n": [1, 2]},
    )
    assert (asked.measure_ns, asked.margin, asked.slice_ns) == (500_000_000, 0.01, 100_000_000)
    assert asked.load == {"timeout": 2_000_000_000}
    assert [(scan.name, scan.values) for scan in asked.scans] == [("n", ("1", "2"))]
    with pytest.raises(InputError, match="slo: "):
        options.search({}, "fast")
    with pytest.raises(InputError, match="scan: "):
        options.comparison({}, {"port": [1]})


def test_a_plan_of_options_can_be_stored() -> None:
    plan = of_options({"connections": 2})
    assert msgspec.json.decode(msgspec.json.encode(plan), type=LoadPlan) == plan
