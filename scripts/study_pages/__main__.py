"""Writes docs/studies/*.md from docs/studies/*.json: make studies-pages."""

from __future__ import annotations

import sys
from pathlib import Path

from study_pages import page, schema

PAGES = Path(__file__).resolve().parents[2] / "docs" / "studies"


def main() -> int:
    """Render every page; says which changed."""
    for path in sorted(PAGES.glob("*.json")):
        written = path.with_suffix(".md")
        text = page.render(path.stem, schema.read(path))
        if not written.exists() or written.read_text(encoding="utf-8") != text:
            written.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {written.relative_to(PAGES.parents[1])}\n")
    return 0


sys.exit(main())
