"""The verbs that tell what there is: servers, studies, nodes of a cluster, rules, and formats of files."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.cli.verbs import VerbPart
from assay.core import console
from assay.core import units as fmt
from assay.core.errors import EXIT_INVALID, EXIT_OK
from assay.model.run import NodeSeen, Survey
from assay.report.style import HEADING, SEVERITY_STYLE

if TYPE_CHECKING:
    from assay.audit.finding import AuditRule
    from assay.cli.parser import Parser
    from assay.plan.study import Study
    from assay.runner.doctor import Fitness, Need
    from assay.servers import Server
    from assay.verdict import Rule


FORMATS = ("run", "study", "server", "contract")


def _servers_flags(parser: Parser) -> None:
    parser.examples(("assay servers", "every server of this checkout and of ./servers"))


def _servers(args: argparse.Namespace) -> int:
    """The servers that there are."""
    from assay.core.settings import Settings
    from assay.servers import list_servers

    console.show(servers_table(list_servers(Settings.resolve())))
    return EXIT_OK


def _studies_flags(parser: Parser) -> None:
    parser.examples(("assay studies", "every study of this checkout and of ./studies"))


def _studies(args: argparse.Namespace) -> int:
    """The studies that there are."""
    from assay.core.settings import Settings
    from assay.plan.study import list_studies, load_study

    settings = Settings.resolve()
    console.show(studies_table(load_study(str(path), settings) for path in list_studies(settings)))
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
    from assay.cluster import session

    seen = session.survey(args.ray)
    if args.json:
        from assay.core.units import as_json

        console.write(as_json(seen))
    else:
        console.show(nodes_table(seen))
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
    parser.add_argument("--json", action="store_true", help="the rules in full as a JSON list")
    parser.examples(
        ("assay explain W2", "what it means that requests failed, and what to do"),
        ("assay explain G1 --json | jq '.[].evidence'", "measurements behind a rule"),
    )


def _explain(args: argparse.Namespace) -> int:
    """One rule in full, for each code; what docs/method/rules says of it."""
    from assay.audit import AUDIT_RULES
    from assay.report import rules
    from assay.verdict import RULES
    from assay.verdict.rules import unknown_rule

    known: dict[str, AuditRule | Rule] = {**AUDIT_RULES, **RULES}
    codes = [code.strip().upper() for code in args.codes]
    for code, given in zip(codes, args.codes, strict=True):
        if code not in known:
            raise unknown_rule(given, known)
    if args.json:
        console.write(rules.pages_as_json(known[code] for code in codes))
        return EXIT_OK
    for code in codes:
        console.show(rules.in_full(rules.page(known[code])))
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


servers = VerbPart(_servers_flags, _servers)
studies = VerbPart(_studies_flags, _studies)
nodes = VerbPart(_nodes_flags, _nodes)
rules = VerbPart(_rules_flags, _rules)
explain = VerbPart(_explain_flags, _explain)
schema = VerbPart(_schema_flags, _schema)


_YES, _NO = "✓", "✗"


def needs_page(
    needs: Sequence[Need], machine: Sequence[Fitness], name: str = "The machine"
) -> RenderableType:
    """The needs of each server and service, then the machine's own fitness."""
    parts: list[RenderableType] = []
    if needs:
        parts += [Text("What the servers need", style=HEADING), _needs(needs), Text("")]
    parts += [Text(name, style=HEADING), _machine(machine)]
    return Group(*parts)


def servers_table(found: Iterable[Server]) -> RenderableType:
    """The servers by contract, with what they are."""
    table = _table("server", "what it is", "role")
    for server in found:
        table.add_row(server.id, fmt.safe(server.manifest.title), server.manifest.role)
    return table


def studies_table(found: Iterable[Study]) -> RenderableType:
    """The studies and their questions."""
    table = _table("study", "question", "servers")
    for study in found:
        table.add_row(study.file.name, fmt.safe(study.file.question, 300), str(len(study.servers)))
    return table


def _needs(needs: Sequence[Need]) -> Table:
    table = _table("", "server", "needs", "found, or how to get it")
    for need in needs:
        name = need.name
        for one in need.checked:
            told = (
                one.install or fmt.safe(one.problem, 200)
                if one.problem
                else _version_cell(one.version, one.line)
            )
            table.add_row(_YES if one.fulfilled else _NO, name, one.requirement.name, told)
            name = ""
        if need.built is not None:
            state = "built" if need.built else f"not built yet: assay setup {need.name.partition(' ')[0]}"
            table.add_row(_YES if need.built else "·", name, "build", state)
    return table


def _version_cell(version: str, line: str) -> str:
    return version or fmt.safe(line, 100) or "there"


def _machine(machine: Sequence[Fitness]) -> Table:
    table = _table("", "property", "seen", "what to do")
    for one in machine:
        table.add_row(_YES if one.fit else _NO, one.name, one.state, "" if one.fit else one.remedy)
    return table


def _table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style=HEADING)
    for head in heads:
        table.add_column(head, overflow="fold")
    return table


def nodes_table(seen: Survey) -> RenderableType:
    """The nodes, by address."""
    made = Table(box=None, pad_edge=False, header_style=HEADING)
    for head in ("node", "roles", "cores", "versions", "clock", "round trip", "link"):
        made.add_column(head, overflow="fold")
    for node in seen.nodes:
        made.add_row(node.address, ", ".join(node.roles) or "none", *_figures(node))
    wrong = [Text(f"✗ {fmt.safe(line, 300)}", SEVERITY_STYLE["warning"]) for line in seen.problems]
    return Group(Text(f"The cluster at {fmt.safe(seen.address)}", HEADING), made, *wrong)


def _figures(node: NodeSeen) -> tuple[str, ...]:
    about, clock = node.about, node.clock
    if about is None or clock is None:
        return ("", "", "", "", "")
    versions = f"Assay {about.assay_version}, engine {about.engine_version}, Linux {about.kernel}"
    ahead, sure = clock.offset_ns / 1e6, clock.uncertainty_ns / 1e6
    links = [
        f"{link.bytes_per_s / 1e6:,.0f} MB/s to {link.server}" for link in node.links if link.bytes_per_s
    ]
    return (
        str(about.cores),
        fmt.safe(versions),
        f"{ahead:+.2f} ± {sure:.2f} ms",
        f"{clock.round_trip_ns / 1e6:.2f} ms",
        ", ".join(links),
    )
