"""The plan that flags ask for."""

from __future__ import annotations

import pytest

from assay.cli import load_flags
from assay.cli.parser import Parser
from assay.core.errors import InputError
from assay.engine import driver
from assay.model.plan import Closed, LoadPlan, Open, Stage, StopAfter, StopAtCount
from assay.plan.words.load_plan import drafted_load
from assay.plan.words.settle import named


def plan_of(*flags: str) -> LoadPlan:
    return plan_at("http://127.0.0.1:8080/a/b?c=d", *flags)


def plan_at(url: str, *flags: str) -> LoadPlan:
    parser = Parser("assay load", "test")
    load_flags.add_to(parser)
    drafted = drafted_load(url, load_flags.given(parser.read([url, *flags])))
    with named(drafted):
        driver.check(drafted.plan)
    return drafted.plan


def test_without_flags_a_closed_loop_for_ten_seconds_that_wants_success() -> None:
    plan = plan_of()
    assert plan.load == Closed(connections=64)
    assert plan.stop == StopAfter(ns=10**10)
    request = plan.requests[0]
    assert (request.method, request.target) == ("GET", "/a/b?c=d")
    assert request.expect is not None
    assert 200 in request.expect.status
    assert 404 not in request.expect.status


def test_a_body_makes_it_a_post_unless_the_method_is_given() -> None:
    assert plan_of("-b", "x").requests[0].method == "POST"
    assert plan_of("-b", "x", "-m", "put").requests[0].method == "PUT"


def test_what_was_not_processed_is_sent_again_unless_that_is_not_wanted() -> None:
    assert plan_of().resend
    assert not plan_of("--no-resend").resend


def test_headers_keep_their_order_and_repeat() -> None:
    assert plan_of("-H", "A: 1", "-H", "A: 2").requests[0].headers == (("A", "1"), ("A", "2"))


def test_a_rate_makes_it_an_open_loop() -> None:
    plan = plan_of("--rate", "5k", "-d", "4s", "-c", "8", "--arrivals", "poisson")
    stage = Stage(duration_ns=4 * 10**9, from_per_s=5000, to_per_s=5000)
    assert plan.load == Open(stages=(stage,), max_connections=8, arrivals="poisson")
    assert plan.stop == StopAfter(ns=4 * 10**9)


def test_a_rate_with_a_count_lasts_as_long_as_the_count_takes() -> None:
    plan = plan_of("--rate", "100", "-n", "250")
    assert isinstance(plan.load, Open)
    assert plan.load.stages[0].duration_ns == 2_500_000_000
    assert plan.stop == StopAtCount(count=250)


def test_stages_follow_each_other_and_say_when_it_ends() -> None:
    plan = plan_of("--stage", "2s:100", "--stage", "3s:100..500")
    assert isinstance(plan.load, Open)
    assert [stage.to_per_s for stage in plan.load.stages] == [100, 500]
    assert plan.stop == StopAfter(ns=5 * 10**9)


def test_http2_has_streams_and_ends_where_it_is_not_spoken() -> None:
    plan = plan_of("--http2", "--streams", "10")
    assert (plan.http, plan.streams, plan.ends_on) == ("2", 10, ("wrong_protocol",))
    assert plan_of("--http", "auto").http == "auto"
    assert plan_of("--http", "1").http == "1"


