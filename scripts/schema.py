"""Writes Python's types of plans and measurements from the JSON Schema of the engine's structs.

make schema
PYTHONPATH=scripts python -m schema [--folder src/assay/model]
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "crates" / "engine" / "src" / "schema.json"
MODEL = ROOT / "src" / "assay" / "model"
WRITTEN = "Written by `make schema` from the structs of `crates/engine`: change those."
ROOTS = {
    "plan": ("LoadPlan",),
    "measurement": ("Measurement", "Snapshot"),
    "interleaving": (
        "InterleavedPlan",
        "Change",
        "SliceTimes",
        "InterleavedMeasurement",
        "InterleavedSnapshot",
    ),
}
"""The modules, and what is in each with all that it needs and no module before it has."""
ABOUT = {
    "plan": "`LoadPlan`: what the engine is asked to do. The only way into the engine, which validates it.",
    "measurement": "`Measurement`: what the engine saw. Made by the engine only, never edited.",
    "interleaving": "Plans of arms that are interleaved in one run, and what comes of them.\n\n"
    "All times are nanoseconds; points of time count from the start of the run.",
}
MOST = 104

Schema: TypeAlias = Mapping[str, Any]


def main(words: Sequence[str] | None = None) -> int:
    """Write every module that is another than the one that is there."""
    parser = argparse.ArgumentParser(prog="schema", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, default=MODEL)
    folder = parser.parse_args(words).folder
    for name, text in modules().items():
        path = folder / f"{name}.py"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {path}\n")
    return 0


def modules() -> dict[str, str]:
    """The text of each module, by its name."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    types: dict[str, Schema] = schema["$defs"]
    home: dict[str, str] = {}
    for module, roots in ROOTS.items():
        for root in roots:
            for name in _needed(types, root):
                home.setdefault(name, module)
    return {module: _formatted(_module(module, schema, home)) for module in ROOTS}


def _needed(types: Mapping[str, Schema], name: str) -> Iterator[str]:
    """The names of what a type needs, and then its own."""
    for reference in re.findall(r'"#/\$defs/(\w+)"', json.dumps(types[name])):
        yield from _needed(types, reference)
    yield name


def _module(module: str, schema: Schema, home: Mapping[str, str]) -> str:
    types: Mapping[str, Schema] = schema["$defs"]
    own = [name for name in home if home[name] == module]
    body = "\n\n".join(_definition(name, types) for name in own)
    lines = [f'"""{ABOUT[module]}\n\n{WRITTEN}\n"""', "", "from __future__ import annotations", ""]
    lines.append("from typing import Literal, TypeAlias\n")
    others: dict[str, set[str]] = {}
    for name in own:
        for reference in re.findall(r'"#/\$defs/(\w+)"', json.dumps(types[name])):
            if home[reference] != module:
                others.setdefault(home[reference], set()).add(reference)
    others.setdefault("plan", set()).add("Value")
    if module == "plan":
        lines.append("from assay.model import Value as Value")
        body = (
            f'SCHEMA = "{schema["digest"]}"\n'
            '"""What tells this schema from others: the engine has to have the same."""\n\n' + body
        )
    else:
        lines += [f"from assay.model.{one} import {', '.join(sorted(others[one]))}" for one in sorted(others)]
    used = [one for one in ("Literal", "TypeAlias") if re.search(rf"\b{one}\b", body)]
    lines[4] = f"from typing import {', '.join(used)}\n" if used else ""
    return "\n".join(lines) + "\n\n" + body


def _definition(name: str, types: Mapping[str, Schema]) -> str:
    schema = types[name]
    if "properties" in schema:
        return _struct(name, schema, types)
    said = _words(schema)
    kinds = schema.get("oneOf", [])
    if any("properties" in kind for kind in kinds):
        parts = [_struct(kind["title"], kind, types) for kind in kinds]
        union = f"{name}: TypeAlias = {' | '.join(kind['title'] for kind in kinds)}"
        return "\n\n".join([*parts, union + "\n" + _docstring(said, "")])
    meanings = [f'"{kind["const"]}": {_lower(_words(kind))}' for kind in kinds]
    lines = [line for one in meanings for line in textwrap.wrap(" ".join(one.split()), MOST)]
    literal = ", ".join(f'"{kind["const"]}"' for kind in kinds)
    return f"{name}: TypeAlias = Literal[{literal}]\n{_docstring(said, '', lines)}"


def _struct(name: str, schema: Schema, types: Mapping[str, Schema]) -> str:
    fields = dict(schema["properties"])
    tag = fields.pop("kind", {}).get("const")
    tagged = f', tag="{tag}", tag_field="kind"' if tag else ""
    if tag is None and "kind" in schema["properties"]:
        fields = dict(schema["properties"])
    lines = [f"class {name}(Value, frozen=True, kw_only=True{tagged}):"]
    lines += [_docstring(_words(schema), "    "), ""]
    for field, one in fields.items():
        default = f" = {default_of(one['default'], one, types)}" if "default" in one else ""
        lines.append(f"    {field}: {_type(one)}{default}")
        if said := _words(one):
            lines.append(_docstring(said, "    "))
    return "\n".join(lines) + "\n"


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(_type(one) for one in schema["anyOf"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return " | ".join(_plain(kind, schema) for kind in kinds)


def _plain(kind: str, schema: Schema) -> str:
    if kind == "array" and "prefixItems" in schema:
        return f"tuple[{', '.join(_type(one) for one in schema['prefixItems'])}]"
    if kind == "array":
        return f"tuple[{_type(schema['items'])}, ...]"
    if kind == "object":
        return f"dict[str, {_type(schema['additionalProperties'])}]"
    names = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}
    return names[kind]


def default_of(value: object, schema: Schema, types: Mapping[str, Schema]) -> str:
    """A default as Python writes it. One of a struct has to be what the struct is by itself."""
    if isinstance(value, list):
        items = [default_of(item, schema["items"], types) for item in value]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if "$ref" in schema and isinstance(value, dict):
        name = _type(schema)
        by_itself = {field: one.get("default") for field, one in types[name]["properties"].items()}
        if value != by_itself:
            raise SystemExit(f"schema: a default of {name} is not what {name} is by itself: {value}")
        return f"{name}()"
    if isinstance(value, str):
        return json.dumps(value)
    return f"{value:_}" if type(value) is int else repr(value)


def _words(schema: Schema) -> str:
    """What the Rust source says, without its links."""
    said = re.sub(r"\[(`[^`]*`)\]", r"\1", str(schema.get("description", "")))
    return said.replace("::", ".")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _docstring(text: str, indent: str, more: Sequence[str] = ()) -> str:
    """Wrapped, with lines below it."""
    lines = textwrap.wrap(" ".join(text.split()), MOST - len(indent), break_on_hyphens=False)
    whole = "\n".join([*lines, "", *more] if more else lines)
    closing = '\n"""' if "\n" in whole else '"""'
    return textwrap.indent(f'"""{whole}{closing}', indent)


def _formatted(text: str) -> str:
    """As ruff writes it, which a commit is checked by."""
    ruff = [str(Path(sys.executable).parent / "ruff"), "format", "--stdin-filename", "model.py", "-"]
    return subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
