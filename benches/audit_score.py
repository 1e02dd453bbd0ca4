"""How many of the annotated flaws does `assay audit` find, and how much of what it says is right?

python benches/audit_score.py --texts FOLDER [--half held|tune|fresh|…|blind] [--markdown] [--show]

The corpus (tests/audit/corpus) has facts and line hashes only; FOLDER has their texts, as NNN.md.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from audit_corpus import HALVES, Document, documents  # noqa: E402 - its folder is only known now

from assay.audit import AUDIT_RULES, audit, read  # noqa: E402 - as above
from assay.report.model.audit_document import VERDICTS  # noqa: E402 - as above


@dataclass
class Score:
    """Counts by rule, and what was wrong or missed, to be shown."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    silent: int = 0
    plain: int = 0
    agreed: int = 0
    judged: int = 0
    concluded: int = 0
    texts: int = 0
    remarks: list[str] = field(default_factory=list)


def score(corpus: Sequence[Document], folder: Path) -> Score:
    """Audit each document whose text is in the folder."""
    total = Score()
    for document in corpus:
        path = folder / f"{document.name}.md"
        if path.exists():
            total.texts += 1
            _score_document(total, document, path)
    return total


def _score_document(total: Score, document: Document, path: Path) -> None:
    found = audit(read(path.name, path.read_bytes()))
    said = {(one.code, line) for one in found.remarks for line in (one.line, *one.also)}
    named = set()
    for code, line in sorted(said):
        flaw = document.naming(code, line)
        if flaw is None:
            total.wrong[code] += 1
            total.remarks.append(f"wrong   {document.name} {code} line {line}")
        else:
            named.add(id(flaw))
            total.remarks += [f"arguable {document.name} {code} line {line}"] if flaw.arguable else []
    for flaw in document.proven():
        if id(flaw) in named:
            total.right[flaw.codes[0]] += 1
        else:
            total.missed[flaw.codes[0]] += 1
            total.remarks.append(f"missed  {document.name} {flaw.codes[0]} line {flaw.line}: {flaw.why}")
    if document.kind == "plain":
        total.plain += 1
        total.silent += not said
    _conclusions(total, document, {one.conclusion.line: VERDICTS[one.verdict] for one in found.conclusions})


def _conclusions(total: Score, document: Document, verdicts: dict[int, str]) -> None:
    for conclusion in document.conclusions:
        if conclusion.arguable:
            continue
        total.concluded += 1
        verdict = verdicts.get(conclusion.line)
        total.judged += verdict is not None
        total.agreed += verdict in conclusion.verdicts
        if verdict not in conclusion.verdicts:
            total.remarks.append(
                f"verdict {document.name} line {conclusion.line}: {verdict}, not "
                f"{conclusion.verdicts}: {conclusion.quote}"
            )


def table(total: Score) -> str:
    """Recall and precision by rule, as Markdown."""
    lines = ["| rule | found | missed | wrong | recall | precision |", "|---|---|---|---|---|---|"]
    for code in AUDIT_RULES:
        right, missed, wrong = total.right[code], total.missed[code], total.wrong[code]
        if right + missed + wrong:
            lines.append(
                f"| {code} | {right} | {missed} | {wrong} | {_share(right, missed)} | "
                f"{_share(right, wrong)} |"
            )
    right, missed, wrong = (sum(each.values()) for each in (total.right, total.missed, total.wrong))
    lines.append(
        f"| **all** | {right} | {missed} | {wrong} | {_share(right, missed)} | {_share(right, wrong)} |"
    )
    lines += [
        "",
        f"{total.texts} documents. Without results: {total.plain}, of which {total.silent} without "
        f"any finding.",
        f"Conclusions: {total.concluded} annotated, {total.judged} found, {total.agreed} with an "
        f"allowed verdict.",
    ]
    return "\n".join(lines)


def _share(right: int, other: int) -> str:
    return f"{100 * right / (right + other):.0f} %" if right + other else "–"


def main() -> int:
    """Print the score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--half", choices=HALVES, default="held")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    total = score([one for one in documents() if one.half == args.half], args.texts)
    if not total.texts:
        parser.error(f"none of the texts is in {args.texts}")
    sys.stdout.write(table(total) + "\n")
    if args.show:
        sys.stdout.write("\n".join(["", *total.remarks]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
