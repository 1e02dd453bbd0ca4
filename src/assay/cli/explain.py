"""`assay explain CODE`: one rule in full."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.core import console
from assay.core.errors import EXIT_OK

if TYPE_CHECKING:
    from assay.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("codes", metavar="CODE", nargs="+", help="a rule's code, such as G1")
    parser.examples(("assay explain W2", "what it means that requests failed, and what to do"))


def run(args: argparse.Namespace) -> int:
    """Explain each code."""
    from assay.audit import AUDIT_RULES
    from assay.report import rules
    from assay.verdict import RULES, explain

    for code in args.codes:
        of_audit = AUDIT_RULES.get(code.strip().upper())
        if of_audit is not None and of_audit.code not in RULES:
            console.show(rules.of_audits(of_audit))
        else:
            console.show(rules.in_full(explain(code)))
    return EXIT_OK
