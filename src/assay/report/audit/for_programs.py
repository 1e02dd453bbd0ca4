"""An audit for programs: as JSON, and as SARIF 2.1.0 (OASIS) for code hosts."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

import assay
from assay.audit import AUDIT_RULES
from assay.audit.finding import Remark
from assay.audit.judge import Audit, Believed, commands
from assay.audit.weighing import Weight
from assay.core.units import safe
from assay.report.audit.wording import VERDICTS, quoted


def as_json(audits: list[Audit]) -> str:
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


_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def as_sarif(audits: list[Audit]) -> str:
    """One run with a result for each finding and each of its lines."""
    codes = list(AUDIT_RULES)
    results = [result for one in audits for remark in one.remarks for result in _results(one, remark, codes)]
    driver = {
        "name": "assay audit",
        "version": assay.version(),
        "rules": [_rule(code) for code in codes],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=True, indent=2)


def _rule(code: str) -> dict[str, Any]:
    rule = AUDIT_RULES[code]
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in rule.title.replace("'", "").split() if word.isalnum()),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.meaning},
        "help": {"text": f"{rule.remedy}. Source: {rule.source}."},
    }


def _results(found: Audit, remark: Remark, codes: list[str]) -> list[dict[str, Any]]:
    locations = [_location(found, line, remark.quote) for line in (remark.line, *remark.also[:20])]
    told = f"{remark.title}: {safe(remark.arithmetic, longest=400)}. {remark.remedy}."
    mark = hashlib.sha256(
        f"{remark.code}\0{remark.quote}\0{remark.arithmetic}".encode("utf-8", "replace")
    ).hexdigest()
    result: dict[str, Any] = {
        "ruleId": remark.code,
        "ruleIndex": codes.index(remark.code),
        "level": remark.severity,
        "message": {"text": told},
        "locations": locations[:1],
        "partialFingerprints": {"assayAudit/v1": mark[:32]},
    }
    if len(locations) > 1:
        result["relatedLocations"] = locations[1:]
    return [result]


def _location(found: Audit, line: int, words: str) -> dict[str, Any]:
    name = "stdin" if found.name == "-" else PurePath(found.name).as_posix()
    region: dict[str, Any] = {"startLine": max(line, 1)}
    _, start, length = quoted(found.document.text_at.get(line, ""), words, 4000)
    if length:
        region |= {"startColumn": start + 1, "endColumn": start + 1 + length}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(os.fsencode(name))}, "region": region}}
