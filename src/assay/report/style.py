"""Colours and marks of the terminal: readable on light and dark, and never the only sign."""

from __future__ import annotations

from assay.model.finding import Severity

# From the 256-colour table where the 16 basic colours depend on the theme: basic yellow is
# invisible on a light background.
SEVERITY_STYLE: dict[Severity, str] = {"withheld": "bold red", "flagged": "color(166)", "note": "cyan"}
SEVERITY_MARK: dict[Severity, str] = {"withheld": "✗", "flagged": "!", "note": "·"}

GOOD = "green"
HEADING = "bold"
FAINT = "dim"
