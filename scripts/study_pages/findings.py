"""Findings as Markdown: a rule's words from the code, and the figures of each subject."""

from __future__ import annotations

from collections.abc import Iterator

from assay.report.markdown import escape
from assay.verdict import RULES
from study_pages import words
from study_pages.layout import item
from study_pages.schema import Evidence, Found


def finding(found: Found, *, explain: bool) -> Iterator[str]:
    """What a rule found: title and (`explain`) meaning from the code, its effect, and what it saw."""
    title, meaning = texts(found.code)
    effects = "; ".join(filter(None, effect_words(found)))
    effect = words.EFFECT.format(effects=effects) if effects else ""
    yield from item(
        words.RULE.format(
            code=found.code,
            severity=found.severity,
            title=escape(title),
            meaning=f" {escape(meaning)}" if explain and meaning else "",
            effect=effect,
        )
    )
    for one in found.evidence:
        yield from item(escape(seen(one)), 1)
    if found.more:
        yield from item(words.MORE.format(more=found.more), 1)


def texts(code: str) -> tuple[str, str]:
    """A rule's title and meaning; of one that runs before this version knew, its title."""
    return (RULES[code].title, RULES[code].meaning) if code in RULES else (words.GONE[code], "")


def effect_words(found: Found) -> Iterator[str]:
    """What a finding does to the answer, a clause each."""
    yield words.ON_THROUGHPUT[found.throughput]
    if found.at_most:
        yield words.AT_MOST.format(times=found.at_most)
    known = RULES[found.code].effects if found.code in RULES else ()
    way = next((one.way for one in known if one.way), "")
    yield words.ON_COMPARISON[found.comparison].format(way=way)
    yield words.ON_TIMES[found.times]


def seen(evidence: Evidence) -> str:
    """Evidence in words: of one subject in full, of several the words once and the figures of each."""
    if len(evidence.about) == 1:
        subject, often, *figures = evidence.about[0]
        said = evidence.words.format(*figures)
        trials = f" ({often_words(often)})" if often else ""
        return f"{subject}: {said}{trials}" if subject else f"{said}{trials}"
    each = "; ".join(about_words(*one) for one in evidence.about)
    return words.SEEN.format(words=evidence.words.replace("{}", "…"), about=each)


def about_words(subject: str, often: str, *figures: str) -> str:
    """The figures of one subject: "Go 4.2 %, 64 (2 of 6 trials)"."""
    name = f"“{subject}”" if "," in subject and figures else subject
    said = f"{name} {', '.join(figures)}"
    return f"{said.strip()} ({often_words(often)})" if often else said.strip()


def often_words(often: str) -> str:
    """In how many trials."""
    return words.EVERY if often == "all" else words.OF_TRIALS.format(trials=often)
