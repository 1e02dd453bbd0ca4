"""A `StudyPage` as Markdown: tables, and the sentences of `words` with their figures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from assay.core import units as fmt
from assay.core.units import called, listed
from assay.report.document import Cell, Column, Table, TableLine
from assay.report.markdown import drawn, escape
from assay.report.model.tables import COLUMNS as OF_REPORTS
from study_pages import words
from study_pages.findings import finding, texts
from study_pages.layout import item, wrapped
from study_pages.schema import Ahead, Claim, Grid, LoadResult, StudyPage, StudyRun

HEADS = {"throughput": "throughput", "cpu": "server CPU"}
COLUMNS = [replace(one, head=HEADS.get(one.name, one.head)) for one in OF_REPORTS]
APART = {"ceiling", "reference", "control"}
"""What stands in place of a ratio to the best in the row of a server that does not compete."""
MOST_NAMES = 4


def render(name: str, page: StudyPage) -> str:
    """The whole page of the study `name`."""
    lines = [f"# {page.title}", "", words.WRITTEN.format(name=name), ""]
    for paragraph in (words.STUDY.format(name=name), *page.about):
        lines += [*wrapped(paragraph), ""]
    if page.lessons:
        lines += [f"## {words.LESSONS}", "", *(line for one in page.lessons for line in item(one)), ""]
    if page.published is not None:
        lines += drawn(table("published", [page.published]), 2)
    explained: set[str] = set()
    for run in page.runs:
        lines += of_run(name, run, explained)
    return "\n".join(lines).rstrip("\n") + "\n"


def of_run(name: str, run: StudyRun, explained: set[str]) -> Iterator[str]:
    """One profile: the answer, the results, what stands against them, the circumstances.

    `explained` are the rules whose meaning the page has told.
    """
    yield from (f"## {words.PROFILES[run.profile]}", "")
    yield from answers(run)
    yield from sureness(run)
    yield from results(run)
    yield from following(run)
    if run.missing:
        yield from heading("missing")
        for one in run.missing:
            yield from item(escape(words.MISSING.format(server=one.server, reason=one.reason)))
        yield ""
    if run.claims:
        yield from drawn(claims(run.claims), 3)
    if run.findings:
        yield from heading("findings")
        yield from (*wrapped(words.FINDINGS), "")
        for found in run.findings:
            yield from finding(found, explain=found.code not in explained)
            explained.add(found.code)
        yield ""
    yield from drawn(table("servers", [run.servers]), 3)
    yield from drawn(trials(run), 3)
    yield from heading("how")
    for what, how in circumstances(name, run):
        yield from item(f"{words.HOW[what]}: {escape(how)}")
    yield ""


def heading(key: str) -> tuple[str, str]:
    """A heading below the profile's."""
    return f"### {words.TITLES[key]}", ""


def answers(run: StudyRun) -> Iterator[str]:
    """The answer of each load: a paragraph, or a list where there are several."""
    told: dict[str, list[str]] = {}
    for one in run.results:
        told.setdefault(" ".join(answer(one)), []).append(one.load)
    for said, loads in told.items():
        if said and len(run.results) == 1:
            yield from wrapped(f"**{escape(said)}**")
        elif said:
            yield from item(f"**{escape('; '.join(loads))}**: {escape(said)}")
    yield ""


