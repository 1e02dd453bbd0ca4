"""An audit for programs: JSON, and SARIF 2.1.0 (OASIS) for code hosts."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from assay.audit import AUDIT_RULES
from assay.audit.claims import Weight
from assay.audit.document import is_percentile
from assay.audit.finding import Remark
from assay.audit.judge import Audit, Believed, commands
from assay.core.settings import version
from assay.core.units import safe
from assay.report.model.audit_document import VERDICTS, quoted


def as_json(audits: list[Audit]) -> str:
    """The audits of all documents."""
    whole = {"format": 1, "assay": version(), "documents": [_document_json(one) for one in audits]}
    return json.dumps(whole, ensure_ascii=True, indent=2, allow_nan=False)


def _document_json(found: Audit) -> dict[str, Any]:
    return {
        "name": found.name,
        "against": found.against,
        "findings": [_remark_json(one) for one in found.remarks],
        "conclusions": [_conclusion_json(one) for one in found.conclusions],
        "results": [_result_json(one) for one in found.results],
        "commands": list(commands(found)),
    }


def _remark_json(one: Remark) -> dict[str, Any]:
    return {
        "code": one.code,
        "title": one.rule.title,
        "severity": one.severity,
        "line": one.line,
        "also": list(one.also),
        "quote": one.quote,
        "arithmetic": one.arithmetic,
        "meaning": one.rule.meaning,
        "remedy": one.rule.remedy,
        "source": one.rule.source,
        "takes": one.rule.takes,
        "results": list(one.about),
    }


def _conclusion_json(one: Weight) -> dict[str, Any]:
    return {
        "line": one.conclusion.line,
        "sentence": one.conclusion.sentence,
        "better": one.conclusion.better,
        "worse": one.conclusion.worse,
        "verdict": VERDICTS[one.verdict],
        "why": one.why,
        "rests_on": [result.line for result in one.rests_on],
    }


def _result_json(one: Believed) -> dict[str, Any]:
    result = one.result
    told = {name: [figure.value.low, figure.value.high] for name, figure in result.figures.items()}
    return {
        "line": result.line,
        "tool": result.tool,
        "label": result.label,
        "believable_for": one.belief,
        "because": list(one.codes),
        "figures": {name: value for name, value in told.items() if not is_percentile(name)},
        "percentiles_s": {f"{q:g}": told[f"p{q:g}"] for q in sorted(result.percentiles)},
    }


_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def as_sarif(audits: list[Audit]) -> str:
    """One run with a result for each finding and each of its lines."""
    codes = list(AUDIT_RULES)
    results = [_sarif_result(one, remark, codes) for one in audits for remark in one.remarks]
    driver = {
        "name": "assay audit",
        "version": version(),
        "rules": [_sarif_rule(code) for code in codes],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=True, indent=2)


def _sarif_rule(code: str) -> dict[str, Any]:
    rule = AUDIT_RULES[code]
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in rule.title.replace("'", "").split() if word.isalnum()),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.meaning},
        "help": {"text": f"{rule.remedy}. Source: {rule.source}."},
    }


def _sarif_result(found: Audit, remark: Remark, codes: list[str]) -> dict[str, Any]:
    locations = [_sarif_location(found, line, remark.quote) for line in (remark.line, *remark.also[:20])]
    told = f"{remark.rule.title}: {safe(remark.arithmetic, longest=400)}. {remark.rule.remedy}."
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
    return result


def _sarif_location(found: Audit, line: int, words: str) -> dict[str, Any]:
    name = "stdin" if found.name == "-" else PurePath(found.name).as_posix()
    region: dict[str, Any] = {"startLine": max(line, 1)}
    _, start, length = quoted(found.document.text_at.get(line, ""), words, 4000)
    if length:
        region |= {"startColumn": start + 1, "endColumn": start + 1 + length}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(os.fsencode(name))}, "region": region}}
