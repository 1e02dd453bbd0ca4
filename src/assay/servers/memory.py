"""What a server is likely to take of the memory, before it was ever started."""

from __future__ import annotations

import re

from assay.servers.manifest import ServerSpec

_USUAL_BYTES = 256 << 20
"""What a server takes of whose memory its manifest says nothing."""
_HEAP = re.compile(r"-Xmx(\d+)([kmg])", re.IGNORECASE)
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_BESIDE_A_HEAP = 1.25
"""What a JVM takes beside its heap: code, stacks, metaspace."""


def likely_bytes(server: ServerSpec) -> int:
    """By the heap that its command or environment says, if one is said."""
    heap = _HEAP.search(" ".join((*server.command, *server.env.values())))
    if heap is None:
        return _USUAL_BYTES
    return round(int(heap[1]) * _UNITS[heap[2].lower()] * _BESIDE_A_HEAP)
