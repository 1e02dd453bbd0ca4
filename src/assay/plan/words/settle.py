"""From words to a settled load: the plan, checked, with one address and leave to use it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec.structs import replace

from assay.core import credentials
from assay.core.errors import InputError
from assay.engine import driver
from assay.model.plan import LoadPlan
from assay.plan.words import address
from assay.plan.words.load_plan import DraftedLoad, drafted_load
from assay.plan.words.load_requests import place
from assay.plan.words.load_table import GROUPS


def load(
    url: str,
    given: Mapping[str, Any],
    *,
    allowed: bool,
    check: Callable[[LoadPlan], None] = lambda plan: None,
) -> DraftedLoad:
    """The load that the values ask for, with an address in place of the name, which is looked up once.

    `allowed` gives leave to load a machine of others, which is asked for else. `check` is whatever else has
    to be right before a name is looked up. InputError names the value that is wrong.
    """
    drafted = hidden_load(url, given)
    address.host_and_port(drafted.plan.url)
    with named(drafted):
        driver.check(drafted.plan)
    check(drafted.plan)
    return replace(drafted, plan=address.settled(drafted.plan, allowed=allowed))


def hidden_load(url: str, given: Mapping[str, Any]) -> DraftedLoad:
    """The load as asked for, with tokens in place of its secrets."""
    drafted = drafted_load(url, given)
    return replace(drafted, plan=credentials.hidden_plan(drafted.plan))


_FLAGS = {flag.into: flag.names[-1] for _, flags in GROUPS for flag in flags} | {
    "load.max_connections": "--connections",
    "load.stages": "--stage",
    "stop": "--duration",
    "hosts": "--requests or --all-hosts",
    "http": "--http",
    "url": "the URL",
    "tls.versions": "--tls-max",
    "tls": "--cacert, --cert or --key",
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
_REMEDIES = {
    "streams": "add --http2, --http3 or --http auto",
    "tls.key_file": "give both --cert and --key",
}
"""What to do about a field, where its flag alone does not say so."""


@contextmanager
def named(load: DraftedLoad) -> Iterator[None]:
    """While the engine checks or starts the plan: InputError names what was given of it."""
    try:
        yield
    except driver.PlanRefused as refused:
        problem = _PROBLEMS.get(refused.problem, refused.problem)
        flag = _tls_flag(problem, load) if refused.field == "tls" else _given_as(refused.field, load)
        raise InputError(f"{flag}: {problem}", _REMEDIES.get(refused.field, "")) from None


def _tls_flag(problem: str, load: DraftedLoad) -> str:
    """The flag whose file the problem is about."""
    files = (("cacert", "--cacert"), ("cert", "--cert"), ("key", "--key"))
    return next((flag for dest, flag in files if load.given.get(dest, "\0") in problem), _FLAGS["tls"])


def _given_as(field: str, load: DraftedLoad) -> str:
    """What the field of a plan was given as."""
    plan, request = load.plan, _REQUEST.match(field)
    if request is None:
        return _flag(field, load)
    where, number = field[request.end() :], int(request[1])
    if load.lines is not None:
        told = (
            f", {_INDEX.sub('', where)}" if where != "target" else f", path {plan.requests[number].target!r}"
        )
        return f"{place(load.given['requests'], load.lines[number])}{told}"
    if where == "target":
        return f"the path {plan.requests[number].target!r} of the URL"
    return _flag(where if where.startswith("expect") else f"request.{where}", load)


def _flag(field: str, load: DraftedLoad) -> str:
    """A flag of the table, else what the plan calls it."""
    plain = _INDEX.sub("", field)
    if plain.startswith("load.stages") and "rate" in load.given:
        return "--rate"
    if plain == "addresses":
        ways = (one for one in ("unix_socket", "resolve") if one in load.given)
        return f"--{next(ways, 'address').replace('_', '-')}"
    return _FLAGS.get(plain) or next(
        (flag for into, flag in _FLAGS.items() if plain.startswith(f"{into}.")), f"load plan: {field}"
    )
