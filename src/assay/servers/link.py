"""`python -m assay.servers.link`: a link with a delay and loss, built with the engine and shipped with it.

It carries the packets of the device that it gets as standard input (`assay.servers.emulation` starts it).
"""

from __future__ import annotations

import sys

from assay import _engine

if __name__ == "__main__":
    sys.exit(_engine.link(["link", *sys.argv[1:]]))
