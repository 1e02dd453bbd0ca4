"""Secrets of one test are none of the next."""

from __future__ import annotations

from assay.core import vault


def test_a_secret_is_learnt() -> None:
    vault.give("a-word-of-this-test")
    assert "a-word-of-this-test" not in vault.scrubbed("a-word-of-this-test")


def test_and_forgotten_by_the_next_test() -> None:
    assert vault.scrubbed("a-word-of-this-test") == "a-word-of-this-test"
