"""What is told of flags: nothing that argparse takes is refused, and flags of other tools lead to ours."""

from __future__ import annotations

import argparse
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli import mistakes, verbs
from assay.cli.parser import Parser
from assay.core.errors import InputError

PARSERS = {verb.name: verb.parser() for verb in verbs.VERBS}
WORDS = st.sampled_from(
    ["http://a/", "-c", "8", "-c8", "-c=8", "--connections=8", "-k", "-qk", "-kc8", "-kqn", "5", "-n", "-d",
     "10s", "-4", "--json", "-b", "", "-b=", "--body=", "-H", "A: b", "-HA: b", "- x", "-", "--", "--html",
     "-5", "x y", "--rate", "5", "--rate=5",
     "-r", "6/m", "-u", "a:b", "-ua:b", "--stage", "5s:1", "--no-keep-alive"]
)  # fmt: skip


def taken_by_argparse(words: list[str]) -> bool:
    """Whether argparse alone reads them to the end."""
    try:
        return not PARSERS["load"].parse_known_args(words)[1]
    except InputError:
        return False


@given(st.lists(WORDS, max_size=6))
def test_what_argparse_takes_is_not_refused(words: list[str]) -> None:
    holds_dashes = any(word.endswith("--") and word != "--" for word in words)
    if taken_by_argparse(words) and "--" not in words and not holds_dashes:
        mistakes.check(PARSERS["load"], words)


@given(st.lists(WORDS, max_size=6))
def test_what_is_refused_is_told_in_a_line(words: list[str]) -> None:
    with suppress(InputError):
        PARSERS["load"].read(words)


@pytest.mark.parametrize("name", mistakes.MEANT)
def test_a_flag_of_another_tool_leads_to_one_of_ours(name: str) -> None:
    flag, said = mistakes.MEANT[name]
    having = [parser for parser in PARSERS.values() if parser.takes(flag)]
    assert having
    for parser in having:
        if not parser.takes(name):
            refused = read(parser, name)
            assert refused.remedy == said and len(str(refused)) < 150


def read(parser: Parser, flag: str) -> InputError:
    with pytest.raises(InputError) as refused:
        parser.read([flag])
    return refused.value


def test_flags_that_the_remedies_name_are_ours() -> None:
    known = {
        name for parser in PARSERS.values() for action in parser.actions for name in action.option_strings
    }
    named = {flag for _, said in mistakes.MEANT.values() for flag in re.findall(r"--[a-z][\w-]*", said)}
    assert named - known == {"--version"}


@pytest.mark.parametrize(
    ("name", "near"),
    [("--conections", "--connections"), ("--header", "--header"), ("--auth", ""), ("--data", ""), ("-x", "")],
)
def test_only_a_name_that_is_alike_is_proposed(name: str, near: str) -> None:
    flags = [name for action in PARSERS["load"].actions for name in action.option_strings]
    assert mistakes.nearest(name, flags) == near


def test_a_value_may_tell_its_own_cure() -> None:
    def refuse(word: str) -> str:
        raise argparse.ArgumentTypeError(f"{word} is wrong; write another")

    parser = Parser("assay test", "")
    parser.add_argument("--flag", type=refuse)
    with pytest.raises(InputError) as refused:
        parser.read(["--flag", "this"])
    assert (refused.value.message, refused.value.remedy) == ("--flag: this is wrong", "write another")
