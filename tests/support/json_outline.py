"""What a JSON document consists of, in few lines: the keys of each object, their types, and what they hold.

A golden file of a whole document would be as long as the document. An outline of it changes with every key,
every type and, where values are asked for, every value.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Collection, Iterator
from typing import Any

PROSE = frozenset({"meaning", "remedy", "source", "description", "details"})
"""Texts of rules, which docs/method/rules holds to their wording: of these only the type counts."""

OF_THE_MOMENT = frozenset({"judged_unix_ns", "assay_version", "assay", "version"})
FEW, SHORT = 4, 60
"""So many values are told, if they are so short together; of more only how many, and a check-sum."""


def outline(document: object, *, only: Collection[str] | None = None, cut: Collection[str] = ()) -> str:
    """The document's objects by path, and their keys with types: `?` marks a key that some of them lack.

    A list's items are one `[]`, and keys that are data, such as a case or a percentile, one `{}`. Values are
    told of every key, or of those in `only`. What is at the paths of `cut` may be anything.
    """
    objects: dict[str, list[dict[str, Any]]] = {}
    for path, one in _objects("", document, cut):
        objects.setdefault(path, []).append(one)
    return text({path: dict(_keys(path, objects[path], only, cut)) for path in sorted(objects)})


def of_schema(schema: dict[str, Any]) -> dict[str, dict[str, str]]:
    """What a JSON Schema says of each key of each definition, without its prose."""
    definitions = {name: _definition(one) for name, one in sorted(schema["$defs"].items())}
    return {"": _definition({key: one for key, one in schema.items() if key != "$defs"}), **definitions}


def text(told: object) -> str:
    """As a golden file holds it: a line for each key."""
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def _definition(schema: dict[str, Any]) -> dict[str, str]:
    whole = {key: one for key, one in schema.items() if key != "properties"}
    told = {**schema.get("properties", {}), "": whole}
    return {key: _plain(one) for key, one in sorted(told.items())}


def _plain(schema: dict[str, Any]) -> str:
    said = {key: one for key, one in schema.items() if key not in PROSE}
    return json.dumps(said, ensure_ascii=False).replace("#/$defs/", "").replace('"', "")


def _objects(path: str, value: object, cut: Collection[str]) -> Iterator[tuple[str, dict[str, list[Any]]]]:
    """Each object at or below a value with its path, and what it holds below each name."""
    if path in cut:
        return
    if isinstance(value, list):
        for item in value:
            yield from _objects(f"{path}[]", item, cut)
    elif isinstance(value, dict):
        held: dict[str, list[Any]] = {}
        for key, item in value.items():
            name = key if re.fullmatch(r"[$A-Za-z]\w*", key) else "{}"
            held.setdefault(name, []).append(item)
            yield from _objects(f"{path}.{name}".lstrip("."), item, cut)
        yield path, held


def _keys(
    path: str, objects: list[dict[str, list[Any]]], only: Collection[str] | None, cut: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Each key that any of the objects has, and what they hold below it."""
    for name in sorted({name for one in objects for name in one}):
        held = [item for one in objects for item in one.get(name, ())]
        told = "|".join(sorted({_type(item) for item in held}))
        if f"{path}.{name}" in cut:
            told = "anything"
        elif name not in PROSE | OF_THE_MOMENT and (only is None or name in only):
            told += _values(held)
        yield name if all(name in one for one in objects) else f"{name}?", told


def _values(held: list[Any]) -> str:
    parts = [part for item in held for part in (item if isinstance(item, list) else [item])]
    scalars = [_scalar(part) for part in parts if not isinstance(part, list | dict)]
    distinct = sorted(set(scalars))
    if not distinct:
        return ""
    shown = ", ".join(distinct)
    if len(distinct) > FEW or len(shown) > SHORT:
        shown = f"{len(distinct)} values"
    elif len(distinct) == 1:
        return f": {shown}"
    return f": {shown} #{zlib.crc32(' '.join(scalars).encode()):08x}"


def _type(item: object) -> str:
    return {dict: "object", list: "list", str: "string", bool: "boolean", type(None): "null"}.get(
        type(item), "number"
    )


def _scalar(item: object) -> str:
    """A scalar, in the digits that every machine agrees on."""
    if isinstance(item, int | float) and not isinstance(item, bool):
        return f"{item:.9g}"
    return item if isinstance(item, str) else json.dumps(item)
