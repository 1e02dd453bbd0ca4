"""W6 and W7: whether what is compared was treated alike."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from assay.audit.document import Block
from assay.audit.finding import AuditRule, Hit
from assay.audit.names import distinct, key_of
from assay.audit.reported import Reported
from assay.audit.seen import Seen
from assay.audit.words import number

_LOADS = ("connections", "threads", "workers")


def unequal_loads(seen: Seen) -> Iterator[Hit]:
    """W6: loads, threads or workers that two compared names do not share at all."""
    groups: dict[int, dict[str, list[Reported]]] = defaultdict(dict)
    for a, b in seen.compared():
        group = a.table
        if not group and (a.get("duration") is None or b.get("duration") is None):
            continue
        for one in (a, b):
            named = groups[group].setdefault(key_of(one.label), [])
            if one not in named:
                named.append(one)
    for sides in groups.values():
        yield from _differing(list(sides.values()))


def _differing(sides: list[list[Reported]]) -> Iterator[Hit]:
    first, *others = sides
    for name in _LOADS:
        mine = {one.get(name).value.middle for one in first if one.get(name)}  # type: ignore[union-attr]
        for other in others:
            theirs = [figure for one in other if (figure := one.get(name)) is not None]
            if not mine or not theirs or any(figure.value.middle in mine for figure in theirs):
                continue
            figure = theirs[0]
            if not distinct(first[0].label, other[0].label):
                continue
            yield Hit(
                figure.line,
                figure.quote,
                f"{number(min(mine))} {name} for {first[0].label!r}, {number(figure.value.middle)} "
                f"for {other[0].label!r}",
                about=(first[0].line, other[0].line),
            )
            return


W6 = AuditRule(
    code="W6",
    title="unequal loads, cores, workers or pools",
    takes="comparison",
    meaning="What is compared did not have the same load or the same means: the difference is also theirs.",
    remedy=(
        "give all the same connections, threads, cores and workers, each in the way its documentation "
        "describes"
    ),
    source="the published heroes study: pools of 3, 20 and 50",
    check=unequal_loads,
)

_HANDICAPS = re.compile(
    r"\b(?:(?:npm|yarn|pnpm|bun) (?:run )?dev\b|next dev\b|nuxt dev\b|vite dev\b|flask run\b"
    r"|manage\.py runserver|php artisan serve|php -S \S"
    r"|rails s(?:erver)?\b|cargo run\b|dotnet run\b|mvnw? (?:\S+ )?spring-boot:run"
    r"|mvnw? (?:\S+ )?exec:java|gradlew? (?:\S+ )?(?:bootRun|run)\b|sbt run\b|lein run\b"
    r"|nodemon\b|mix phx\.server|debug (?:build|mode)\b|development (?:mode|server)\b|dev mode\b"
    r"|--reload\b|RAILS_ENV=development|NODE_ENV=development"
    r"|DEBUG\s?=\s?True)",
    re.IGNORECASE,
)
_RIGHT = re.compile(
    r"release|prod|--no-debug|--configuration r|-c r|\bnot\b|n't|without|disabled?|instead of|avoid"
    r"|never|\boff\b|unoptimi[sz]ed"
    r"|wrk|bench|load|client",
    re.IGNORECASE,
)


def handicapped(seen: Seen) -> Iterator[Hit]:
    """W7: started for development, in a section that measures."""
    measuring = {section.line for result in seen.results if (section := seen.section(result.line))}
    measuring |= {section.line for call in seen.commands if (section := seen.section(call.line))}
    for part in seen.document.parts:
        if not isinstance(part, Block):
            continue
        for line in part.lines:
            found = _HANDICAPS.search(line.text)
            if not found or _RIGHT.search(line.text) or (part.kind != "code" and "`" in line.text):
                continue
            section = seen.section(line.number)
            if section is None or section.line in measuring:
                yield Hit(line.number, found[0], f"{found[0]!r} is for developing")


W7 = AuditRule(
    code="W7",
    title="a handicapped server",
    takes="everything",
    meaning=(
        "A debug build, a development mode or a build tool in the way does other work than what people "
        "run: the figure is not the server's."
    ),
    remedy="start the release build as its documentation says for production",
    source="the published heroes study",
    check=handicapped,
)
