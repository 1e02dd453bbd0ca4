"""The plan means the same on both sides of the binding, and a wrong one is told in a line."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from assay import _engine
from assay.core.errors import InputError
from assay.engine import driver
from assay.model.interleaving import InterleavedPlan
from assay.model.plan import (
    BodyEquals,
    BodyLength,
    BodyMatches,
    BodyOneOf,
    Closed,
    Expect,
    FormPart,
    HeaderExpected,
    LoadPlan,
    Open,
    Part,
    Request,
    Stage,
    StopAfter,
    StopAtCount,
    Tls,
)

PLAN = LoadPlan(url="http://127.0.0.1:1", load=Closed(connections=1), stop=StopAtCount(count=1))

token = st.text("abcXYZ019-", min_size=1, max_size=8)
text = st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]), max_size=12)
texts = st.lists(text, min_size=1, max_size=3).map(tuple)
positive = st.integers(1, 1_000_000)
rate = st.floats(0.001, 1e6)
bodies = st.one_of(
    st.none(),
    st.builds(BodyEquals, text=text),
    st.builds(BodyOneOf, texts=texts),
    st.builds(BodyMatches, pattern=st.sampled_from(["^a+$", r"\\d", ""])),
    st.builds(BodyLength, bytes=st.integers(0, 2**60)),
)
expectations = st.builds(
    Expect,
    status=st.lists(st.integers(100, 599), max_size=3).map(tuple),
    headers=st.lists(st.builds(HeaderExpected, name=token, pattern=st.sampled_from([None, "x"]))).map(tuple),
    body=bodies,
    check_every=positive,
)
requests = st.builds(
    Request,
    method=token,
    target=st.sampled_from(["/", "/a?b=%20", "*"]),
    headers=st.lists(st.tuples(token, text), max_size=3).map(tuple),
    body=st.none() | text,
    chunk_bytes=st.none() | positive,
    weight=positive,
    expect=st.none() | expectations,
)
forms = st.builds(
    Request,
    method=st.just("POST"),
    form=st.lists(
        st.builds(FormPart, name=text, text=text, content_type=st.none() | token)
        | st.builds(FormPart, name=text, file=text, file_name=st.none() | text),
        min_size=1,
        max_size=3,
    ).map(tuple),
)
heads = st.builds(Request, method=token, head=st.just("GET / HTTP/1.0\r\nA: b\r\n"), body=st.none() | text)
stages = st.builds(Stage, duration_ns=positive, from_per_s=rate, to_per_s=rate)
closed = st.builds(Closed, connections=positive, think_time_ns=st.integers(0, 10**9))
opened = st.builds(
    Open,
    stages=st.lists(stages, min_size=1, max_size=3).map(tuple),
    max_connections=positive,
    arrivals=st.sampled_from(["constant", "poisson"]),
    pacer=st.sampled_from(["spin", "sleep"]),
)
plans = st.builds(
    LoadPlan,
    url=st.sampled_from(["http://x", "http://[::1]:8080/", "https://a.b:1", "http+unix://%2Ftmp%2Fs"]),
    requests=st.lists(requests | forms | heads, min_size=1, max_size=2).map(tuple),
    request_order=st.sampled_from(["sequential", "random"]),
    load=closed | opened,
    stop=st.builds(StopAfter, ns=positive)
    | st.builds(StopAtCount, count=positive, within_ns=st.none() | positive),
    warmup_max_ns=positive,
    cpus=st.lists(st.integers(0, 63), max_size=3).map(tuple),
    timeout_ns=st.integers(1_000, 3_600 * 10**9),
    window_ns=st.integers(10**6, 10**9),
    http_version=st.sampled_from(["1.1", "1.0"]),
    requests_per_connection=st.none() | positive,
    addresses=st.sampled_from([(), ("127.0.0.1", "[::1]:80", "unix:/run/s")]),
    address_family=st.sampled_from(["any", "ipv4", "ipv6"]),
    source_addresses=st.sampled_from([(), ("127.0.0.2",)]),
    connections_per_s=st.none() | rate,
    cookies=st.booleans(),
    redirects=st.integers(0, 20),
    resend=st.booleans(),
    tls=st.builds(
        Tls,
        ca_file=st.none() | text,
        server_name=st.none() | text,
        asks_for_name=st.booleans(),
        alpn=st.sampled_from([(), ("http/1.1",)]),
        versions=st.sampled_from([("1.2",), ("1.3",), ("1.2", "1.3")]),
        insecure=st.booleans(),
        resumption=st.booleans(),
    ),
    seed=st.integers(0, 2**64 - 1),
    retry_wait_max_ns=st.integers(0, 3_600 * 10**9),
    ends_unreached=st.booleans(),
    ends_on=st.sampled_from([(), ("reset", "timeout")]),
    held_body_bytes=positive,
    socket_buffer_bytes=st.none() | positive,
)
logged = st.builds(
    replace,
    plans,
    stop=st.builds(StopAtCount, count=positive),
    request_log=st.sampled_from(["times", "answers"]),
)
parts = st.builds(
    replace,
    plans,
    part=st.builds(Part, first_worker=st.just(0), workers=st.just(1), starts_at_unix_ns=positive),
)


over_quic = st.builds(
    replace,
    plans,
    url=st.just("https://x"),
    http=st.just("3"),
    http_version=st.just("1.1"),
    streams=st.just(1),
    addresses=st.just(()),
    tls=st.just(Tls(insecure=True)),
)


@settings(deadline=None)
@given(
    plans
    | logged
    | parts
    | over_quic
    | plans.map(lambda plan: replace(plan, proxy="http://proxy:3128", addresses=()))
    | plans.map(lambda plan: replace(plan, request_order="per_connection", warmup_max_ns=0))
)
def test_every_plan_comes_back_unchanged(plan: LoadPlan) -> None:
    back = _engine.normalise(msgspec.json.encode(plan))
    assert msgspec.json.decode(back, type=LoadPlan) == plan


def test_both_sides_fill_in_the_same_defaults() -> None:
    bare = b'{"url":"http://x","load":{"kind":"closed","connections":2},"stop":{"kind":"requests","count":3}}'
    expected = LoadPlan(url="http://x", load=Closed(connections=2), stop=StopAtCount(count=3))
    assert msgspec.json.decode(_engine.normalise(bare), type=LoadPlan) == expected
    bare_open = (
        b'{"url":"http://x","requests":[{"expect":{}}],"stop":{"kind":"duration","ns":5},"load":{"kind":"open",'
        b'"max_connections":2,"stages":[{"duration_ns":1,"from_per_s":1.0,"to_per_s":2.0}]}}'
    )
    expected = LoadPlan(
        url="http://x",
        requests=(Request(expect=Expect()),),
        load=Open(stages=(Stage(duration_ns=1, from_per_s=1, to_per_s=2),), max_connections=2),
        stop=StopAfter(ns=5),
    )
    assert msgspec.json.decode(_engine.normalise(bare_open), type=LoadPlan) == expected


def test_a_right_plan_passes_the_check() -> None:
    driver.check(PLAN)


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"url": "nowhere"}, "load plan: url: no scheme (such as http://) in 'nowhere'"),
        ({"threads": 2}, "load plan: threads: must be at least 1 and at most the number of connections"),
        ({"requests": (Request(target="a b"),)}, "load plan: requests[0].target: must be a path"),
        ({"http": "3"}, "load plan: url: must be https: HTTP/3 is never without TLS"),
    ],
)
def test_a_wrong_plan_is_refused_in_one_line(wrong: dict[str, object], line: str) -> None:
    plan = msgspec.structs.replace(PLAN, **wrong)
    for refuse in (driver.check, driver.start):
        with pytest.raises(InputError) as caught:
            refuse(plan)
        assert str(caught.value).startswith(line)
        assert "\n" not in str(caught.value)


interleaved_plans = st.builds(
    InterleavedPlan,
    arms=plans.map(lambda plan: replace(plan, load=Closed(connections=3), stop=StopAfter(ns=5)))
    .flatmap(
        lambda plan: st.lists(
            st.builds(replace, st.just(plan), requests=st.just(plan.requests), seed=positive),
            min_size=1,
            max_size=4,
        )
    )
    .map(tuple),
    slice_ns=st.integers(10**6, 10**12),
    washout_ns=st.integers(0, 10**12),
    seed=st.integers(0, 2**64 - 1),
)


@settings(deadline=None)
@given(interleaved_plans)
def test_every_interleaved_plan_comes_back_unchanged(plan: InterleavedPlan) -> None:
    back = _engine.normalise_interleaved(msgspec.json.encode(plan))
    assert msgspec.json.decode(back, type=InterleavedPlan) == plan


def test_both_sides_refuse_unknown_fields_of_a_interleaved_plan() -> None:
    plan = msgspec.to_builtins(InterleavedPlan(arms=(WARM,), slice_ns=10**6, washout_ns=0)) | {"more": 1}
    with pytest.raises(_engine.PlanError, match="more: a plan has no such field"):
        _engine.validate_interleaved(msgspec.json.encode(plan))
    with pytest.raises(msgspec.ValidationError, match="unknown field `more`"):
        msgspec.convert(plan, InterleavedPlan)


WARM = replace(PLAN, stop=StopAfter(ns=1))


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"arms": ()}, "load plan: arms: must be between 1 and 64"),
        ({"slice_ns": 1}, "load plan: slice_ns: must be between 1 millisecond and one hour"),
        ({"arms": (WARM, PLAN)}, "load plan: arms[1].stop: must be a duration"),
        ({"arms": (WARM, replace(WARM, cpus=(0,)))}, "load plan: arms[1].cpus: must be as in arms[0]"),
    ],
)
def test_a_wrong_interleaved_plan_is_refused_in_one_line(wrong: dict[str, object], line: str) -> None:
    plan = msgspec.structs.replace(InterleavedPlan(arms=(WARM,), slice_ns=10**6, washout_ns=0), **wrong)
    with pytest.raises(InputError) as caught:
        driver.start_interleaved(plan)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)
