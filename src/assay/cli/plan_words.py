"""Where a plan made of words leads, settled before anything is sent; and what the engine refuses in it."""

from __future__ import annotations

import argparse
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from assay.cli.load_table import GROUPS
from assay.core import urls
from assay.core.errors import InputError
from assay.engine import driver, target_policy
from assay.model.plan import LoadPlan

_FAMILIES = {"any": socket.AF_UNSPEC, "ipv4": socket.AF_INET, "ipv6": socket.AF_INET6}


def full_url(word: str) -> str:
    """The URL meant by a word of the command line: `localhost:8080/x` is short for http.

    InputError where its scheme is written wrongly, which would be taken for a host.
    """
    if re.match(r"https?(:/|/|:[^\d/])", word) and "://" not in word:
        raise InputError(
            "the URL's scheme has no '://' behind it", "write it like http://127.0.0.1:8080/path"
        )
    return word if "://" in word else f"http://{word}"


def target_of(url: str) -> str:
    """The request target that the URL names: its path and query, never empty. InputError where it is none."""
    return urls.parse(url).target


def settled(plan: LoadPlan, *, allowed: bool) -> LoadPlan:
    """The plan with an address in place of the name, which is looked up only here, and with leave to use it.

    `allowed` gives that leave; else a machine that is not ours is asked about. InputError where a name has
    no address, or leave is not given.
    """
    host_and_port(plan.url)
    found = () if plan.addresses else resolve(plan.proxy or plan.url, plan.address_family)
    reached = [endpoint.ip for endpoint in found] or [
        target_policy.without_port(text) for text in plan.addresses
    ]
    if plan.proxy is not None:
        reached += target_policy.behind_proxy(*host_and_port(plan.url))
    if not allowed:
        target_policy.ask_leave(plan.url, reached, "--yes")
    if not found or found[0].ip == host_and_port(plan.proxy or plan.url)[0]:
        return plan
    where = str(target_policy.first_that_answers(found))
    if plan.proxy is not None:
        return msgspec.structs.replace(plan, proxy=f"http://{where.replace('%', '%25')}")
    return msgspec.structs.replace(plan, addresses=(where,))


def resolve(url: str, family: str = "any") -> tuple[target_policy.Endpoint, ...]:
    """The addresses of the URL's host, in the resolver's order; InputError where there are none."""
    return target_policy.look_up(*host_and_port(url), _FAMILIES[family])


def host_and_port(url: str) -> tuple[str, int]:
    """The URL's host and port, the port always said; InputError where it is no http URL."""
    parts = urls.parse(url)
    if parts.user:
        raise InputError("the URL holds a user name", "give it as --user NAME:PASSWORD")
    return parts.host, parts.known_port


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
        flag = _tls_flag(problem, args) if refused.field == "tls" else _typed(refused.field, plan, args)
        raise InputError(f"{flag}: {problem}") from None


def _tls_flag(problem: str, args: argparse.Namespace) -> str:
    """The flag whose file the problem is about."""
    files = (("cacert", "--cacert"), ("cert", "--cert"), ("key", "--key"))
    return next((flag for dest, flag in files if getattr(args, dest, "\0") in problem), _FLAGS["tls"])


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
