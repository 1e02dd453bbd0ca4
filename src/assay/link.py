"""`python -m assay.link`: a link with a delay and loss, which comes with the engine and is built with it.

It carries the packets of the device that it is handed as standard input (`assay.sut.distance` starts it).
"""

from __future__ import annotations

import sys

from assay import _engine

if __name__ == "__main__":
    sys.exit(_engine.link(["link", *sys.argv[1:]]))
