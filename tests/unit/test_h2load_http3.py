"""What h2load's flags come to over HTTP/3, which Debian's h2load cannot be asked."""

from __future__ import annotations

import pytest

from assay.dropin.h2load.command import plan
from assay.dropin.h2load.flags import EarlyEnd, read
from assay.model.plan import LoadPlan

URL = "https://127.0.0.1:8443/"


def planned(*words: str, url: str = URL) -> LoadPlan:
    return plan(read([*words, url]), strict=False)


@pytest.mark.parametrize("words", [("--npn-list", "h3"), ("--alpn-list=h3",), ("--alpn-list=h3,h2",)])
def test_h3_offered_first_is_http3(words: tuple[str, ...]) -> None:
    made = planned(*words, "-n", "100", "-c", "2", "-m", "10")
    assert (made.http, made.streams, made.pipeline) == ("3", 10, 1)
    assert made.tls.insecure


def test_h3_offered_later_goes_unheard_on_tcp() -> None:
    assert planned("--npn-list", "h2,h3").http == "2"


def test_a_body_goes_over_streams_as_well() -> None:
    assert planned("--alpn-list=h3", "-d", __file__, "-m", "4").streams == 4


@pytest.mark.parametrize(
    ("words", "url", "said"),
    [
        ((), "http://127.0.0.1:8080/", "HTTP/3 is never without TLS: write https://"),
        (("-B", "unix:/tmp/x"), URL, "HTTP/3 goes over UDP, and not through a unix socket"),
        (("--no-udp-gso",), URL, "--no-udp-gso: how QUIC sends cannot be chosen here; leave it out"),
        (("--max-udp-payload-size", "1400"), URL, "--max-udp-payload-size: how QUIC sends cannot be"),
        (("--qlog-file-base", "x"), URL, "--qlog-file-base: how QUIC sends cannot be chosen here"),
        (("-w", "20"), URL, "-w: windows, frames and tables of streams"),
    ],
)
def test_what_cannot_be_had_over_quic_is_refused_in_a_line(
    words: tuple[str, ...], url: str, said: str
) -> None:
    with pytest.raises(EarlyEnd) as ended:
        read(["--alpn-list=h3", *words, url])
    assert said in ended.value.message and "\n" not in ended.value.message
