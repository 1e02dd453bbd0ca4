"""Where a plan made of words leads, settled before anything is sent."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence

import msgspec

from assay.core import urls
from assay.core.errors import InputError
from assay.engine import target_policy
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
    """The plan with addresses in place of names, which are looked up only here, and with leave to use them.

    `allowed` gives that leave; else a machine that is not ours is asked about. InputError where a name has
    no address, or leave is not given.
    """
    host_and_port(plan.url)
    where = _settled(plan, plan.url, plan.addresses, allowed=allowed)
    hosts = tuple(
        msgspec.structs.replace(host, address=_settled(plan, host.url, (), allowed=allowed))
        for host in plan.hosts
    )
    if where is not None and plan.proxy is not None:
        return msgspec.structs.replace(plan, proxy=f"http://{where.replace('%', '%25')}")
    addresses = plan.addresses if where is None else (where,)
    return msgspec.structs.replace(plan, addresses=addresses, hosts=hosts)


def _settled(plan: LoadPlan, url: str, given: Sequence[str], *, allowed: bool) -> str | None:
    """The address to use for a URL of the plan, or for its proxy; None where it is known already."""
    hop = plan.proxy or url
    found = () if given else resolve(hop, plan.address_family)
    reached = [endpoint.ip for endpoint in found] or [target_policy.without_port(text) for text in given]
    if plan.proxy is not None:
        reached += target_policy.behind_proxy(*host_and_port(url))
    if not allowed:
        target_policy.ask_leave(url, reached, "--yes")
    if not found or found[0].ip == host_and_port(hop)[0]:
        return None
    return str(target_policy.first_that_answers(found))


def resolve(url: str, family: str = "any") -> tuple[target_policy.Endpoint, ...]:
    """The addresses of the URL's host, in the resolver's order; InputError where there are none."""
    return target_policy.look_up(*host_and_port(url), _FAMILIES[family])


def host_and_port(url: str) -> tuple[str, int]:
    """The URL's host and port, the port always said; InputError where it is no http URL."""
    parts = urls.parse(url)
    if parts.user:
        raise InputError("the URL holds a user name", "give it as --user NAME:PASSWORD")
    return parts.host, parts.known_port
