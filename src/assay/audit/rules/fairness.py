"""W6 and W7: whether what is compared was treated alike."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from assay.audit.document import Reported, TextBlock, sentences
from assay.audit.evidence import Evidence
from assay.audit.finding import AuditHit, audit_rule, hit_at, number, numbered
from assay.audit.names import aliases, distinct, is_scenario, key_of, places
from assay.audit.tables import Grid

_LOADS = ("connections", "threads", "workers")


def unequal_loads(seen: Evidence) -> Iterator[AuditHit]:
    """W6: loads, threads or workers that two compared names do not share at all."""
    groups: dict[int, dict[str, list[Reported]]] = defaultdict(dict)
    for a, b in seen.certain():
        group = a.table
        if not group and (a.get("duration") is None or b.get("duration") is None):
            continue
        for one in (a, b):
            named = groups[group].setdefault(key_of(one.label), [])
            if one not in named:
                named.append(one)
    for sides in groups.values():
        yield from _differing(list(sides.values()))


def _differing(sides: list[list[Reported]]) -> Iterator[AuditHit]:
    first, *others = sides
    for name in _LOADS:
        mine = {figure.value.middle for one in first if (figure := one.get(name)) is not None}
        for other in others:
            theirs = [figure for one in other if (figure := one.get(name)) is not None]
            if not mine or not theirs or any(figure.value.middle in mine for figure in theirs):
                continue
            figure = theirs[0]
            if not distinct(first[0].label, other[0].label):
                continue
            yield hit_at(
                figure,
                f"{number(min(mine))} {name} for {first[0].label!r}, {number(figure.value.middle)} "
                f"for {other[0].label!r}",
                first[0].line,
                other[0].line,
            )
            return


_COUNT = r"(?P<count>\d{1,4}|one|two|four|eight|single)"
_MEANS = re.compile(
    rf"\b{_COUNT}[\s-](?:(?:gunicorn|uvicorn|puma|node|os|worker|server|cpu|virtual|physical) )?"
    r"(?P<kind>worker|process|core|cpu|vcpu|instance|replica|thread|connection|client|dyno)(?:e?s)?\b"
    r"|\b(?P<kind3>c)=?(?P<count3>\d{2,4})\b"
    r"|\b(?P<kind2>worker|process|core|cpu|instance|replica|thread"
    r"|connection)(?:e?s)?\s?[:=x×]\s?(?P<count2>\d{1,4})\b",
    re.IGNORECASE,
)
_STARTED = re.compile(
    r"\b(?:gunicorn|uvicorn|hypercorn|granian|puma|unicorn|uwsgi|sanic|daphne|waitress-serve|passenger|falcon"
    r"|pm2|octane:start|rr|php|node|bun|deno)\b.{0,160}?\s(?:-w|--workers?|--processes|-p|-i|--instances"
    r"|--worker-num|--count)[\s=](?P<one>\d{1,3})\b"
    r"|\b(?:WEB_CONCURRENCY|WORKERS|NUM_WORKERS|GOMAXPROCS|WORKER_COUNT|workers|worker_processes|processes"
    r"|max_children|--cpus)\s?[:= ]\s?(?P<two>\d{1,3})\b"
)
_NUMBERS = {"one": 1.0, "single": 1.0, "two": 2.0, "four": 4.0, "eight": 8.0}


def _means(text: str) -> dict[str, float]:
    """Workers, cores and the like that a name or sentence tells, by kind."""
    found: dict[str, float] = {}
    for each in _MEANS.finditer(text):
        count = (each["count"] or each["count2"] or each["count3"]).lower()
        kind = "connection" if each["kind3"] else (each["kind"] or each["kind2"]).lower().removeprefix("v")
        found.setdefault("core" if kind == "cpu" else kind, _NUMBERS.get(count) or float(count or 0))
    return found


def _bare(label: str) -> str:
    return key_of(_MEANS.sub(" ", label))


def unequal_names(seen: Evidence) -> Iterator[AuditHit]:
    """W6: labels such as "Foo (4 workers)" and "Bar (1 worker)" that no row makes even."""
    for grid in seen.grids:
        sides: dict[str, list[tuple[Reported, dict[str, float]]]] = defaultdict(list)
        for row in grid.results[:60]:
            if not sides[_bare(row.label)] or sides[_bare(row.label)][-1][0].label != row.label:
                sides[_bare(row.label)].append((row, _means(row.label)))
        named = [(name, rows) for name, rows in sides.items() if name and not is_scenario(rows[0][0].label)]
        told = list(_uneven(named))
        yield from told or _uncrossed(grid)


def _uncrossed(grid: Grid) -> Iterator[AuditHit]:
    """Rows "Foo (c64)" and "Bar (c128)" of a table in which nothing was measured with both."""
    told = [
        (row, int(count[0]["count3"]))
        for row in grid.results[:60]
        if len(count := [each for each in _MEANS.finditer(row.label) if each["kind3"]]) == 1
    ]
    names = [" ".join(_MEANS.sub(" ", row.label).split()) for row, _ in told]
    if len(told) < len(grid.results) or len(set(names)) < len(names):
        return
    first, load = told[0]
    for row, other in told[1:]:
        if other != load:
            words = f"{numbered(load, 'connection')} for {first.label!r}, {number(other)} for {row.label!r}"
            yield AuditHit(row.line, row.label, words, about=(first.line, row.line))
            return


def _uneven(sides: list[tuple[str, list[tuple[Reported, dict[str, float]]]]]) -> Iterator[AuditHit]:
    for (_, first), (_, second) in combinations(sides, 2):
        for kind in sorted({kind for _, told in first for kind in told}):
            if not all(kind in told for _, told in (*first, *second)):
                continue
            if {told[kind] for _, told in first} & {told[kind] for _, told in second}:
                continue
            a, b = first[0], second[0]
            yield AuditHit(
                b[0].line,
                b[0].label,
                f"{number(a[1][kind])} {kind} for {a[0].label!r}, {number(b[1][kind])} for {b[0].label!r}",
                about=(a[0].line, b[0].line),
            )
            return


def unequal_starts(seen: Evidence) -> Iterator[AuditHit]:
    """W6: servers whose own commands, each above its output, start different numbers of workers."""
    texts = seen.document.text_at
    told: dict[int, tuple[float, int, str]] = {}
    last = 0
    for result in seen.outputs:
        section = seen.section(result.line)
        begin = max(last + 1, section.line if section else 1)
        for at in range(begin, result.line):
            found = _STARTED.search(texts.get(at, ""))
            if found:
                told[result.line] = (float(found["one"] or found["two"]), at, found[0])
        last = result.last
    for a, b in seen.certain():
        if a.line in told and b.line in told and told[a.line][0] != told[b.line][0]:
            mine, (count, line, quote) = told[a.line], told[b.line]
            words = f"{number(mine[0])} for {a.label!r} (line {mine[1]}), {number(count)} for {b.label!r}"
            yield AuditHit(line, quote, words, about=(a.line, b.line))
            return


_ALONE = re.compile(
    r"\b(?:single|one)[- ](?:core|thread(?:ed)?|process|worker|instance)\b|\bsingle[- ]threaded\b",
    re.IGNORECASE,
)
_MANY = re.compile(
    r"\ball (?:the |of the |available |\d{1,3} )?(?:v?cpus?|cores)\b|\bmulti(?:ple)?[- ]?(?:core"
    r"|thread|process|worker)"
    r"|\bcluster mode\b|\b(?:\d{1,3}|two|four|eight) (?:workers|processes|cores|threads)\b",
    re.IGNORECASE,
)


def unequal_words(seen: Evidence) -> Iterator[AuditHit]:
    """W6: a sentence that says one of two compared has one core or worker, and the other several."""
    names = aliases(list(dict.fromkeys(one.label for pair in seen.compared() for one in pair))[:80])
    for block in seen.document.blocks if len(names) > 1 else ():
        for line, sentence in sentences(block) if block.kind == "prose" else ():
            counts = [
                _means(part)
                for part in re.split(r"\b(?:while|whereas|and|but|vs\.?|versus|against)\b|[,;]", sentence)
            ]
            kinds = {kind for told in counts for kind in told if kind not in ("connection", "client")}
            apart = any(len({told[kind] for told in counts if kind in told}) > 1 for kind in kinds)
            if not apart and not (_ALONE.search(sentence) and _MANY.search(sentence)):
                continue
            named = {label for name, label in names.items() if places(name, sentence)}
            if len({key_of(label) for label in named}) > 1:
                yield AuditHit(line, sentence[:60], "the text says that they did not have the same means")
                return


@audit_rule(
    "W6",
    "unequal loads, cores, workers or pools",
    takes="comparison",
    remedy=(
        "give all the same connections, threads, cores and workers, each in the way its documentation "
        "describes"
    ),
    source="the published heroes study: pools of 3, 20 and 50",
)
def unequal_means(seen: Evidence) -> Iterator[AuditHit]:
    """What is compared did not have the same load or the same means: the difference is also theirs."""
    yield from unequal_loads(seen)
    yield from unequal_names(seen)
    yield from unequal_starts(seen)
    yield from unequal_words(seen)


_HANDICAPS = re.compile(
    r"\b(?:(?:npm|yarn|pnpm|bun) (?:run )?(?:start:)?dev\b|next dev\b|nuxt dev\b|nest start\b|flask run\b"
    r"|flask (?:--\S+ (?:\S+ )?)+run\b|fastapi dev\b|manage\.py runserver|php artisan serve"
    r"|symfony server:start|php -S \S|(?:bin/|bundle exec )?rails s(?:erver)?\b|cargo run\b"
    r"|dotnet (?:run|watch)\b"
    r"|mvnw? (?:\S+ )?(?:spring-boot:run|quarkus:dev|jetty:run)|mvnw? (?:\S+ )?exec:java"
    r"|gradlew? (?:\S+ )?(?:bootRun|run)\b|sbt run\b|lein (?:run|ring server)\b|nodemon\b|ts-node(?:-dev)?\b"
    r"|mix phx\.server|swift run\b|crystal run\b|zig build run\b|webpack-dev-server"
    r"|debug (?:build|mode)\b|development (?:mode|server|build)\b|dev mode\b|unoptimi[sz]ed build"
    r"|(?:RAILS|RACK|NODE|MIX|APP|FLASK)_ENV=dev(?:elopment)?\b|DEBUG\s?=\s?True)"
    r"|\b(?:uvicorn|hypercorn|gunicorn|granian|sanic|uwsgi)\s.{0,80}--(?:reload|debug)\b"
    r"|\[GIN-debug\]|Werkzeug/\d|\bWEBrick/\d|Server Software:\s+(?:Werkzeug|WEBrick|WSGIServer)"
    r"|This is a development server|asp\.net.{0,20}Hosting environment: Development",
    re.IGNORECASE,
)
_RIGHT = re.compile(
    r"release|\bprod|--no-debug|--configuration r|-c r|\bnot\b|n't|without|disabled?|instead of|avoid"
    r"|never|\boff\b|-O ?ReleaseFast|--optimi[sz]e|\bmin_?size"
    r"|\b(?:wrk|bench(?:mark(?:s|er)?|ing)?|load[- ]?test(?:er)?|loadgen|load generator|client)\b",
    re.IGNORECASE,
)
_DEVELOPS = re.compile(r"develop|contribut|hacking|tests?\b(?! (?:setup|environment|server))", re.IGNORECASE)
_MEASURES = re.compile(
    r"benchmark|\bbench\b|performance|comparison|results?\b|load test|\bvs\.?\s", re.IGNORECASE
)


def _own_words(text: str, found: re.Match[str]) -> str:
    """The command of a line with several that the words stand in."""
    begin = max(text.rfind(sign, 0, found.start()) for sign in ("&&", ";", "|"))
    ends = [at for sign in ("&&", ";", "|") if (at := text.find(sign, found.end())) >= 0]
    return text[max(begin, 0) : min(ends, default=len(text))]


@audit_rule(
    "W7",
    "a handicapped server",
    takes="everything",
    remedy="start the release build as its documentation says for production",
    source="the published heroes study",
)
def handicapped(seen: Evidence) -> Iterator[AuditHit]:
    """A debug build, a development mode or a build tool in the way does other work than what people run: the
    figure is not the server's."""
    measuring = {section.line for result in seen.results if (section := seen.section(result.line))}
    measuring |= {section.line for call in seen.commands if (section := seen.section(call.line))}
    for part in seen.document.parts:
        if not isinstance(part, TextBlock):
            continue
        for line in part.lines:
            found = _HANDICAPS.search(line.text)
            if (
                not found
                or _RIGHT.search(_own_words(line.text, found))
                or (part.kind != "code" and "`" in line.text)
            ):
                continue
            section = seen.section(line.number)
            if (
                section is None
                or section.line in measuring
                or (
                    seen.results
                    and any(_MEASURES.search(title) for title in section.path)
                    and not _DEVELOPS.search(section.title)
                )
            ):
                yield AuditHit(line.number, found[0], f"{found[0]!r} is for developing")
