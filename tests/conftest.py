"""What all tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

# A suite started in the background of a shell inherits an ignored Ctrl-C, and so would every program
# that the tests interrupt: they would wait for its end in vain.
signal.signal(signal.SIGINT, signal.default_int_handler)

EXPECTED = Path(__file__).parent / "golden" / "expected"


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare text with the file of that name; `ASSAY_GOLDEN=write pytest tests/golden` writes them anew."""

    def compare(name: str, text: str) -> None:
        path = EXPECTED / name
        if os.environ.get("ASSAY_GOLDEN") == "write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare
