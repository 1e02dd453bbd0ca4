"""`assay rules` and `assay explain`: what each rule does to the answer stands beside what it catches."""

from __future__ import annotations

import json

import pytest

from assay.cli.main import main
from assay.verdict import RULES

Captured = pytest.CaptureFixture[str]


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_list_says_in_a_word_what_each_rule_usually_does(capsys: Captured) -> None:
    assert main(["rules"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line[:1].strip()]
    told = {line[0]: " ".join(line[1:]) for line in lines}
    assert told.keys() == RULES.keys()
    usual = {
        "G1": "withheld at least ",
        "W1": "withheld or note void ",
        "W4": "flagged at most ",
        "W3": "withheld comparison void ",
        "D1": "flagged comparison wider ",
        "T1": "flagged comparison one way ",
        "M1": "withheld or flagged times void ",
        "S3": "flagged or note – ",
    }
    assert {code: begin for code, begin in usual.items() if not told[code].startswith(begin)} == {}


@pytest.mark.parametrize("code", RULES)
def test_a_rule_in_full_says_every_effect_and_when_it_has_it(code: str, capsys: Captured) -> None:
    assert main(["explain", code]) == 0
    said = words(capsys.readouterr().out)
    for effects in RULES[code].effects:
        assert words(effects.words) in said


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
            }
            for one in rule.effects
        ]
        for code, rule in RULES.items()
    }
    assert [one["on_throughput"] for one in told["S2"]] == ["at least", "at most", "none"]