def answer(result: LoadResult) -> Iterator[str]:
    """Who is fastest and by how much at one load; who has no rank, and why."""
    rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
    rows = [row for row in rows if row.get("ahead") not in APART]
    ranked = [row for row in rows if row.get("rank", "").isdigit()]
    first = [row["server"] for row in ranked if row["rank"] == "1"]
    limits = f" ({', '.join(result.limits)})" if result.limits else ""
    if len(first) > 1:
        many = words.MANY.format(count=len(first))
        servers = many if len(first) > MOST_NAMES else listed(first)
        yield words.SHARED.format(servers=servers, limits=limits)
        if result.by_itself:
            yield step(words.BY_ITSELF, result.by_itself)
        yield from (step(words.NEXT, one) for one in result.ahead)
    elif first and result.ahead:
        yield step(words.FASTEST, result.ahead[0])
        yield from (step(words.NEXT, one) for one in result.ahead[1:])
    elif first:
        yield words.FASTEST_ALONE.format(server=called(first[0]), rate=rate(ranked[0]))
    elif result.clock != "response":
        yield from without_ranks(rows, result, limits)
    kept_out = by_codes(result.unranked)
    if not first and len(kept_out) == 1 and len(result.unranked) == len(rows):
        yield words.NO_RANKING_BY.format(rules=rules(next(iter(kept_out))))
        return
    for codes, names in kept_out.items():
        yield words.NOT_RANKED.format(servers=listed(names), rules=rules(codes))


def without_ranks(rows: Sequence[dict[str, str]], result: LoadResult, limits: str) -> Iterator[str]:
    """One server alone, or several of which none may be compared."""
    shown = [row for row in rows if row["throughput"][:1].isdigit() or row["throughput"][:1] in "≥≤"]
    shown = [row for row in shown if row["server"] not in result.unranked]
    if len(shown) == 1:
        yield words.SERVES.format(server=called(shown[0]["server"]), rate=rate(shown[0]), limits=limits)
    elif rows and not shown and not result.unranked:
        yield words.NO_RESULT
    elif len(result.unranked) < len(rows):
        yield words.NO_RANKING


def rate(row: dict[str, str]) -> str:
    """A throughput with its interval."""
    return f"{row['throughput']} {row.get('interval', '').strip('–')}".strip()


def step(template: str, one: Ahead) -> str:
    """A sentence about two servers."""
    value, space, interval = one.ratio.partition(" [")
    ratio = f"{value}×{space}{interval}"
    return template.format(faster=called(one.faster), ratio=ratio, slower=called(one.slower))


def by_codes(unranked: dict[str, tuple[str, ...]]) -> dict[tuple[str, ...], list[str]]:
    """Servers by the rules that keep them out."""
    found: dict[tuple[str, ...], list[str]] = {}
    for server, codes in unranked.items():
        found.setdefault(codes, []).append(server)
    return found


def rules(codes: Iterable[str]) -> str:
    """Rules with their titles: "W6: unequal cores, workers or pools"."""
    return "; ".join(f"{code}: {texts(code)[0]}" for code in codes)


def sureness(run: StudyRun) -> Iterator[str]:
    """How sure the answer is, a paragraph each."""
    said = []
    if any(one.ahead or "ahead" in one.columns for one in run.results):
        effect = re.sub(r"\.0 %", " %", run.minimum_effect)
        said.append(words.CI.format(blocks=fmt.counted(run.blocks, "block"), effect=effect))
    grave = {
        severity: sorted({one.code for one in run.findings if one.severity == severity})
        for severity in ("error", "warning")
    }
    counts = "; ".join(f"{severity} {', '.join(codes)}" for severity, codes in grave.items() if codes)
    said.append(words.NOT_CLEAN.format(counts=counts) if counts else words.CLEAN)
    if run.limits:
        each = (f"{rules([code])} ({listed(servers)})" for code, servers in run.limits.items())
        said.append(words.LIMITS.format(rules="; ".join(each)))
    said += [words.CONTROL.format(server=server, change=change) for server, change in run.controls.items()]
    said += [widest(run)] if run.widest else []
    for one in run.scaling:
        peak = words.NO_PEAK.format(up_to=one.up_to)
        if one.peak:
            peak = words.PEAK.format(peak=one.peak, connections=one.peak_connections)
        said.append(words.SCALING.format(peak=peak, **facts(one, "server contention coherency residual")))
    for setting in run.thresholds:
        title = texts(setting.code)[0]
        said.append(words.THRESHOLD.format(title=title, **facts(setting, "code name value usual reason")))
    for sentence in said:
        yield from (*wrapped(escape(sentence)), "")


