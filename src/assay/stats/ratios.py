"""What every ratio of two cases rests on: their values block by block, and the least that counts."""

from __future__ import annotations

from collections.abc import Mapping

MINIMUM_EFFECT = 0.01
"""Differences below 1 % are never claimed, however sure: code layout alone moves as much
(Mytkowicz et al.)."""

Blocks = Mapping[int, float]
"""One value for each block of a case."""