def test_http3_is_a_plan_of_an_https_url() -> None:
    plan = plan_at("https://127.0.0.1:8443/", "--http3", "--streams", "10", "-k")
    assert (plan.http, plan.streams, plan.ends_on) == ("3", 10, ("wrong_protocol",))
    assert plan_at("https://127.0.0.1:8443/", "--http", "3").http == "3"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--proxy", "127.0.0.1:3128"), "--proxy: must be none: HTTP/3 does not go through proxies of TCP"),
        (("--tls-max", "1.2"), "--tls-max: must have 1.3 among them: HTTP/3 knows no other"),
        (("--alpn", "h2"), "--alpn and HTTP/3 exclude each other"),
        (("--pipeline", "2"), "--pipeline: must be 1 with HTTP/2 and HTTP/3, which have streams instead"),
        (("--http1.0",), "--http1.0: must be 1.1 where http is not 1"),
    ],
)
def test_what_http3_cannot_be_had_with_is_refused(flags: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError) as refusal:
        plan_at("https://127.0.0.1:8443/", "--http3", *flags)
    assert refusal.value.message == said


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("-m", "G T"), "--method: must be a method such as GET"),
        (("-H", "A(: b"), "--header: the name must be a token such as Accept"),
        (("-H", "A: b\r\nEvil: yes"), "--header: the value must not hold control characters"),
        (("-b", "x", "-F", "a=b"), "--form: give either a form or a body"),
        (("-b", "x", "--body-file", __file__), "--body-file: give either body or body_file"),
        (("--stage", "3s:0"), "--stage: at least one rate must be above 0"),
        (("--pipeline", "2", "--no-keep-alive"), "--pipeline: needs keep_alive"),
        (("--pipeline", "2", "--follow", "1"), "--follow: cannot be followed on a connection that pipelines"),
        (
            ("--http2", "--pipeline", "2"),
            "--pipeline: must be 1 with HTTP/2 and HTTP/3, which have streams instead",
        ),
        (("--http2", "--http1.0"), "--http1.0: must be 1.1 where http is not 1"),
        (("--http3",), "the URL: must be https: HTTP/3 is never without TLS"),
    ],
)
def test_what_the_plan_refuses_is_told_by_the_flag(flags: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError) as refusal:
        plan_of(*flags)
    assert refusal.value.message == said


@pytest.mark.parametrize(
    ("flags", "connections"),
    [
        (("-n", "10"), 10),
        (("-n", "1000"), 64),
        (("-n", "10", "-c", "64"), 64),
        (("-n", "10", "-t", "2"), 10),
        (("-n", "1", "-t", "2"), 2),
        (("-n", "100", "--http2", "--streams", "10"), 10),
        (("-n", "10", "--http2", "--streams", "100"), 1),
        (("-n", "10", "--pipeline", "4"), 3),
    ],
)
def test_a_count_asks_for_no_more_connections_than_it_can_use(
    flags: tuple[str, ...], connections: int
) -> None:
    plan = plan_of(*flags)
    assert isinstance(plan.load, Closed)
    assert plan.load.connections == connections
    assert plan.threads <= connections


def test_what_is_random_is_fresh_unless_a_seed_is_given() -> None:
    assert len({plan_of().seed for _ in range(4)}) > 1
    assert plan_of("--seed", "7").seed == 7
    assert plan_of("--seed", "0").seed == 0


def test_a_stage_may_be_a_pause_but_not_all_of_them() -> None:
    plan = plan_of("--stage", "1s:0..20", "--stage", "1s:0", "--stage", "1s:6/m")
    assert isinstance(plan.load, Open)
    assert [(one.from_per_s, one.to_per_s) for one in plan.load.stages] == [(0, 20), (0, 0), (0.1, 0.1)]
    with pytest.raises(InputError, match="at least one rate must be above 0"):
        plan_of("--stage", "1s:0", "--stage", "2s:0")


def test_any_status_expects_nothing() -> None:
    assert plan_of("--expect-status", "any").requests[0].expect is None


def test_cores_set_the_threads() -> None:
    plan = plan_of("--cpus", "0,1")
    assert (plan.cpus, plan.threads) == ((0, 1), 2)


def test_never_more_threads_than_connections() -> None:
    assert plan_of("-c", "1").threads == 1


def https_plan_of(*flags: str) -> LoadPlan:
    return plan_at("https://127.0.0.1/", *flags)


def test_versions_of_tls_lie_between_the_two_named() -> None:
    assert https_plan_of().tls.versions == ("1.2", "1.3")
    assert https_plan_of("--tls-min", "1.3").tls.versions == ("1.3",)
    assert https_plan_of("--tls-max", "1.2").tls.versions == ("1.2",)


