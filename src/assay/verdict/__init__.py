"""Verdicts: what can be believed of a run, from its stored values alone."""

from assay.verdict.effects import (
    comparison_withheld,
    concerning,
    hallmark,
    unranked_by,
    withheld,
)
from assay.verdict.judge import judge, judge_load, judged
from assay.verdict.ranking import noise_floor
from assay.verdict.registry import RULES, explain
from assay.verdict.rule import Rule, Threshold
from assay.verdict.see_runs import see_run
from assay.verdict.seen import RunSeen

__all__ = [
    "RULES",
    "Rule",
    "RunSeen",
    "Threshold",
    "comparison_withheld",
    "concerning",
    "explain",
    "hallmark",
    "judge",
    "judge_load",
    "judged",
    "noise_floor",
    "see_run",
    "unranked_by",
    "withheld",
]
