"""What a header of format 1 said of its run, as a design: it kept a bag of words without a type.

Whether the run was of a study, a comparison or a search stood in the bag's `kind`, and a run that ended by
its own figures had 0 blocks. How servers of a command line were had was not kept: such a run cannot be gone
on with.
"""

from __future__ import annotations

from typing import Any

Fields = dict[str, Any]


def header(line: Fields) -> Fields:
    """The header with its design. Raises KeyError or TypeError where it is none of format 1."""
    line = dict(line)
    bag: Fields = dict(line.pop("study"))
    settled = {name: line.pop(name) for name in ("profile", "quick", "seed", "blocks")}
    said = {
        **_kept(bag, "title", "question", "plans", "titles", "rules"),
        "warm_ups": bag.get("warm_up", {}),
        "seed": settled["seed"],
    }
    match bag.get("kind"):
        case "versus":
            line["design"] = said | _contest(bag)
        case "capacity":
            line["design"] = said | _search(bag)
        case _:
            line["design"] = said | _study(bag, settled, line)
    of_study = line["design"]["kind"] == "study"
    line["cases"] = [_case(case, line["cases"], of_study=of_study) for case in line["cases"]]
    return line


def _case(case: Fields, cases: list[Fields], *, of_study: bool) -> Fields:
    """What its id is made of, and whose throughput a rate is a share of: that of all had no name."""
    entry, *where = case["id"].split("@")
    case = {**case, "entry": entry, "where": where} if of_study else case
    rate = case.get("rate")
    if not rate:
        return case
    load = case["load"].rpartition(",")[0]
    before = (case["workload"], load)
    rivals = [
        other["id"]
        for other in cases
        if other.get("role", "candidate") == "candidate" and (other["workload"], other["load"]) == before
    ]
    named = {"cases": [rate["case"]]} if rate["case"] else {"cases": rivals, "common": True}
    return {**case, "rate": {**named, "load": load, "share": rate["share"]}}


def _study(bag: Fields, settled: Fields, line: Fields) -> Fields:
    choices = {
        **settled,
        **_kept(bag, "servers", "latency"),
        "control": any(case.get("role") == "control" for case in line["cases"]),
    }
    return {
        "kind": "study",
        "blocks": settled["blocks"],
        "choices": choices,
        **_kept(bag, "path", "analysis", "publication", "figures", "claims"),
    }


def _contest(bag: Fields) -> Fields:
    rivals = [_rival(name, given) for name, given in bag.get("rivals", {}).items()]
    return {
        "kind": "contest",
        "sought": bag.get("sought", 0.02),
        "budget_ns": bag.get("budget_ns", 0),
        "rivals": rivals,
    }


def _search(bag: Fields) -> Fields:
    rivals = [_rival(name, given) for name, given in bag.get("servers_given", {}).items()]
    return {
        "kind": "search",
        "bounds": bag["search"],
        "budget_ns": bag.get("budget_ns", 0),
        "rivals": rivals,
    }


def _rival(name: str, given: str) -> Fields:
    """A command or a URL: format 1 did not say which of the two it was."""
    return {"name": name, ("url" if given.startswith(("http://", "https://")) else "command"): given}


def _kept(bag: Fields, *names: str) -> Fields:
    return {name: bag[name] for name in names if name in bag}
