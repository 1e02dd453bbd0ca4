"""The annotated corpus of `assay audit`: what careful readers found in public documents.

`tests/audit/corpus/README.md` says how it was made and what the fields mean. The texts themselves are not
kept here, so a test that needs them takes them from the folder that the environment variable
`ASSAY_AUDIT_CORPUS` names, as `NNN.md`.
"""

import hashlib
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

CORPUS = Path(__file__).parent.parent / "audit" / "corpus"
QUOTE_AT_MOST = 120
VERDICTS = ("stands", "at least in this direction", "cannot be told", "contradicted")

Half = Literal["tune", "held", "fresh", "trial", "last", "final", "blind"]
HALVES: tuple[Half, ...] = get_args(Half)
"""In the order in which they were made: all before `final` have guided changes, `final` and `blind` were new
to the rules when they were first scored."""


@dataclass(frozen=True)
class Flaw:
    """A flaw that the text proves, or (arguable) one that counts neither for nor against who names it."""

    codes: tuple[str, ...]
    """The code, and others under which the same flaw may rightly be named."""
    line: int
    first: int
    """A finding on any line from `first` to `last` is this flaw: the lines of the result that it is about."""
    last: int
    hash: str
    quote: str
    why: str
    arguable: bool


@dataclass(frozen=True)
class Conclusion:
    """A comparison that the text draws, with the verdicts that its own figures allow."""

    line: int
    hash: str
    quote: str
    verdicts: tuple[str, ...]
    why: str
    arguable: bool


@dataclass(frozen=True)
class Document:
    """One document of the corpus: facts about its text and what stands against it."""

    name: str
    address: str
    title: str
    sha256: str
    lines: int
    half: Half
    kind: Literal["results", "plain"]
    """`results`: shows results of load tests. `plain`: shows none, so nothing may be found in it."""
    cut: bool
    flaws: tuple[Flaw, ...]
    conclusions: tuple[Conclusion, ...]

    def proven(self) -> tuple[Flaw, ...]:
        """The flaws that count."""
        return tuple(flaw for flaw in self.flaws if not flaw.arguable)

    def naming(self, code: str, line: int) -> Flaw | None:
        """The flaw that a finding of this code on this line names, a proven one before an arguable one."""
        named = [flaw for flaw in self.flaws if code in flaw.codes and flaw.first <= line <= flaw.last]
        return min(named, key=lambda flaw: (flaw.arguable, abs(flaw.line - line)), default=None)

    def text(self) -> str | None:
        """The document's text where it is at hand; ValueError if it is not the one that was annotated."""
        folder = os.environ.get("ASSAY_AUDIT_CORPUS")
        if folder is None:
            return None
        text = (Path(folder) / f"{self.name}.md").read_text(encoding="utf-8")
        if hashlib.sha256(text.encode()).hexdigest() != self.sha256:
            raise ValueError(f"{self.name}.md in {folder} is not the text that was annotated")
        return text


def line_hash(line: str) -> str:
    """How the corpus names a line: 16 hexadecimal digits of the SHA-256 of the line, stripped."""
    return hashlib.sha256(line.strip().encode()).hexdigest()[:16]


def documents() -> tuple[Document, ...]:
    """All documents of the corpus, by name."""
    return tuple(_document(path) for path in sorted(CORPUS.glob("*.toml")))


def _document(path: Path) -> Document:
    fields = tomllib.loads(path.read_text(encoding="utf-8"))
    flaws = tuple(_flaw(flaw) for flaw in fields.pop("flaws", ()))
    conclusions = tuple(_conclusion(conclusion) for conclusion in fields.pop("conclusions", ()))
    return Document(name=path.stem, flaws=flaws, conclusions=conclusions, **fields)


def _flaw(fields: dict[str, Any]) -> Flaw:
    codes = (fields.pop("code"), *fields.pop("also", ()))
    arguable = fields.pop("arguable", False)
    return Flaw(codes=codes, first=fields.pop("from"), last=fields.pop("to"), arguable=arguable, **fields)


def _conclusion(fields: dict[str, Any]) -> Conclusion:
    verdicts = tuple(fields.pop("verdicts"))
    return Conclusion(verdicts=verdicts, arguable=fields.pop("arguable", False), **fields)
