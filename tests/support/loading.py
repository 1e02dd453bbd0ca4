"""`assay load`, run in this process and held to its JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.cli.main import main

QUIET = ("--quiet", "--json")


class Load:
    """Runs `assay load` here, and keeps what it said."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str, count: int = 4, connections: int = 1) -> dict[str, Any]:
        """The JSON of a load of `count` requests."""
        code = main(["load", *words, "-n", str(count), "-c", str(connections), *QUIET])
        told = self._capsys.readouterr()
        assert code in (0, 1), told.err
        document: dict[str, Any] = json.loads(told.out)
        return document

    def clean(self, *words: str, count: int = 4, connections: int = 1) -> dict[str, Any]:
        """The same, where every answer has to be right."""
        document = self(*words, count=count, connections=connections)
        assert (document["completed"], document["failed"]) == (count, 0), document["measurement"]["outcomes"]
        return document

    def outcomes(self, *words: str, count: int = 4) -> dict[str, int]:
        """How its requests failed."""
        seen = self(*words, count=count)["measurement"]["outcomes"]
        return {f"{outcome['origin']}/{outcome['kind']}": outcome["count"] for outcome in seen}
