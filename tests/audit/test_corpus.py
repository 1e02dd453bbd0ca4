"""The corpus of annotated documents has the form that its README promises."""

import re
from collections import Counter
from pathlib import Path

import pytest
from audit_corpus import (
    CORPUS,
    HALVES,
    QUOTE_AT_MOST,
    VERDICTS,
    Conclusion,
    Document,
    Flaw,
    documents,
    line_hash,
)

RULES = Path(__file__).parent.parent.parent / "docs" / "audit.md"
DOCUMENTS = documents()


def known_codes() -> set[str]:
    return set(re.findall(r"^\| ([A-Z]\d+) \|", RULES.read_text(encoding="utf-8"), flags=re.M))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_a_document_has_its_facts(document: Document) -> None:
    assert re.fullmatch(r"\d{3}", document.name)
    assert document.address and document.title and document.lines > 0
    assert re.fullmatch(r"[0-9a-f]{64}", document.sha256)
    assert document.half in HALVES and document.kind in ("results", "plain")
    for flaw in document.flaws:
        assert 1 <= flaw.first <= flaw.line <= flaw.last <= document.lines
        assert flaw.codes and set(flaw.codes) <= known_codes(), flaw
    for conclusion in document.conclusions:
        assert 1 <= conclusion.line <= document.lines
        assert conclusion.verdicts and set(conclusion.verdicts) <= set(VERDICTS)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_a_quote_is_short_and_its_hash_is_the_lines(document: Document) -> None:
    notes: tuple[Flaw | Conclusion, ...] = (*document.flaws, *document.conclusions)
    text = document.text()
    lines = text.splitlines() if text is not None else None
    for note in notes:
        assert 0 < len(note.quote) <= QUOTE_AT_MOST and note.why
        if len(note.quote) < QUOTE_AT_MOST:
            assert line_hash(note.quote) == note.hash, note
        if lines is not None:
            assert lines[note.line - 1].strip().startswith(note.quote.rstrip())
            assert line_hash(lines[note.line - 1]) == note.hash
    if lines is not None:
        assert len(lines) == document.lines


def test_documents_without_results_have_no_proven_flaw() -> None:
    assert not [document.name for document in DOCUMENTS if document.kind == "plain" and document.proven()]


def test_no_document_is_there_twice() -> None:
    assert max(Counter(document.address for document in DOCUMENTS).values()) == 1
    assert max(Counter(document.sha256 for document in DOCUMENTS).values()) == 1


def test_a_finding_is_matched_to_the_result_it_is_about() -> None:
    document = next(document for document in DOCUMENTS if document.name == "020")
    first = document.naming("A2", 16)
    assert first is not None and first.line == 14
    assert document.naming("A2", 60) is None
    assert document.naming("W1", 14) is None
    anywhere = document.naming("R3", 60)
    assert anywhere is not None and not anywhere.arguable


def test_the_corpus_is_as_large_as_promised() -> None:
    halves = Counter(document.half for document in DOCUMENTS)
    clean = [document for document in DOCUMENTS if not document.proven()]
    plain = Counter(document.half for document in DOCUMENTS if document.kind == "plain")
    assert len(DOCUMENTS) >= 60 and len(clean) >= 15
    assert abs(halves["tune"] - halves["held"]) <= 2 and abs(plain["tune"] - plain["held"]) <= 2
    assert halves["fresh"] >= 24 and plain["fresh"] >= 7
    assert halves["trial"] + halves["last"] >= 30 and plain["trial"] + plain["last"] >= 8
    assert halves["last"] >= 15 and halves["final"] >= 24 and plain["final"] >= 6
    assert halves["blind"] >= 100 and plain["blind"] >= 20
    assert len(list(CORPUS.glob("*.toml"))) == len(DOCUMENTS)


def test_the_readme_counts_what_is_there() -> None:
    readme = (CORPUS / "README.md").read_text(encoding="utf-8")
    told = {
        code: tuple(int(count) for count in counts.split("|") if count)
        for code, counts in re.findall(r"^\| ([A-Z]\d+) \|((?: \d+ \|){7})$", readme, flags=re.M)
    }
    there = Counter((flaw.codes[0], document.half) for document in DOCUMENTS for flaw in document.proven())
    assert told == {code: tuple(there[code, half] for half in HALVES) for code, _ in there}
