"""A small real server of HTTP/2 alone: by prior knowledge, or behind TLS by ALPN. Not a test itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from planting import http2_server

PROGRAM = Path(http2_server.__file__).read_text()


def certificate(folder: Path) -> tuple[str, str]:
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    files = (str(folder / "own.pem"), str(folder / "own.key"))
    words = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    names = ("-subj", "/CN=own", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2")
    made = ["openssl", *words, *names, "-out", files[0], "-keyout", files[1]]
    subprocess.run(made, check=True, capture_output=True)
    return files


def command(folder: Path, *words: str) -> str:
    """The shell command that starts the server on the port of its environment."""
    program = folder / "candidate.py"
    program.write_text(PROGRAM)
    return " ".join([sys.executable, str(program), *words])
