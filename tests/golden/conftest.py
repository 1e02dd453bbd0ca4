"""Output that is compared with files: `ASSAY_GOLDEN=write pytest tests/golden` writes them anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "expected"


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare text with the file of that name."""

    def compare(name: str, text: str) -> None:
        path = FOLDER / name
        if os.environ.get("ASSAY_GOLDEN") == "write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare
