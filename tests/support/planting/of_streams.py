"""Injected flaws of connections that carry streams, beside those of `plants`."""

from __future__ import annotations

from planting import Injected
from planting.shapes import STREAMS

KILOBYTE = "x" * 1000
UPLOAD = f"""
[[routes]]
name = "upload"
method = "POST"
target = "/upload"
body = "{KILOBYTE}"
[routes.answer]
body = {{ min_bytes = 1 }}
"""

OF_STREAMS: tuple[Injected, ...] = (
    Injected(
        code="G13",
        again="over HTTP/3",
        flaw="a server of HTTP/3 that allows two streams at once, asked for ten",
        servers={"one": "over HTTP/3: allows two streams"},
        load='connections = 2\nhttp = "3"\nstreams = 10\nmeasure_s = 1.0',
    ),
    Injected(
        code="G13",
        again="by windows",
        flaw="a server that takes 100 bytes of a body at a time",
        servers={"one": "over HTTP/2: has small windows"},
        routes=UPLOAD,
        workloads='[[workloads]]\nname = "w"\nroutes = ["upload"]',
        load=STREAMS,
    ),
    Injected(
        code="G8",
        again="over HTTP/2",
        flaw="a server that turns clients away, of four streams each",
        servers={"one": "over HTTP/2: slices clients away"},
        load='connections = 32\nhttp = "2"\nstreams = 4\nmeasure_s = 1.0',
        least="error",
    ),
    Injected(
        code="M1",
        again="over HTTP/2",
        flaw="one stream in ten hangs until its time-out",
        servers={"one": "over HTTP/2: hangs"},
        load='connections = 2\nhttp = "2"\nstreams = 4\nmeasure_s = 3.0\ntimeout_s = 0.4',
        least="error",
    ),
    Injected(
        code="W3",
        again="over HTTP/2",
        flaw="30 bytes of content more",
        servers={"one": "over HTTP/2: right", "two": "over HTTP/2: says more"},
        workloads='[[workloads]]\nname = "w"\nroutes = ["other"]',
        load=STREAMS,
        least="error",
    ),
    Injected(
        code="W5",
        again="over HTTP/2",
        flaw="connections ended at their fifth request, with others under way",
        servers={"one": "over HTTP/2: ends connections after five"},
        load=STREAMS,
        least="error",
    ),
)
"""Flaws of rules that look otherwise at streams than at connections: injected there once more."""
