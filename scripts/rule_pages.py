"""Writes docs/method/rules/*.md from the registry of rules: a page for each, and an index.

make rule-pages
PYTHONPATH=scripts python -m rule_pages [--pages docs/method/rules]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from study_pages.layout import item, wrapped

from assay.audit import AUDIT_RULES
from assay.audit.finding import AuditRule
from assay.report.model.rules import page
from assay.verdict import RULES, Rule

PAGES = Path(__file__).resolve().parents[1] / "docs" / "method" / "rules"
FAMILIES = {
    "B": "Bottleneck",
    "G": "Generator",
    "M": "Model",
    "W": "Work",
    "S": "Samples",
    "D": "Design",
    "T": "Slices",
    "H": "Host",
}
"""What rules are about, by the first letter of their codes."""
WRITTEN = "<!-- Written by `make rule-pages` from the code. -->"
HEAD = """# Rules

{written}

A page for each rule says its meaning, its thresholds, the remedy and the source. `assay explain G1`
prints the same. Effects are the usual ones; [validity](../validity.md#effects) defines the words.
"""
OF_TEXTS = """## Published texts

`assay audit` judges what a text says of a benchmark by the rules above, as far as a text can show
their flaws ([docs/audit.md](../../audit.md)). These rules are its own.
"""


def main(words: Sequence[str] | None = None) -> int:
    """Write every page that is another than the one that is there, and remove those of no rule."""
    parser = argparse.ArgumentParser(prog="rule_pages", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=Path, default=PAGES)
    folder = parser.parse_args(words).pages
    texts = {**pages(), "README": index()}
    for path in sorted(folder.glob("*.md")):
        if path.stem not in texts:
            path.unlink()
            sys.stdout.write(f"removed {path}\n")
    for name, text in texts.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {path}\n")
    return 0


def pages() -> dict[str, str]:
    """The page of each rule in Markdown, by its code."""
    every: dict[str, AuditRule | Rule] = {**AUDIT_RULES, **RULES}
    return {code: markdown(rule) for code, rule in every.items()}


def markdown(rule: AuditRule | Rule) -> str:
    """A page with a heading for each section."""
    lines = [f"# {rule.code}: {rule.title}", "", WRITTEN, ""]
    for name, items in page(rule).items():
        lines += [f"## {name.capitalize()}", ""]
        lines += wrapped(items[0]) if len(items) == 1 else [line for one in items for line in item(one)]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def index() -> str:
    """All rules in tables, by what they are about."""
    return HEAD.format(written=WRITTEN) + "\n".join(_tables())


def _tables() -> Iterator[str]:
    for letter, family in FAMILIES.items():
        yield from ("", f"## {family}", "")
        yield "| code | finds | severity | throughput | times | comparison |"
        yield "|---|---|---|---|---|---|"
        for rule in RULES.values():
            if rule.code.startswith(letter):
                usual = rule.effects[0]
                comparison = "holds" if usual.comparison == "none" else usual.comparison or ""
                cells = (", ".join(rule.severities), usual.throughput, usual.times, comparison)
                yield f"| [{rule.code}]({rule.code}.md) | {rule.title} | {' | '.join(cells)} |"
    yield from ("", OF_TEXTS, "| code | finds | stands against |", "|---|---|---|")
    for code, of_texts in AUDIT_RULES.items():
        if code not in RULES:
            yield f"| [{code}]({code}.md) | {of_texts.title} | {of_texts.takes} |"
    yield ""


if __name__ == "__main__":
    sys.exit(main())
