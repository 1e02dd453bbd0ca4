"""Servers and loads that several flaws have in common."""

from __future__ import annotations

from typing import Any

TWO = {"one": "right", "two": "right"}
SHORT = "connections = 4\nmeasure_s = 0.5"
INTERLEAVED: Any = {
    "interleaved": True,
    "load": "connections = 4\nmeasure_s = 1.2\nwarm_up_min_s = 0.3\nwarm_up_max_s = 0.3",
}
"""An interleaved block of a dozen rounds."""

STREAMS = 'connections = 2\nhttp = "2"\nstreams = 4\nmeasure_s = 0.5'
