"""`assay rules` and `assay explain`: what each rule does to the answer stands beside what it catches."""

from __future__ import annotations

import json
import re

import pytest
from checkout import ROOT

from assay.cli.main import main
from assay.verdict import RULES

Captured = pytest.CaptureFixture[str]


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_list_says_what_each_rule_usually_does_to_each_figure(capsys: Captured) -> None:
    assert main(["rules"]) == 0
    out = capsys.readouterr().out
    head = next(line for line in out.splitlines() if line.startswith("rule"))
    assert max(map(len, out.splitlines())) <= 80
    begins = [head.index(name) for name in ("gravest", "throughput", "times", "comparison", "what it finds")]
    told = {}
    for line in out.splitlines():
        code = line.split(maxsplit=1)[0] if line[:1].strip() else ""
        if code in RULES:
            ends = [*begins[1:], len(line)]
            told[code] = [line[begin:end].strip() for begin, end in zip(begins, ends, strict=True)][:4]
    assert told.keys() == RULES.keys()
    usual = {
        "G1": ["error", "at least", "at most", ""],
        "G4": ["warning", "none", "at least", ""],
        "W1": ["error", "void", "void", ""],
        "W4": ["warning", "at most", "none", ""],
        "W5": ["error", "void", "void", ""],
        "W3": ["error", "none", "none", "void"],
        "D1": ["warning", "none", "none", "wider"],
        "T1": ["warning", "none", "none", "wider"],
        "H1": ["warning", "at least", "none", "at least"],
        "H2": ["warning", "at least", "at most", "holds"],
        "S4": ["note", "none", "none", ""],
    }
    assert {code: told[code] for code in usual} == usual


def test_the_list_says_what_its_words_mean(capsys: Captured) -> None:
    assert main(["rules"]) == 0
    said = words(capsys.readouterr().out)
    for effect in ("void", "at least, at most", "wider", "one way", "holds"):
        assert f"{effect}: " in said
    assert "`assay explain G1`" in said


@pytest.mark.parametrize("code", RULES)
def test_a_rule_in_full_says_every_effect_and_when_it_has_it(code: str, capsys: Captured) -> None:
    assert main(["explain", code]) == 0
    said = words(capsys.readouterr().out)
    for effects in RULES[code].effects:
        assert words(effects.words) in said


def test_what_a_note_does_is_said_beside_what_a_finding_does(capsys: Captured) -> None:
    assert main(["explain", "H3", "S4"]) == 0
    noted, only_a_note = words(capsys.readouterr().out).split("S4 an outlier")
    assert "at least, at most by its idle time, times void none (as a note)" in noted
    assert "effect none meaning" in only_a_note


def test_a_rule_of_audits_alone_is_explained_in_the_same_manner(capsys: Captured) -> None:
    assert main(["explain", "D3"]) == 0
    out = capsys.readouterr().out
    assert "effect stands against percentiles" in words(out)
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("code", ["G1", "t2", "S2", "D3"])
def test_it_says_all_that_the_rule_s_page_says(code: str, capsys: Captured) -> None:
    assert main(["explain", code]) == 0
    out = capsys.readouterr().out
    page = (ROOT / "docs" / "method" / "rules" / f"{code.upper()}.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert [name for name in headings if not re.search(rf"^  {name.lower()} ", out, re.MULTILINE)] == []
    shown = words(re.sub(rf"^  ({'|'.join(headings)}) ", "", out, flags=re.MULTILINE | re.IGNORECASE))
    for part in re.split(r"\n\n|\n- ", page):
        if not part.startswith(("#", "<!--")):
            assert words(part.removeprefix("- ").replace("`", "")) in shown


def test_no_markdown_is_shown_on_the_terminal(capsys: Captured) -> None:
    assert main(["explain", *RULES]) == 0
    assert "`" not in capsys.readouterr().out


def test_a_rule_in_full_for_programs(capsys: Captured) -> None:
    assert main(["explain", "t2", "R8", "--json"]) == 0
    verdict, audit = json.loads(capsys.readouterr().out)
    assert (verdict["code"], verdict["title"]) == ("T2", RULES["T2"].title)
    assert {one["name"] for one in verdict["thresholds"]} == {"differs", "errors"}
    assert any("88 to 110 %" in one for one in verdict["evidence"]) and verdict["details"]
    assert (audit["code"], audit["takes"]) == ("R8", "comparison")


@pytest.mark.parametrize(("code", "near"), [("R99", "R9"), ("g11x", "G11"), ("D33", "D3")])
def test_near_codes_of_all_rules_are_named(code: str, near: str, capsys: Captured) -> None:
    assert main(["explain", "G1", code, "--json"]) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1
    assert told.err.startswith(f"assay: there is no rule '{code}'; did you mean ")
    assert near in told.err.partition("mean")[2]


def test_effects_that_depend_say_on_what(capsys: Captured) -> None:
    assert main(["explain", "S2", "S5"]) == 0
    said = words(capsys.readouterr().out)
    assert "throughput at least (rising with age)" in said and "throughput at most (falling with age)" in said
    assert "no place (fewer than 3 blocks" in said


def test_the_same_for_programs(capsys: Captured) -> None:
    assert main(["rules", "--json"]) == 0
    told = {rule["code"]: rule["effects"] for rule in json.loads(capsys.readouterr().out)}
    assert told == {
        code: [
            {
                "on_throughput": one.throughput,
                "on_times": one.times,
                "on_comparison": one.comparison,
                "because": one.because,
                "when": one.when,
                "way": one.way,
                "held_back": one.held_back,
            }
            for one in rule.effects
        ]
        for code, rule in RULES.items()
    }
    assert [one["on_throughput"] for one in told["S2"]] == ["at least", "at most", "none"]
