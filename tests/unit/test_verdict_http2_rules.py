"""The rules on HTTP/2 and HTTP/3: streams in place of connections, another HTTP, limits that hold back."""

from __future__ import annotations

from judged import changed, found
from made_runs import SECOND, measurement, plan, uniform_histogram
from msgspec.structs import replace

from assay.model.measurement import Http2, Http3, Measurement, Outcome
from assay.model.plan import Closed, LoadPlan

FREE = Http2(stream_waits=0, stream_wait_ns=0, window_stalls=0, window_stall_ns=0)
FREE_3 = Http3(
    handshakes=2,
    stream_limit_waits=0,
    stream_limit_ns=0,
    flow_stalls=0,
    flow_stall_ns=0,
    udp_sent=9,
    udp_received=9,
    lost_packets=0,
    goaway=0,
)
MADE_PLAN = plan()
assert isinstance(MADE_PLAN.load, Closed)
PLACES = MADE_PLAN.load.connections


def streams_plan() -> LoadPlan:
    """As many places as the other made plan has, on two connections."""
    return replace(MADE_PLAN, http="2", streams=PLACES // 2, load=Closed(connections=2))


def over_http2(http2: Http2 = FREE, **changes: object) -> Measurement:
    connections = replace(measurement().connections, asked=2, opened=2, answered=2, peak=2)
    versions = {"2": measurement().completed}
    return changed(**{"http2": http2, "connections": connections, "http_versions": versions} | changes)


def test_a_load_of_streams_is_as_clean_as_one_of_connections() -> None:
    assert found(over_http2(), streams_plan()) == {}


def test_littles_law_counts_streams() -> None:
    finding = found(over_http2(), replace(streams_plan(), streams=PLACES))["M1"]
    assert f"not the {2 * PLACES} streams" in finding.evidence


def test_waiting_for_streams_is_no_contradiction_and_sets_the_pace() -> None:
    waited = 10 * SECOND * PLACES
    held = over_http2(replace(FREE, stream_waits=9, stream_wait_ns=waited, streams_allowed=8))
    findings = found(held, replace(streams_plan(), streams=PLACES))
    assert "M1" not in findings
    assert findings["G13"].evidence.startswith("the server allows 8 streams at once on a connection")
    assert (findings["G13"].on_throughput, findings["G13"].on_times) == ("at least", "at least")


def test_windows_that_hold_bodies_back_set_the_pace() -> None:
    stalled = over_http2(replace(FREE, window_stalls=3, window_stall_ns=2 * SECOND))
    assert "windows for 10 % of the time" in found(stalled, streams_plan())["G13"].evidence
    hardly = over_http2(replace(FREE, window_stalls=3, window_stall_ns=SECOND // 2))
    assert "G13" not in found(hardly, streams_plan())


def test_another_http_than_was_asked_for_is_named() -> None:
    older = over_http2(http_versions={"1.1": measurement().completed})
    evidence = found(older, streams_plan())["W5"].evidence
    assert evidence.startswith("answers came as HTTP/1.1, though HTTP/2 was asked for")
    refused = Outcome(origin="peer", kind="wrong_protocol", count=1, example="the server answers in HTTP/1.x")
    finding = found(over_http2(outcomes=(refused,), failed=1), streams_plan())["W5"]
    assert "1 request found that the server does not speak it" in finding.evidence


def reopened(times: int, http2: Http2 = FREE, failed: int = 0) -> Measurement:
    """Two connections that were opened so often again."""
    connections = replace(measurement().connections, asked=2, opened=2, answered=2, peak=2, reopened=times)
    requests = replace(measurement().requests, failed=failed, started=measurement().requests.started + failed)
    return over_http2(http2, connections=connections, requests=requests, failed=failed)


def test_ends_that_the_server_announces_are_its_own_whatever_they_cost() -> None:
    """Each took three requests with it: by those alone none of the connections was closed by the server."""
    announced = replace(FREE, going_away={"NO_ERROR": 5_000})
    evidence = found(reopened(5_000, announced, failed=15_000), streams_plan())["W5"].evidence
    assert "for 115,000 requests 5,000 connections had to be opened again" in evidence
    # Twice announced is ended once, and an end with a message is a failure.
    twice = found(reopened(5_000, replace(FREE, going_away={"NO_ERROR": 10_000}), 15_000), streams_plan())
    assert "5,000 connections" in twice["W5"].evidence
    angry = replace(FREE, going_away={"ENHANCE_YOUR_CALM": 5_000})
    assert "W5" not in found(reopened(5_000, angry, failed=15_000), streams_plan())


def test_streams_that_wait_for_another_connection_are_no_contradiction() -> None:
    """Half of the places carry nothing: they wait for the last ones of connections that the server ended."""
    twice = replace(streams_plan(), streams=PLACES)
    finding = found(reopened(2_000), twice)["M1"]
    assert (finding.severity, finding.on_times) == ("warning", "at least")
    assert "the others of 128 streams waited for others to end on 2,000 connections" in finding.evidence
    few = found(reopened(500), twice)["M1"]
    assert (few.severity, few.on_times) == ("error", "void")  # so few do not explain it


def test_all_streams_of_a_connection_wait_while_it_is_opened() -> None:
    twice, opened = replace(streams_plan(), streams=PLACES), uniform_histogram(2_000, 5e6)
    assert "M1" not in found(replace(reopened(2_000), connect_time=opened), twice)
    failing = found(replace(reopened(2_000, failed=1), connect_time=opened), twice)
    assert "M1" in failing


def http3_plan() -> LoadPlan:
    return replace(streams_plan(), http="3", url="https://127.0.0.1/")


def over_http3(http3: Http3 = FREE_3, **changes: object) -> Measurement:
    versions = {"3": measurement().completed}
    return replace(over_http2(http_versions=versions), http2=None, http3=http3, **changes)


def test_streams_of_http3_count_as_those_of_http2_do() -> None:
    assert found(over_http3(), http3_plan()) == {}
    finding = found(over_http3(), replace(http3_plan(), streams=PLACES))["M1"]
    assert f"not the {2 * PLACES} streams" in finding.evidence


def test_ends_that_the_server_announces_over_http3_are_its_own() -> None:
    made = reopened(5_000, failed=15_000)
    versions = {"3": made.completed}
    announced = replace(made, http2=None, http3=replace(FREE_3, goaway=5_000), http_versions=versions)
    assert "5,000 connections had to be opened again" in found(announced, http3_plan())["W5"].evidence


def test_limits_of_http3_set_the_pace() -> None:
    waited = replace(FREE_3, stream_limit_waits=9, stream_limit_ns=10 * SECOND * PLACES)
    findings = found(over_http3(waited), replace(http3_plan(), streams=PLACES))
    assert "M1" not in findings
    assert findings["G13"].evidence.startswith("no stream was free on a connection")
    stalled = replace(FREE_3, flow_stalls=3, flow_stall_ns=2 * SECOND)
    assert "windows for 10 % of the time" in found(over_http3(stalled), http3_plan())["G13"].evidence


def test_another_http_than_http3_is_named() -> None:
    other = over_http3(http_versions={"2": measurement().completed})
    assert "answers came as HTTP/2, though HTTP/3 was asked for" in found(other, http3_plan())["W5"].evidence
    refused = Outcome(origin="peer", kind="wrong_protocol", count=1, example="it does not pick h3 (ALPN)")
    finding = found(over_http3(outcomes=(refused,), failed=1), http3_plan())["W5"]
    assert finding.evidence.startswith("HTTP/3 was asked for, and 1 request found")
    assert finding.remedy.startswith("leave --http3 out")
