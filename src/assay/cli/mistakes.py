"""Mistakes in a command line, each told in one line with what to write instead.

The words are walked through before argparse reads them: it would tell of the first thing that is missing,
and blame a word that is right for one before it. What other tools call a flag stands in `MEANT`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import msgspec

from assay.core import renamed
from assay.core.errors import InputError


class Flags(Protocol):
    """What a verb takes, and how its help is had."""

    shown_examples: tuple[tuple[str, str], ...]
    elsewhere: Callable[[str], str]
    """Which other verb has a flag, as a remedy; empty where none has."""

    @property
    def actions(self) -> tuple[argparse.Action, ...]:
        """Its arguments and flags."""

    @property
    def usage_line(self) -> str:
        """The command with what it needs."""

    def takes(self, flag: str) -> argparse.Action | None:
        """The action of a flag, or of an argument by its name in the help; None where there is none."""

    def help_flag(self, action: argparse.Action | None = None) -> str:
        """The command that shows the flag, or all of them."""


_NEAR = 0.7
"""How alike two names are that are mistaken for each other (difflib's ratio, without dashes)."""

_ALWAYS = "latencies are always measured: leave it out"
_ROWS = (
    ("--ramp-up --rampup --ramp --ramp-time", "--stage",
     "--stage 30s:0..1000 raises the rate over that time"),
    ("--stages", "--stage", "write each as a --stage: --stage 30s:0..1000 --stage 1m:1000"),
    ("--vus --users --clients --concurrency --max-workers --max-connections", "--connections", ""),
    ("--workers", "--connections", "did you mean --connections, or --threads of the engine?"),
    ("--rps --qps --throughput --max-rate -R", "--rate", ""),
    ("-q", "--rate", "did you mean --rate?"),
    ("--time --length --max-time --test-time -z", "--duration", ""),
    ("--iterations --number --num --amount --total -i", "--count", ""),
    ("--latency --latencies --print-latency --percentiles --p99 --p95 -l", "--connections", _ALWAYS),
    ("--latency-correction", "--rate", "response times at a --rate need no correction: leave it out"),
    ("-L", "--follow", "latencies are always measured: leave it out; --follow N follows redirects"),
    ("--location", "--follow", ""),
    ("--data --data-raw --data-binary --payload", "--body", "did you mean --body, or --body-file PATH?"),
    ("-D -f --data-file --bodyfile", "--body-file", ""),
    ("-p", "--body-file", "did you mean --body-file PATH, or --pipeline N?"),
    ("-X --request", "--method", ""),
    ("--token --api-key --jwt", "--bearer", ""),
    ("--auth --authorization --basic -a -A", "--bearer",
     "did you mean --user NAME:PASSWORD or --bearer TOKEN?"),
    ("--password", "--user", "write --user NAME:PASSWORD"),
    ("--cookie -C", "--header", "write --header 'Cookie: NAME=VALUE'; --cookies keeps those of the server"),
    ("--host", "--header", "write --header 'Host: NAME'"),
    ("--user-agent --ua", "--header", "write --header 'User-Agent: NAME'"),
    ("--content-type", "--header", "write --header 'Content-Type: text/plain'"),
    ("-T", "--timeout", "did you mean --timeout TIME, or --header 'Content-Type: …'?"),
    ("--targets --urls --url-file --file -U", "--requests", ""),
    ("-s --script", "--requests", "--requests FILE sends several requests; `assay wrk -s` runs Lua"),
    ("--url", "--requests", "write the URL alone: assay load URL"),
    ("-w", "--threads", "did you mean --threads N, or --html PATH?"),
    ("--think --sleep --delay --pause --pacing", "--think-time", ""),
    ("--disable-keepalive --disable-keep-alive", "--no-keep-alive", ""),
    ("--keepalive --keep-alive", "--no-keep-alive", "connections are kept open unasked: leave it out"),
    ("--http1.1 --http1", "--http1.0", "HTTP/1.1 is spoken unasked: leave it out"),
    ("--h2 --h2c", "--http2", ""),
    ("--h3", "--http3", ""),
    ("--skip-verify --no-verify --tls-skip-verify --insecure-skip-tls-verify", "--insecure", ""),
    ("--ca --ca-cert --cafile", "--cacert", ""),
    ("--no-tui --silent", "--quiet", ""),
    ("-v", "--verbose", ""),
    ("--verbose", "--json", "--json prints everything that was measured"),
    ("-j --format --output-format --print --summary-export", "--json", ""),
    ("--output --out --export --report -o", "--html",
     "--json prints JSON; --html, --markdown, --csv write files"),
    ("--version -V", "--help", "`assay --version` tells it"),
    ("-e --parquet", "--csv", "--csv writes the same rows"),
    ("--save --store --keep", "--results", "a run is always kept; --results DIR says where"),
)  # fmt: skip
MEANT = {name: (flag, say or f"did you mean {flag}?") for names, flag, say in _ROWS for name in names.split()}
"""What is asked for by a flag that is none, as other tools call it or other verbs have it: which flag a verb
must have for that, and what to say."""


class _Argument(msgspec.Struct, frozen=True):
    """A word that is no flag and no flag's value, with what stands before it."""

    word: str
    flag: str = ""
    """The flag directly before it, or before its value."""
    value: str | None = None
    """That value; None where the flag takes none."""


def check(verb: Flags, words: Sequence[str]) -> None:
    """InputError where a flag is unknown or lacks its value, or an argument is one too many."""
    words = list(words)
    if any(word in ("-h", "--help", "--help-all") for word in words):
        return
    given = list(_arguments(verb, words[: words.index("--")] if "--" in words else words))
    taken = [action for action in verb.actions if not action.option_strings]
    if all(action.nargs in (None, argparse.OPTIONAL) for action in taken) and len(given) > len(taken):
        raise _one_too_many(verb, given, len(taken))


def _arguments(verb: Flags, words: Sequence[str]) -> Iterator[_Argument]:
    """The words that are arguments; InputError at the first flag that is wrong."""
    place = 0
    flag, value = "", None
    while place < len(words):
        word, place = words[place], place + 1
        if not _is_flag(verb, word):
            yield _Argument(word, flag, value)
            flag, value = "", None
            continue
        flag, value = _flag_of(verb, word)
        action = verb.takes(flag)
        if action is None or action.nargs == 0:
            if value is not None:
                raise InputError(f"{flag} takes no value", f"write {flag} alone")
        elif value is None:
            value = _value(verb, action, words[place] if place < len(words) else None)
            place += 1
        elif value == "--":  # argparse would take it for the word that ends the flags, and then miss it
            raise InputError(f"{flag}: '--' cannot be its value", f"see `{verb.help_flag(action)}`")


def _is_flag(verb: Flags, word: str) -> bool:
    """Whether argparse takes the word for a flag: one with a blank only where it begins with a known one."""
    if not word.startswith("-") or word == "-":
        return False
    begins = word.partition("=")[0] if word.startswith("--") else word[:2]
    return " " not in word or verb.takes(begins) is not None


def _flag_of(verb: Flags, word: str) -> tuple[str, str | None]:
    """The flag that a word is, or ends with as a bundle does, and the value that it holds.

    InputError for an unknown one.
    """
    name, equals, value = word.partition("=")
    if word.startswith("--"):
        if not verb.takes(name):
            raise _unknown(verb, name)
        return name, value if equals else None
    long = f"-{name}"
    if verb.takes(long):
        raise InputError("a flag of several letters begins with two dashes", f"did you mean {long}?")
    if long in MEANT and len(name) > 2:  # noqa: PLR2004 - a dash and a letter
        raise _unknown(verb, long)
    for place, letter in enumerate(word[1:], start=2):
        action = verb.takes(f"-{letter}")
        if action is None:
            raise _unknown(verb, word if place == 2 and f"-{letter}" not in MEANT else f"-{letter}")
        if action.nargs != 0:
            return f"-{letter}", word[place:].removeprefix("=") if word[place:] else None
    return f"-{word[-1]}", None


def _value(verb: Flags, action: argparse.Action, word: str | None) -> str:
    """The next word as the flag's value; InputError where it can be none."""
    flag = action.option_strings[-1]
    if word and re.match(r"-\.?\d", word) and callable(action.type):
        try:
            action.type(word)
        except argparse.ArgumentTypeError as refused:
            raise in_our_words(verb, f"argument {flag}: {refused}") from None
    if word is None or (_is_flag(verb, word) and not word[1].isdigit()):
        raise InputError(f"{flag} lacks its value", f"write {flag} {action.metavar}")
    return word


def _one_too_many(verb: Flags, given: Sequence[_Argument], most: int) -> InputError:
    """Which argument is one too many, and why it was taken for one."""
    for one in given:
        action = verb.takes(one.flag) if one.flag else None
        if action is not None and one.value is None:
            name = action.option_strings[-1]
            remedy = MEANT[one.flag][1] if one.flag in MEANT else f"leave out {one.word!r}"
            return InputError(f"{one.flag} is {name}, which takes no value", remedy)
        if action is not None and _is_right(action, f"{one.value}{one.word}"):
            remedy = f"write {one.flag} {one.value}{one.word}, without a blank"
            return InputError(f"unexpected argument {one.word!r}", remedy)
    return unexpected(verb, given[most].word)


def _is_right(action: argparse.Action, value: str) -> bool:
    try:
        return callable(action.type) and action.type is not str and bool(action.type(value))
    except argparse.ArgumentTypeError:
        return False


def unexpected(verb: Flags, word: str) -> InputError:
    """An argument that the verb does not take."""
    return InputError(f"unexpected argument {word!r}", f"write `{verb.usage_line}`")


def _unknown(verb: Flags, flag: str) -> InputError:
    """A flag that the verb does not have, with the one that is meant. In this order: its present name, what
    it is called elsewhere, another verb that has it, a name like it."""
    flags = [name for action in verb.actions for name in action.option_strings]
    present = next((name for name in renamed.FLAGS.get(flag, ()) if name in flags), "")
    there, meant = MEANT.get(flag, ("", ""))
    near = nearest(flag, flags)
    if present:
        remedy = f"it is called {present} now"
    elif there in flags:
        remedy = meant
    else:
        remedy = verb.elsewhere(flag) or (f"did you mean {near}?" if near else "")
    return InputError(f"unknown flag {flag!r}", remedy or f"`{verb.help_flag()}` lists them all")


def nearest(name: str, names: Iterable[str], alike: float = _NEAR) -> str:
    """The name most like this one, without its dashes; empty where none is."""
    from difflib import get_close_matches

    bare = {known.lstrip("-"): known for known in names if len(known.lstrip("-")) > 1}
    near = get_close_matches(name.lstrip("-"), bare, n=1, cutoff=alike)
    return bare[near[0]] if near else ""


def in_our_words(verb: Flags, message: str) -> InputError:
    """What argparse, or the reader of a value, says of a mistake; a value's own cure stands behind "; "."""
    if missing := re.match(r"the following arguments are required: (.*)", message):
        wanted = f"write it like `{verb.shown_examples[0][0]}`" if verb.shown_examples else verb.usage_line
        return InputError(f"{missing[1]} is missing", wanted)
    found = re.match(r"argument ([^:]+): (.*)", message, re.DOTALL)
    if found is None:
        return InputError(message, f"see `{verb.help_flag()}`")
    name, problem = found[1].split("/")[-1], found[2]
    action = verb.takes(name)
    if (
        action is not None
        and action.choices
        and (choice := re.match(r"invalid choice: '?(.*?)'? \(", problem))
    ):
        choices = [str(one) for one in action.choices]
        near = nearest(choice[1], choices, alike=0.6) if choice[1].isalpha() else ""
        said = f"{name}: {choice[1]!r} is none of {', '.join(choices)}"
        return InputError(said, f"did you mean {near}?" if near else f"see `{verb.help_flag(action)}`")
    if problem == "expected one argument":
        return InputError(f"{name} lacks its value", f"write {name}=VALUE")
    problem, _, remedy = problem.partition("; ")
    return InputError(f"{name}: {problem}", remedy or f"see `{verb.help_flag(action)}`")
