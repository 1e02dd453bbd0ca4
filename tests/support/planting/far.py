"""Injected flaws of servers over an emulated network, beside those of `plants`."""

from __future__ import annotations

import functools

from planting import Injected, links_of, stopped

EMULATED: tuple[Injected, ...] = (
    Injected(
        code="G6",
        again="on a link with a delay",
        flaw="the program that carries its packets is stopped for 30 ms now and then",
        disturb=functools.partial(stopped, stop_s=0.03, go_s=0.03, whom=links_of),
        load="connections = 4\nmeasure_s = 1.0\nemulation = { round_trip_ms = 20 }",
        least="error",
    ),
)
"""Not every machine can put a server over an emulated network (`assay.servers.emulation.lacking`)."""
