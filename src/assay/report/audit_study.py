"""A study file out of an audit: the published load and figures, a fair load, the conclusions as claims.

The servers themselves are not in the text: each entry names a folder that is still to be written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from assay.audit.document import Reported
from assay.audit.judge import Audit, compared, path_of
from assay.audit.names import key_of
from assay.core.errors import InputError
from assay.core.units import safe


def study(found: Audit, name: str) -> str:
    """The study as TOML; `InputError` where the text compares nothing."""
    sides = compared(found, most=40)
    if len(sides) < 2:
        raise InputError(
            f"{found.name} compares nothing that a study could repeat", "`assay load` measures one server"
        )
    slugs = _slugs(sides)
    folder = _slug(name) or "audited"
    path = next((path_of(one.url) for one in sides if "://" in one.url), "/") or "/"
    lines = [
        f"# From {_shown(found.name)}, by `assay audit --study`. Write the servers: a folder "
        f"servers/{folder}/NAME each, as",
        f"# `assay init {folder}` shows, and a route {_shown(_slug(path) or 'root')!r} in their "
        f"contract. Then: assay run {folder}.",
        "format = 1",
        f"name = {_text(folder)}",
        f"title = {_text('What ' + found.name + ' says, measured again')}",
        f"question = {_text('Which of the published conclusions hold?')}",
        "",
        "[publication]",
        f"commands = {_list(one.quote for one in found.evidence.commands)}",
        f"machine = {_text(found.evidence.facts.machine.quote if found.evidence.facts.machine else '')}",
        f"flaws = {_list(f'{r.code}, line {r.line}: {r.arithmetic}' for r in found.remarks)}",
    ]
    for one, slug in zip(sides, slugs, strict=True):
        lines += [
            "",
            "[[servers]]",
            f"server = {_text(f'{folder}/{slug}')}",
            f"label = {_text(one.label)}",
            *_figures(one),
        ]
    lines += [
        "",
        "[[workloads]]",
        f"name = {_text(_slug(path) or 'root')}",
        f"routes = [{_text(_slug(path) or 'root')}]",
    ]
    lines += _profiles(sides)
    lines += _claims(found, dict(zip((key_of(one.label) for one in sides), slugs, strict=True)), folder)
    return "\n".join(lines) + "\n"


def _figures(one: Reported) -> list[str]:
    told = []
    for name, figure, scale in (("throughput_per_s", "rate", 1.0), ("mean_ms", "mean", 1e3)):
        if figure in one.figures:
            told.append(f"{name} = {one.figures[figure].value.middle * scale:.6g}".replace("e+", "e"))
    return [f"figures = [{{ {', '.join(told)} }}]"] if told else []


def _profiles(sides: list[Reported]) -> list[str]:
    connections = next((int(figure.value.middle) for one in sides if (figure := one.get("connections"))), 64)
    threads = next((int(figure.value.middle) for one in sides if (figure := one.get("threads"))), 0)
    seconds = next((figure.value.middle for one in sides if (figure := one.get("duration"))), 10.0)
    told = f"threads = {threads}, " if threads else ""
    return [
        "",
        "[profiles.published]",
        "blocks = 3",
        f"loads = [{{ connections = {max(connections, 1)}, {told}measure_s = {max(seconds, 1.0):.6g} }}]",
        "",
        "[profiles.fair]",
        "blocks = 10",
        "loads = [{ connections = 64, measure_s = 10, warm_up_min_s = 1, warm_up_max_s = 10 }]",
    ]


def _claims(found: Audit, slugs: dict[str, str], folder: str) -> list[str]:
    lines: list[str] = []
    for number, weight in enumerate(found.conclusions, 1):
        one = weight.conclusion
        better, worse = slugs.get(key_of(one.better)), slugs.get(key_of(one.worse))
        if better is None or worse is None or better == worse:
            continue
        ratio = f", published_ratio = {one.readings[0].claimed:.4g}" if one.readings else ""
        lines += [
            "",
            "[[claims]]",
            f'id = "c{number}"',
            f"statement = {_text(one.sentence)}",
            f'comparisons = [{{ a = "{folder}/{better}", b = "{folder}/{worse}"{ratio} }}]',
        ]
    return lines


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:38].strip("-")


def _slugs(sides: list[Reported]) -> list[str]:
    found: list[str] = []
    for at, one in enumerate(sides, 1):
        slug = _slug(one.label)
        if not re.match(r"[a-z]", slug):
            slug = f"server-{slug or at}"[:38].strip("-")
        found.append(slug if slug not in found else f"{slug[:34]}-{at}")
    return found


def _shown(text: str) -> str:
    return safe(text, longest=120)


def _text(text: str) -> str:
    return json.dumps(_shown(text).encode("utf-8", "replace").decode(), ensure_ascii=False)


def _list(texts: Iterable[str]) -> str:
    shown = list(dict.fromkeys(texts))[:50]
    return "[" + "".join(f"\n  {_text(text)}," for text in shown) + "\n]" if shown else "[]"
