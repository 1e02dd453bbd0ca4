"""The verbs that tell what there is: servers, studies, nodes of a cluster, rules, and formats of files."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.core import console
from assay.core.errors import EXIT_INVALID, EXIT_OK

if TYPE_CHECKING:
    from assay.cli.parser import Parser

FORMATS = ("run", "study", "server", "contract")


@dataclass(frozen=True)
class Listing:
    """One of these verbs, as `assay.cli.verbs` asks for it."""

    configure: Callable[[Parser], None]
    run: Callable[[argparse.Namespace], int]


def _servers_flags(parser: Parser) -> None:
    parser.examples(("assay servers", "every server of this checkout and of ./servers"))


def _servers(args: argparse.Namespace) -> int:
    """The servers that there are."""
    from assay.cli import listings
    from assay.core.settings import Settings
    from assay.servers import list_servers

    console.show(listings.servers(list_servers(Settings.resolve())))
    return EXIT_OK


def _studies_flags(parser: Parser) -> None:
    parser.examples(("assay studies", "every study of this checkout and of ./studies"))


def _studies(args: argparse.Namespace) -> int:
    """The studies that there are."""
    from assay.cli import listings
    from assay.core.settings import Settings
    from assay.plan.study import list_studies, load_study

    settings = Settings.resolve()
    console.show(listings.studies(load_study(str(path), settings) for path in list_studies(settings)))
    return EXIT_OK


def _nodes_flags(parser: Parser) -> None:
    parser.add_argument("--ray", required=True, metavar="HOST:PORT", help="the cluster's head")
    parser.add_argument("--json", action="store_true", help="all of it as JSON on standard output")
    parser.examples(
        ("assay nodes --ray 10.0.0.1:6379", "who is there, and what is wrong"),
        ("assay nodes --ray 10.0.0.1:6379 --json | jq '.nodes[].clock'", "the clocks for a script"),
    )


def _nodes(args: argparse.Namespace) -> int:
    """The machines of a cluster, their roles and versions, clocks and links. Exit code 1 where something is
    wrong with one."""
    from assay.cli import listings
    from assay.cluster import session

    seen = session.survey(args.ray)
    if args.json:
        from assay.core.units import as_json

        console.write(as_json(seen))
    else:
        console.show(listings.nodes(seen))
    return EXIT_INVALID if seen.problems else EXIT_OK


def _rules_flags(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="the rules as JSON")
    parser.examples(
        ("assay rules", "every rule: how grave it is, what it does to which figures, what it finds"),
        ("assay explain G1", "one rule in full"),
    )


def _rules(args: argparse.Namespace) -> int:
    """The rules by which numbers are judged, in a table."""
    from assay.report import rules

    if args.json:
        console.write(rules.as_json())
    else:
        console.show(rules.listing())
    return EXIT_OK


def _explain_flags(parser: Parser) -> None:
    parser.add_argument("codes", metavar="CODE", nargs="+", help="a rule's code, such as G1")
    parser.examples(("assay explain W2", "what it means that requests failed, and what to do"))


def _explain(args: argparse.Namespace) -> int:
    """One rule in full, for each code."""
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


def _schema_flags(parser: Parser) -> None:
    parser.add_argument("format", choices=FORMATS, metavar="FORMAT", help=", ".join(FORMATS))
    parser.examples(
        ("assay schema study > study.schema.json", "for an editor that checks a study while you write"),
        ("assay schema run", "what a stored run consists of"),
    )


def _schema(args: argparse.Namespace) -> int:
    """The JSON Schema of a file format."""
    from assay.core.units import as_json

    match args.format:
        case "run":
            from assay.store import json_schema
        case "study":
            from assay.plan.study import json_schema
        case "server":
            from assay.servers.manifest import json_schema
        case _:
            from assay.servers.contract import json_schema
    console.write(as_json(json_schema()))
    return EXIT_OK


servers = Listing(_servers_flags, _servers)
studies = Listing(_studies_flags, _studies)
nodes = Listing(_nodes_flags, _nodes)
rules = Listing(_rules_flags, _rules)
explain = Listing(_explain_flags, _explain)
schema = Listing(_schema_flags, _schema)
