"""Writes docs/studies/*.md from docs/studies/*.json; with records of runs puts those into the JSON first.

make studies-pages
PYTHONPATH=scripts python -m study_pages [run.jsonl…] [--pages docs/studies]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.core.errors import EXIT_USAGE, AssayError
from study_pages import from_run, page, schema

PAGES = Path(__file__).resolve().parents[2] / "docs" / "studies"


def main(words: Sequence[str] | None = None) -> int:
    """Take each record, then render every page; says which changed, or in a line what is wrong."""
    parser = argparse.ArgumentParser(prog="study_pages", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("records", nargs="*", type=Path, metavar="run.jsonl")
    parser.add_argument("--pages", type=Path, default=PAGES)
    arguments = parser.parse_args(words)
    at = None
    try:
        for at in arguments.records:
            sys.stdout.write(f"{at}: in {from_run.take(at, arguments.pages)}\n")
        for at in sorted(arguments.pages.glob("*.json")):
            render(at)
    except (AssayError, msgspec.ValidationError, msgspec.DecodeError) as problem:
        sys.stderr.write(f"{at}: {problem}\n")
        return EXIT_USAGE
    return 0


def render(path: Path) -> None:
    """Write the page of a file where it is another than the one that is there."""
    written = path.with_suffix(".md")
    text = page.render(path.stem, schema.read(path))
    if not written.exists() or written.read_text(encoding="utf-8") != text:
        written.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {written}\n")


if __name__ == "__main__":
    sys.exit(main())
