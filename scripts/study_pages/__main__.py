"""Writes docs/studies/*.md from docs/studies/*.json; with records of runs puts those into the JSON first.

make studies-pages
PYTHONPATH=scripts python -m study_pages [run.jsonl…] [--pages docs/studies]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from study_pages import from_run, page, schema

PAGES = Path(__file__).resolve().parents[2] / "docs" / "studies"


def main() -> int:
    """Take each record, then render every page; says which changed."""
    parser = argparse.ArgumentParser(prog="study_pages", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("records", nargs="*", type=Path, metavar="run.jsonl")
    parser.add_argument("--pages", type=Path, default=PAGES)
    arguments = parser.parse_args()
    for record in arguments.records:
        sys.stdout.write(f"{record}: in {from_run.take(record, arguments.pages)}\n")
    for path in sorted(arguments.pages.glob("*.json")):
        written = path.with_suffix(".md")
        text = page.render(path.stem, schema.read(path))
        if not written.exists() or written.read_text(encoding="utf-8") != text:
            written.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {written}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
