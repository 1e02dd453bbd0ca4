"""The verbs that tell what there is: servers, studies, nodes of a cluster, rules, and formats of files."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from assay.cli.verbs import VerbPart
from assay.core import console
from assay.core import units as fmt
from assay.core.errors import EXIT_INVALID, EXIT_OK
from assay.model.run import NodeSeen, Survey
from assay.report.document import Paragraph, Section, Table, plain

if TYPE_CHECKING:
    from assay.audit.finding import AuditRule
    from assay.cli.parser import Parser
    from assay.plan.study import Study
    from assay.runner.doctor import Fitness, Need
    from assay.servers import Server
    from assay.verdict import Rule


FORMATS = ("run", "study", "server", "contract")


def show_sections(*told: Section) -> None:
    """Print them."""
    from assay.report.terminal import sections

    console.show(sections(told))


def _servers_flags(parser: Parser) -> None:
    parser.examples(("assay servers", "every server of this checkout and of ./servers"))


def _servers(args: argparse.Namespace) -> int:
    """The servers that there are."""
    from assay.core.settings import Settings
    from assay.servers import list_servers

    show_sections(servers_table(list_servers(Settings.resolve())))
    return EXIT_OK


def _studies_flags(parser: Parser) -> None:
    parser.examples(("assay studies", "every study of this checkout and of ./studies"))


def _studies(args: argparse.Namespace) -> int:
    """The studies that there are."""
    from assay.core.settings import Settings
    from assay.plan.study import list_studies, load_study

    settings = Settings.resolve()
    show_sections(studies_table(load_study(str(path), settings) for path in list_studies(settings)))
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
        show_sections(nodes_table(seen))
    return EXIT_INVALID if seen.problems else EXIT_OK


def _rules_flags(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="the rules as JSON")
    parser.examples(
        ("assay rules", "every rule: how grave it is, what it does to which figures, what it finds"),
        ("assay explain G1", "one rule in full"),
    )


def _rules(args: argparse.Namespace) -> int:
    """The rules by which numbers are judged, in a table."""
    from assay.report.model import rules

    if args.json:
        console.write(rules.as_json())
    else:
        show_sections(rules.listing())
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
    from assay.report.model import rules
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
    show_sections(*(rules.in_full(known[code]) for code in codes))
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
) -> tuple[Section, ...]:
    """The needs of each server and service, then the machine's own fitness."""
    of_servers = Section("needs", "What the servers need", (_needs(needs),))
    return (*((of_servers,) if needs else ()), Section("machine", name, (_machine(machine),)))


def servers_table(found: Iterable[Server]) -> Section:
    """The servers by contract, with what they are."""
    rows = ((server.id, server.manifest.title, server.manifest.role) for server in found)
    return Section("servers", "", (_table(("server", "what it is", "role"), rows),))


def studies_table(found: Iterable[Study]) -> Section:
    """The studies and their questions."""
    rows = ((study.file.name, study.file.question, str(len(study.servers))) for study in found)
    return Section("studies", "", (_table(("study", "question", "servers"), rows),))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    return plain("", heads, rows, longest=300, keys=len(heads))


def _needs(needs: Sequence[Need]) -> Table:
    rows = []
    for need in needs:
        name = need.name
        for one in need.checked:
            if one.problem:
                told = one.install or fmt.safe(one.problem, 200)
            else:
                told = one.version or fmt.safe(one.line, 100) or "there"
            rows.append((_YES if one.fulfilled else _NO, name, one.requirement.name, told))
            name = ""
        if need.built is not None:
            state = "built" if need.built else f"not built yet: assay setup {need.name.partition(' ')[0]}"
            rows.append((_YES if need.built else "·", name, "build", state))
    return _table(("", "server", "needs", "found, or how to get it"), rows)


def _machine(machine: Sequence[Fitness]) -> Table:
    rows = ((_YES if one.fit else _NO, one.name, one.state, "" if one.fit else one.remedy) for one in machine)
    return _table(("", "property", "seen", "what to do"), rows)


def nodes_table(seen: Survey) -> Section:
    """The nodes, by address."""
    rows = ((node.address, ", ".join(node.roles) or "none", *_figures(node)) for node in seen.nodes)
    heads = ("node", "roles", "cores", "versions", "clock", "round trip", "link")
    wrong = (Paragraph(f"✗ {fmt.safe(line, 300)}", "warn") for line in seen.problems)
    return Section("nodes", f"The cluster at {fmt.safe(seen.address)}", (_table(heads, rows), *wrong))


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