@pytest.mark.parametrize(
    "flags",
    [
        ("--tls-min", "1.3", "--tls-max", "1.2"),
        ("--cert", "/dev/null"),
        ("--key", "/dev/null"),
        ("--insecure", "--cacert", "/dev/null"),
    ],
)
def test_tls_flags_that_make_no_sense_together_are_refused(flags: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as refusal:
        https_plan_of(*flags)
    assert refusal.value.remedy


def test_addresses_may_be_written_with_brackets_and_ports() -> None:
    flags = ("--address", "::1", "--address", "[::1]:81", "--address", "127.0.0.1:82")
    assert plan_of(*flags).addresses == ("::1", "[::1]:81", "127.0.0.1:82")


@pytest.mark.parametrize(
    "flags",
    [
        ("-d", "1s", "-n", "5"),
        ("--rate", "5", "--stage", "1s:5"),
        ("--stage", "1s:5", "-d", "1s"),
        ("--arrivals", "poisson"),
        ("--rate", "5", "--think-time", "1s"),
        ("--chunked", "4"),
        ("-b", "x", "--chunked", "4", "--template"),
        ("-b", "x", "--chunked", "4", "--http1.0"),
        ("--user", "a:b", "--bearer", "c"),
        ("--user", "a:b", "-H", "authorization: c"),
        ("--accept-encoding", "gzip", "-H", "Accept-Encoding: br"),
        ("--order", "random"),
        ("--requests", "/dev/null", "-b", "x"),
        ("--requests", "/dev/null"),  # the URL has a path
        ("--expect-body", "a", "--expect-match", "b"),
        ("--check-every", "5"),
        ("--no-keep-alive", "--requests-per-connection", "2"),
        ("--address", "127.0.0.1", "--resolve", "127.0.0.1:8080:127.0.0.2"),
        ("--resolve", "example.test:8080:127.0.0.2"),
        ("--resolve", "127.0.0.1:80:127.0.0.2"),
        ("--address", "127.0.0.1", "-4"),
        ("-4", "-6"),
        ("--address", "127.0.0.1", "--proxy", "127.0.0.1:3128"),
        ("--http2", "--http", "1"),
        ("--http2", "--http3"),
        ("--streams", "2"),
        ("--insecure",),  # the URL is http
        ("--cacert", "/dev/null"),
    ],
)
def test_flags_that_exclude_each_other_are_refused(flags: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as refusal:
        plan_of(*flags)
    assert "--" in refusal.value.message
    assert refusal.value.remedy


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--conections", "3"), "did you mean --connections?"),
        (("-c", "none"), "--connections: 'none' is not a whole number above zero"),
        (("--arrivals", "gamma"), "poisson"),
        (("extra",), "unexpected argument 'extra'"),
        (("--user", "ada"), "--user: write it as NAME:PASSWORD"),
        (("--bearer", "a b"), "--bearer: a token"),
        (("-F", "name"), "--form: 'name' is not a field"),
        (("-F", "a=@/dev/null;kind=x"), "'kind=x' is neither type=… nor filename=…"),
        (("--expect-header", "a b: c"), "--expect-header: 'a b: c' is not a header"),
        (("--address", "localhost"), "--address: 'localhost' is not an address"),
        (("--address", "1.2.3.4:99999"), "is not an address"),
        (("--source", "127.0.0.2:80"), "--source: '127.0.0.2:80' is not an address"),
        (("--source", "203.0.113.7"), "--source: 203.0.113.7 is no address of this machine"),
        (("--resolve", "a:80"), "--resolve: 'a:80' is not like"),
        (("--proxy", "https://a:1"), "--proxy: 'https://a:1' is not a proxy"),
        (("--unix-socket", "/dev/null"), "--unix-socket: /dev/null: is not a socket"),
        (("--tls-min", "1.1"), "--tls-min"),
    ],
)
def test_a_wrong_flag_is_named_with_what_would_be_right(flags: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError) as refusal:
        plan_of(*flags)
    assert said in str(refusal.value)
