"""What the engine refuses in a plan, told by what the user typed: a flag, the URL, a line of a file."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from contextlib import contextmanager

from assay.cli.load_table import GROUPS
from assay.core.errors import InputError
from assay.engine import driver
from assay.model.plan import LoadPlan

_FLAGS = {flag.into: flag.names[-1] for _, flags in GROUPS for flag in flags} | {
    "load.max_connections": "--connections",
    "load.stages": "--stage",
    "stop": "--duration",
    "tls": "--cacert, --cert or --key",
    "addresses": "--address",
    "expect.body.pattern": "--expect-match",
    "expect.headers.pattern": "--expect-header",
    "request.templated": "--template",
    "redirects": "--follow",
}
"""The flag that each field of a plan comes from; fields of a request without its number."""
_INDEX = re.compile(r"\[\d+\]")
_REQUEST = re.compile(r"requests\[(\d+)\]\.?")
_PROBLEMS = {
    "no items found": "holds no key in PEM",
}
"""Words of the TLS library, as a user would say them."""


@contextmanager
def typed(plan: LoadPlan, args: argparse.Namespace) -> Iterator[None]:
    """While the engine checks or starts the plan that the flags made: InputError names what was typed."""
    try:
        yield
    except driver.PlanRefused as refused:
        problem = _PROBLEMS.get(refused.problem, refused.problem)
        raise InputError(f"{_typed(refused.field, plan, args)}: {problem}") from None


def _typed(field: str, plan: LoadPlan, args: argparse.Namespace) -> str:
    """What the field of a plan was typed as."""
    request = _REQUEST.match(field)
    if request is None:
        return _flag(field, args)
    where, number = field[request.end() :], int(request[1])
    lines = getattr(args, "request_lines", None)
    if lines is not None:
        told = (
            f", {_INDEX.sub('', where)}" if where != "target" else f", path {plan.requests[number].target!r}"
        )
        return f"{args.requests}, line {lines[number]}{told}"
    if where == "target":
        return f"the path {plan.requests[number].target!r} of the URL"
    return _flag(where if where.startswith("expect") else f"request.{where}", args)


def _flag(field: str, args: argparse.Namespace) -> str:
    """A flag of the table, else what the plan calls it."""
    plain = _INDEX.sub("", field)
    if plain.startswith("load.stages") and "rate" in args:
        return "--rate"
    return _FLAGS.get(plain) or next(
        (flag for into, flag in _FLAGS.items() if plain.startswith(f"{into}.")), f"load plan: {field}"
    )
