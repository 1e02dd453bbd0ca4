"""Names of what is compared: labels of rows and headings, and the same names in sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from assay.audit.lexicon import compiled, words

OURS = "ours"
"""The label of what a text calls only "it" or "we"."""
_NOISE = compiled("names.noise")
_WORD = re.compile(r"[^\W\d_][\w.+#-]{0,40}")


@lru_cache(maxsize=8192)
def key_of(label: str) -> str:
    """A label without its version and without words that every label has, in lower case."""
    words = _WORD.findall(_NOISE.sub(" ", label[:200]))
    if not words and (version := _ONLY_VERSION.match(label)):
        return version[1].lower()
    return " ".join(word.strip(".-").lower() for word in words)


_ONLY_VERSION = re.compile(r"\W{0,3}(?:versions?\s)?(v\d+(?:\.\d+){0,3}|\d+\.\d+\.\d+)(?:[\w.-]{0,20})\b")


def is_version(label: str) -> bool:
    """Whether a label is a version and nothing else: a sentence that names one may mean the text itself."""
    return not _WORD.findall(_NOISE.sub(" ", label[:200])) and _ONLY_VERSION.match(label) is not None


RUN = compiled("names.run")
"""One of repeated runs of one thing."""
_VERSIONED = re.compile(r"\d+(?:\.[\dx]+)+|(?<=\s)\d{1,2}\b|\bv\d+")
_TURN = compiled("names.turn")


_WITHOUT = re.compile(r"\b(?:without|no|ohne|sans|sin|sem|без)\b", re.IGNORECASE)
_BEFORE = re.compile(r"\b(?:before|do|до|antes|avant|vor|vorher)\b|之?前", re.IGNORECASE)
_AFTER = re.compile(
    r"\b(?:after|після|после|después|despues|depois|après|nach|nachher)\b|之?后", re.IGNORECASE
)

_SCENARIO = words("names.scenarios")
"""Words that name a workload or a load, not what is measured."""


def is_scenario(label: str) -> bool:
    """Whether a label names a route, a method or a load instead of a thing that is measured."""
    if re.match(r"(?:\d{1,2}[.)]\s)?\W{0,3}/|\W{0,3}(?:GET|POST|PUT|DELETE|PATCH|HEAD)\b", label):
        return True
    return all(word in _SCENARIO for word in re.split(r"[\s/_-]+", key_of(label)))


def distinct(a: str, b: str) -> bool:
    """Whether two labels name two things that are measured, and not two workloads of one."""
    if _alone(a) and _alone(b):
        return False
    one, other = key_of(a), key_of(b)
    if one == other:
        return bool(one) and _versions(a) != _versions(b) and bool(_versions(a) and _versions(b))
    return turns(a, b) or (not is_scenario(a) and not is_scenario(b))


def _alone(label: str) -> bool:
    """Whether a label says which of repeated runs it is, and nothing else."""
    return RUN.search(label) is not None and not key_of(RUN.sub(" ", label[:200]))


def is_name(label: str) -> bool:
    """Whether it surely names software: in few words, most of them in Latin letters."""
    letters = [letter for letter in label if letter.isalpha()]
    latin = sum(letter.isascii() for letter in letters)
    named = re.search(r"[A-Za-z]{2}|\b[CRD]\b", label) is not None
    return named and 2 * latin > len(letters) and len(key_of(label).split()) <= 6


def turns(a: str, b: str) -> bool:
    """Whether they are one thing before and after a change."""
    one, other = ("".join(_TURN.sub(" ", label[:200]).lower().split()) for label in (a, b))
    if one == other:
        return a.lower() != b.lower() and any(map(_TURN.search, (a, b)))
    if bool(_WITHOUT.search(a)) != bool(_WITHOUT.search(b)) and a.split()[:1] == b.split()[:1]:
        return True
    return any(_BEFORE.search(x) and _AFTER.search(y) for x, y in ((a, b), (b, a)))


def _versions(label: str) -> set[str]:
    return set(_VERSIONED.findall(RUN.sub(" ", label[:200])))


@lru_cache(maxsize=8192)
def _pattern(key: str) -> re.Pattern[str]:
    words = [re.escape(word) for word in re.split(r"[\s_-]+", key) if word]
    joined = r"[\s_-]?".join(words)
    return re.compile(rf"(?<![A-Za-z0-9_.-]){joined}(?:\.?js)?(?![A-Za-z0-9_À-ɏ])", re.IGNORECASE)


def _first_word(key: str) -> str:
    return re.split(r"[\s_-]", key)[0]


_COMMON = words("names.common")
"""Words in labels by which a sentence hardly means what is labelled."""


def _words(label: str) -> list[str]:
    """The words of a label, those in brackets too, by which alone it may be named."""
    bare = re.sub(r"\bv?\d+(?:\.[\dx]+)+", " ", label[:200])
    whole = [word.strip(".-").lower() for word in _WORD.findall(bare)]
    words = [*whole, *(part for word in whole for part in re.split(r"[-_+]", word))]
    return [
        word
        for word in dict.fromkeys(words)
        if len(word) > 2 and word not in _COMMON and word not in _SCENARIO and not word[-1:].isdigit()
    ]


def aliases(labels: Iterable[str]) -> dict[str, str]:
    """The labels by the names that a sentence may use: the key, or a word of it that no other has."""
    keys = {key_of(label): label for label in labels if len(key_of(label)) > 1 and not is_scenario(label)}
    firsts = Counter(_first_word(key) for key in keys)
    found = dict(keys)
    for key, label in keys.items():
        first = _first_word(key)
        if firsts[first] == 1 and len(first) > 2:
            found.setdefault(first, label)
    for key, label in keys.items():
        if key.endswith("js") and len(key) > 4:
            found.setdefault(key.removesuffix("js").rstrip("."), label)
    words = Counter(word for label in keys.values() for word in _words(label))
    for label in keys.values():
        for word in _words(label):
            if words[word] == 1:
                found.setdefault(word, label)
    return found


def places(alias: str, sentence: str) -> list[int]:
    """Where a sentence has the name."""
    return [found.start() for found in _pattern(alias).finditer(sentence)]