def facts(value: object, names: str) -> dict[str, object]:
    """Fields of a value, for a template."""
    return {name: getattr(value, name) for name in names.split()}


def widest(run: StudyRun) -> str:
    """The ratio that scatters most, and what would narrow it."""
    one = run.widest
    assert one is not None  # asked before
    more = words.NEVER if one.more_blocks is None else words.MORE_BLOCKS.format(blocks=f"{one.more_blocks:,}")
    half = f", ± {one.half}" if one.half else ""
    said = words.WIDEST.format(
        pair=" / ".join(one.pair), half=half, more=more, **facts(one, "within rounds between")
    )
    return said.rstrip()


def results(run: StudyRun) -> Iterator[str]:
    """One table of all loads, and how to read it."""
    several = len(run.results) > 1
    used = {name for one in run.results for name in one.columns}
    columns = [Column("load", "load", key=True)] * several + [one for one in COLUMNS if one.name in used]
    lines = []
    for result in run.results:
        for row in result.rows:
            cells = dict(zip(result.columns, row, strict=True)) | {"load": result.load}
            lines.append([cells.get(one.name, "" if one.name == "rank" else "–") for one in columns])
    strong = next(place for place, one in enumerate(columns) if one.name == "throughput")
    yield from drawn(grid_of(words.TITLES["results"], columns, lines, strong), 3)
    yield from (*wrapped(" ".join(reading(run, used))), "")


def reading(run: StudyRun, used: set[str]) -> Iterator[str]:
    """How to read the results."""
    clocks = {one.clock for one in run.results if one.clock}
    if "service" in clocks:
        yield words.SERVICE_TIMES
    if clocks == {"response"}:
        yield words.RESPONSE_TIMES_ALL
    elif "response" in clocks:
        loads = "; ".join(one.load for one in run.results if one.clock == "response")
        yield words.RESPONSE_TIMES.format(loads=loads)
    for link in dict.fromkeys(one.link for one in run.results if one.link):
        loads = "; ".join(one.load for one in run.results if one.link == link)
        yield words.OVER_LINK.format(link=link, loads=loads)
    if "cpu" in used:
        yield words.CPU
    if any(APART & set(row) for one in run.results for row in one.rows):
        yield words.APART


def following(run: StudyRun) -> Iterator[str]:
    """What follows the results: response times at rates, capacities, services."""
    if run.response_times:
        yield from drawn(table("response", run.response_times), 3)
        said = [words.OPEN_LOOP]
        for grid in run.response_times:
            for code, servers in grid.limits.items():
                said.append(words.BOUNDS_OF_TIMES.format(rules=code, servers=listed(servers)))
        if any("wide" in cell for grid in run.response_times for row in grid.rows for cell in row):
            said.append(words.WIDE)
        yield from (*wrapped(" ".join(said)), "")
    if run.capacities:
        yield from drawn(table("capacity", run.capacities), 3)
        yield from (*wrapped(words.CAPACITY), "")
    if run.services is not None:
        yield from drawn(table("services", [run.services]), 3)
        said = [words.SERVICES]
        for service, version in run.service_versions.items():
            said.append(escape(words.VERSION.format(service=service, version=version)))
        yield from (*wrapped(" ".join(said)), "")


def table(key: str, grids: Sequence[Grid]) -> Table:
    """Tables of one kind as one, the load in front where there are several."""
    loads = [grid.load for grid in grids if grid.load]
    title = words.TITLES[key] + (f": {loads[0]}" if len(loads) == 1 else "")
    heads = [*(["load"] if len(loads) > 1 else []), *grids[0].columns]
    lines = [[*([grid.load] if len(loads) > 1 else []), *row] for grid in grids for row in grid.rows]
    columns = [
        Column(head, head, right=head not in words.LEFT and figures(place, lines))
        for place, head in enumerate(heads)
    ]
    return grid_of(title, columns, lines)


