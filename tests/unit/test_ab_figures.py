"""ab's statistics by both definitions, and its certificate lines, on recorded samples."""

from __future__ import annotations

import statistics
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.dropin import reports
from assay.dropin.ab import report
from assay.dropin.ab.figures import AbFigures, Failures, row, times_us
from assay.dropin.reports import ENTRY, columns

times = st.lists(st.integers(0, 10**9), min_size=1, max_size=50)


def made(totals: list[int], strict: bool) -> AbFigures:
    return AbFigures(
        done=len(totals),
        time_s=1.0,
        failures=Failures(0, 0, 0, 0),
        not_2xx=0,
        kept_alive=0,
        document_bytes=0,
        bytes_read=0,
        bytes_written=0,
        body_bytes=0,
        rows=(),
        totals_us=sorted(totals),
        strict=strict,
    )


@given(times)
def test_a_row_holds_the_usual_statistics(values: list[int]) -> None:
    found = row("Total", "total time", values, strict=False)
    assert (found.minimum, found.maximum) == (min(values), max(values))
    assert found.mean == sum(values) // len(values)
    assert found.median == int(statistics.median(values))
    expected = statistics.stdev(values) if len(values) > 1 else 0.0
    assert found.deviation == pytest.approx(expected, rel=1e-6, abs=1e-3)


@given(times)
def test_strictly_the_median_is_that_of_ab(values: list[int]) -> None:
    ordered, middle = sorted(values), len(values) // 2
    takes_one = len(values) % 2 == 0 or len(values) == 1
    expected = ordered[middle] if takes_one else (ordered[middle] + ordered[middle + 1]) // 2
    assert row("Total", "total time", values, strict=True).median == expected


@given(times, st.integers(1, 99))
def test_percentiles_by_both_definitions(values: list[int], percentile: int) -> None:
    ordered, count = sorted(values), len(values)
    value = made(values, strict=False).percentile_us(percentile)
    assert sum(one <= value for one in ordered) * 100 >= percentile * count
    assert sum(one < value for one in ordered) * 100 < percentile * count
    assert made(values, strict=True).percentile_us(percentile) == ordered[count * percentile // 100]


@given(times, st.integers(0, 100))
def test_the_rows_of_the_csv_file(values: list[int], percentile: int) -> None:
    ordered, count = sorted(values), len(values)
    rank = min(int(0.5 + count * percentile / 100), count - 1)
    assert made(values, strict=True).row_of_csv_us(percentile) == ordered[rank]
    true = made(values, strict=False)
    assert (true.row_of_csv_us(0), true.row_of_csv_us(100)) == (ordered[0], ordered[-1])


def test_the_log_is_read_as_it_is_written() -> None:
    first = ENTRY.pack(7, 1_999, 5_000, 10_500, 12, 200, 0, True)
    second = ENTRY.pack(8, 0, 0, 3_000, 0, 0, 5, False)
    assert len(first) == 48
    table = columns(first + second)
    assert (table.begun_ns, table.body_bytes, table.status) == ([7, 8], [12, 0], [200, 0])
    assert (table.failure, table.keeps_alive) == ([0, 5], [True, False])
    assert {label: value[0] for label, value in times_us(table).items()} == {
        "Connect": 1,
        "Processing": 9,
        "Waiting": 5,
        "Total": 10,
    }


@pytest.mark.parametrize(
    ("suite", "name"),
    [
        ("TLS13_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
        ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"),
        ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"),
    ],
)
def test_suites_have_the_names_of_openssl(suite: str, name: str) -> None:
    assert reports.cipher(suite) == name


@pytest.mark.parametrize(
    ("algorithm", "bits"),
    [
        ("rsa:1024", 1024),
        ("rsa:2048", 2048),
        ("rsa:3072", 3072),
        *((f"ec:{curve}", bits) for curve, bits in (("P-256", 256), ("P-384", 384), ("P-521", 521))),
        ("ed25519", 253),
        ("ed448", 0),
    ],
)
def test_the_length_of_a_key_is_found(algorithm: str, bits: int) -> None:
    kind, _, curve = algorithm.partition(":")
    key = ["ec", "-pkeyopt", f"ec_paramgen_curve:{curve}"] if kind == "ec" else [algorithm]
    command = ["openssl", "req", "-x509", "-nodes", "-subj", "/CN=x", "-keyout", "/dev/null", "-newkey", *key]
    made = subprocess.run([*command, "-outform", "DER"], check=True, capture_output=True, timeout=60)
    assert report.key_bits(made.stdout) == bits


@given(st.binary(max_size=60))
def test_a_certificate_that_cannot_be_read_has_no_bits(data: bytes) -> None:
    assert report.key_bits(data) >= 0


def test_the_name_is_told_where_it_was_asked_for() -> None:
    session = ("TLS 1.3", "TLS13_AES_128_GCM_SHA256", "X25519", b"")
    named = report.security(session, "localhost", names_server=True)
    assert named.protocol == "TLSv1.3,TLS_AES_128_GCM_SHA256,0,128"
    assert (named.temporary_key, named.server_name) == ("X25519 253 bits", "localhost")
    assert report.security(session, "127.0.0.1", names_server=True).server_name == ""
    assert report.security(session, "localhost", names_server=False).server_name == ""
