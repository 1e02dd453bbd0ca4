"""Writes docs/api.md from what `import assay` offers: signatures, docstrings, and the table of flags.

make api-docs
PYTHONPATH=scripts python -m api_docs [--page docs/api.md]
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from study_pages.layout import item, wrapped

import assay
from assay.plan.words import options
from assay.plan.words.load_table import GROUPS
from assay.report import frames

PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.md"
WRITTEN = "<!-- Written by `make api-docs` from the code. -->"
OPTIONS: Mapping[str, type] = MappingProxyType(
    {
        "Options of `load`, `versus` and `capacity`": options.TrialOptions,
        "More options of `load`": options.LoadOptions,
        "More options of `versus`": options.VersusOptions,
        "More options of `capacity`": options.CapacityOptions,
    }
)
TYPES = (assay.RunResult, assay.CaseResult, assay.RunComparison)
HELP = {
    "json": "a value that is sent as JSON, with its Content-Type",
    "headers": "request headers",
    "auth": "name and password of basic auth",
    "verify": "False accepts any certificate; a path names the authorities to trust (PEM)",
    "cert": "the client's certificate and its key (PEM)",
    "keep_alive": "False: a new connection for each request",
    "resend": "False: do not send requests again that the server says it did not process",
    "resumption": "False: a full handshake each time",
    "http": "1, 2, 3, `auto`, or `1.0`",
    "stages": "ramps and steps: (seconds, rate), or (seconds, from, to)",
    "requests": "several requests: a file, or a list of paths and of mappings",
    "ready_timeout": "how long a server may take to answer rightly",
    "slice": "length of a slice",
    "unlike": "compare candidates whose answers differ, too",
    "rank": "go on until every two are told apart or alike, not only the fastest from each other",
    "fail_if_unsure": "exit code 1 where the limit cannot be told",
    "setup": "command that runs once for each candidate, before all",
    "prepare": "command that runs before each start of a server",
    "cleanup": "command that runs once for each candidate, at the end",
    "resolution": "end when the capacity is known to this share",
}
"""What options are whose flag says it in other words, or that have none."""


def main(words: Sequence[str] | None = None) -> int:
    """Write the page where it is another than the one that is there."""
    parser = argparse.ArgumentParser(prog="api_docs", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--page", type=Path, default=PAGE)
    path, text = parser.parse_args(words).page, page()
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {path}\n")
    return 0


def page() -> str:
    """The whole page."""
    lines = ["# Python", "", WRITTEN, *_prose(inspect.getdoc(assay) or "")]
    for verb in [thing for name, thing in vars(assay).items() if name in assay.__all__]:
        if inspect.isfunction(verb):
            lines += ["", f"## {verb.__name__}", "", *_signature(verb), *_prose(inspect.getdoc(verb) or "")]
    for kind in TYPES:
        lines += ["", f"## {kind.__name__}", *_prose(inspect.getdoc(kind) or ""), "", *_members(kind)]
    lines += ["", "## Tables of `frames()`", *_prose(inspect.getdoc(frames) or ""), ""]
    lines += ["A [notebook](frames.ipynb) shows them in use.", ""]
    for name, columns in frames.TABLES.items():
        said = ", ".join(f"`{column}`" for column in columns) or "the columns of `assay report --csv`"
        lines += item(f"`{name}`: {said}")
    for title, taken in OPTIONS.items():
        lines += ["", f"## {title}", "", "| option | type | meaning |", "|---|---|---|"]
        lines += [f"| `{name}` | {said} | {meaning(name)} |" for name, said in own(taken)]
    return "\n".join(lines) + "\n"


def _signature(verb: Callable[..., Any]) -> Iterator[str]:
    """Its call, an argument a line."""
    yield from ("```python", f"assay.{verb.__name__}(")
    signature = inspect.signature(verb)
    bare = False
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not bare and not any(_many(signature)):
            yield "    *,"
        bare = bare or one.kind is one.KEYWORD_ONLY
        yield f"    {_argument(one)},"
    yield from (f") -> {signature.return_annotation}", "```")


def _many(signature: inspect.Signature) -> Iterator[bool]:
    yield from (one.kind is one.VAR_POSITIONAL for one in signature.parameters.values())


def _argument(one: inspect.Parameter) -> str:
    stars = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
    default = "" if one.default is one.empty else f" = {one.default!r}"
    return f"{stars}{one.name}: {one.annotation}{default}"


def _prose(text: str) -> Iterator[str]:
    """A docstring: paragraphs wrapped, lists of arguments as lists, examples as code."""
    for block in re.split(r"\n\s*\n", text):
        lines = block.splitlines()
        if lines[0].startswith(">>>"):
            yield from ("", "```python", *lines, "```")
        elif re.fullmatch(r"[A-Z]\w+:", lines[0]):
            yield from ("", f"**{lines[0]}**", "")
            yield from _list(inspect.cleandoc("\n".join(["", *lines[1:]])))
        else:
            yield from ("", *wrapped(" ".join(lines)))


def _list(text: str) -> Iterator[str]:
    """What is indented below a head: "name: meaning" as items, anything else as a paragraph."""
    for one in re.split(r"\n(?=\S)", text):
        name, colon, meaning = " ".join(one.split()).partition(": ")
        if colon and " " not in name:
            yield from item(f"`{name}`: {meaning}")
        else:
            yield from wrapped(" ".join(text.split()))
            return


def _members(kind: type) -> Iterator[str]:
    """Its fields, properties and methods in the order of the code."""
    source = inspect.getsource(kind)
    fields = re.findall(r'^    (\w+): .+\n    """((?:.|\n)+?)"""', source, re.MULTILINE)
    for name, text in fields:
        yield from item(f"`{name}`: {' '.join(text.split())}")
    for name, one in vars(kind).items():
        thing = getattr(one, "fget", None) or getattr(one, "func", None) or one
        if name.startswith("_") or not inspect.isfunction(thing) or not inspect.getdoc(thing):
            continue
        call = str(inspect.signature(thing)).replace("self, ", "").replace("self", "").replace("'", "")
        shown = f"{name}{call.partition(' ->')[0] if thing is one else ''}"
        yield from item(f"`{shown}`: {' '.join((inspect.getdoc(thing) or '').split())}")


def own(kind: type) -> Iterator[tuple[str, str]]:
    """The options that a type adds, and what they take."""
    above = [base for base in OPTIONS.values() if base is not kind and base is options.TrialOptions]
    known = {name for base in above for name in inspect.get_annotations(base)}
    for name, said in inspect.get_annotations(kind).items():
        if name not in known or kind is options.TrialOptions:
            text = getattr(said, "__forward_arg__", str(said))
            yield name, f"`{text}`".replace("Text", "str | PathLike").replace("|", "\\|")


def meaning(option: str) -> str:
    """What its flag says of it."""
    told = {options.option_of(flag.dest): flag.help for _, flags in GROUPS for flag in flags}
    return HELP.get(option, told.get(option, "")).replace("%%", "%").replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
