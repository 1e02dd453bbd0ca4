"""`python -m assay.servers.null_server`: the null server, which comes with the engine and is built with it.

A program of its own would need a compiler on every machine that runs a study. It answers on threads of Rust;
Python only starts it.
"""

from __future__ import annotations

import sys

from assay import _engine

if __name__ == "__main__":
    sys.exit(_engine.null_server(["null-server", *sys.argv[1:]]))