def figures(place: int, lines: Sequence[Sequence[str]]) -> bool:
    """Whether a column holds figures."""
    return all(re.match(r"[\d≥≤<–*]|invalid$|$", line[place]) for line in lines)


def grid_of(title: str, columns: Sequence[Column], lines: Iterable[Sequence[str]], strong: int = -1) -> Table:
    """A table of plain cells; of figures in the column `strong`, bold ones."""
    made = (
        TableLine(
            tuple(
                Cell(text, "strong" if place == strong and re.match(r"[\d≥≤]", text) else "plain")
                for place, text in enumerate(line)
            )
        )
        for line in lines
    )
    return Table(title, tuple(columns), tuple(made))


def claims(each: Sequence[Claim]) -> Table:
    """The claims, each with its comparisons below it; without the columns that nothing stands in."""
    heads = ("claim", "published", "measured", "verdict", "why", "rules")
    lines = [line for claim in each for line in (claim_line(claim), *map(claim_line, claim.parts))]
    used = [place for place in range(len(heads)) if any(line[place] for line in lines)]
    columns = [Column(heads[place], heads[place], right=heads[place] == "published") for place in used]
    return grid_of(words.TITLES["claims"], columns, [[line[place] for place in used] for line in lines])


def claim_line(claim: Claim) -> tuple[str, ...]:
    """A claim against what was measured."""
    why = words.WHY[claim.why].format(missing=claim.missing)
    if claim.within:
        why = words.WITHIN.format(within=claim.within)
    if claim.parts:
        known = Counter(
            part.verdict if part.verdict in ("contradicted", "inconclusive") else "supported"
            for part in claim.parts
        )
        counts = ", ".join(f"{verdict} in {count}" for verdict, count in known.items())
        why = words.PARTS.format(counts=counts, all=len(claim.parts))
    name = f"({claim.claim}) {claim.statement}" if claim.claim else f"– {claim.statement}"
    return name, claim.published, claim.measured, claim.verdict, why, ", ".join(claim.rules)


def trials(run: StudyRun) -> Table:
    """Every trial, server by server."""
    columns = [Column(head, head, right=head not in words.LEFT) for head in words.TRIAL]
    lines = []
    for server, rows in run.trials.items():
        for block, per_s, *times_us, failed in rows:
            times = [fmt.time(None if one is None else one * 1000) for one in times_us]
            lines.append([server, str(block), fmt.rate(per_s), *times, fmt.count(failed)])
    return grid_of(words.TITLES["trials"], columns, lines)


def circumstances(name: str, run: StudyRun) -> Iterator[tuple[str, str]]:
    """(what, how) of all that a figure rests on."""
    quick = words.QUICK if run.quick else ""
    blocks = fmt.counted(run.blocks, "block")
    known = facts(run, "profile cases seed date")
    yield "run", words.RUN.format(study=name, quick=quick, blocks=blocks, **known)
    yield "order", words.INTERLEAVED if run.slices else words.SEQUENTIAL
    for one in run.slices:
        load, why = (f"{one.load}: " if one.load else ""), (f" ({one.why})" if one.why else "")
        trimmed = words.TRIMMED if one.trimmed else ""
        known = facts(one, "servers length washout each")
        blocks = fmt.counted(one.blocks, "block")
        yield "slices", words.SLICES.format(load=load, why=why, trimmed=trimmed, blocks=blocks, **known)
    yield from (("load", one) for one in run.loads)
    if run.warm_up is not None:
        yield "warm-up", words.WARM_UP.format(**facts(run.warm_up, "least most steady trials"))
    yield from (("link", one) for one in run.links)
    yield "machine", run.machine
    yield "versions", ", ".join(f"{tool} {version}" for tool, version in run.versions.items())
    if run.commit:
        yield "commit", run.commit
    yield "descriptors", f"{run.descriptors:,}"
    yield "record", run.record
    yield "command", run.command
