"""An audit as JSON: everything that the other forms say, for programs."""

from __future__ import annotations

import json
from typing import Any

import assay
from assay.audit.finding import Remark
from assay.audit.judge import Audit, Believed, commands
from assay.audit.weighing import Weight
from assay.report.audit.wording import VERDICTS


def text(audits: list[Audit]) -> str:
    """The audits of all documents."""
    whole = {"format": 1, "assay": assay.version(), "documents": [_document(one) for one in audits]}
    return json.dumps(whole, ensure_ascii=True, indent=2, allow_nan=False)


def _document(found: Audit) -> dict[str, Any]:
    return {
        "name": found.name,
        "against": found.against,
        "findings": [_remark(one) for one in found.remarks],
        "conclusions": [_conclusion(one) for one in found.conclusions],
        "results": [_result(one) for one in found.results],
        "commands": list(commands(found)),
    }


def _remark(one: Remark) -> dict[str, Any]:
    return {
        "code": one.code,
        "title": one.title,
        "severity": one.severity,
        "line": one.line,
        "also": list(one.also),
        "quote": one.quote,
        "arithmetic": one.arithmetic,
        "meaning": one.meaning,
        "remedy": one.remedy,
        "source": one.source,
        "takes": one.takes,
        "results": list(one.about),
    }


def _conclusion(one: Weight) -> dict[str, Any]:
    return {
        "line": one.conclusion.line,
        "sentence": one.conclusion.sentence,
        "better": one.conclusion.better,
        "worse": one.conclusion.worse,
        "verdict": VERDICTS[one.verdict],
        "why": one.why,
        "rests_on": [result.line for result in one.rests_on],
    }


def _result(one: Believed) -> dict[str, Any]:
    result = one.result
    figures = {name: [figure.value.low, figure.value.high] for name, figure in result.figures.items()}
    return {
        "line": result.line,
        "tool": result.tool,
        "label": result.label,
        "believable_for": one.belief,
        "because": list(one.codes),
        "figures": figures,
        "percentiles_s": {
            f"{q:g}": [each.value.low, each.value.high] for q, each in sorted(result.percentiles.items())
        },
    }
