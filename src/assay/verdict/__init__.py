"""Verdicts: what can be believed of a run, from its stored values alone."""

from assay.verdict.effects import (
    between,
    bias,
    bounded,
    concerning,
    invalid,
    known,
    minimum_effect,
    one_sided,
    void_by,
    widening,
    words_of,
)
from assay.verdict.judge import judge, judge_load, judged
from assay.verdict.rule import Effects, Rule, Threshold
from assay.verdict.rules import RULES, explain
from assay.verdict.see_runs import see_run

__all__ = [
    "RULES",
    "Effects",
    "Rule",
    "Threshold",
    "between",
    "bias",
    "bounded",
    "concerning",
    "explain",
    "invalid",
    "judge",
    "judge_load",
    "judged",
    "known",
    "minimum_effect",
    "one_sided",
    "see_run",
    "void_by",
    "widening",
    "words_of",
]
