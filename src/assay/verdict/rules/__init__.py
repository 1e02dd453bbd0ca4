"""The rules, by what they are about, and all there are in the order they are listed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from assay.core.errors import InputError
from assay.model.design import RuleSetting
from assay.verdict.rule import Rule, Thresholds
from assay.verdict.rules import (
    bottleneck,
    design,
    fairness,
    host,
    model,
    offered,
    samples,
    slices,
    trials,
    work,
)

_FILES = (bottleneck, design, fairness, host, model, offered, samples, slices, trials, work)
_LETTERS = "BGMWSDTH"


def _all() -> Mapping[str, Rule]:
    rules = [one for file in _FILES for one in vars(file).values() if isinstance(one, Rule)]
    rules.sort(key=lambda rule: (_LETTERS.index(rule.code[0]), int(rule.code[1:])))
    return MappingProxyType({rule.code: rule for rule in rules})


RULES = _all()
"""Every rule of those files by its code, in the order they are listed."""


def explain(code: str) -> Rule:
    """The rule of that code in any case; InputError names the nearest codes."""
    rule = RULES.get(code.strip().upper())
    if rule is None:
        raise unknown_rule(code, RULES)
    return rule


def unknown_rule(code: str, known: Iterable[str]) -> InputError:
    """The error of a code that is none of `known`, with the nearest ones."""
    near = difflib.get_close_matches(code.strip().upper(), list(known), n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "`assay rules` lists them"
    return InputError(f"there is no rule {code!r}", hint)


class RunThresholds:
    """The thresholds as they hold for one run: the defaults, and what its design sets with a reason, by the
    code of the rule."""

    def __init__(self, settings: Mapping[str, RuleSetting] | None = None) -> None:
        """Raises InputError for an unknown rule or threshold, or a change without a reason."""
        self._settings = dict(settings or {})
        for code, setting in self._settings.items():
            rule = explain(code)
            unknown = setting.thresholds.keys() - rule.defaults.keys()
            if unknown:
                known = ", ".join(rule.defaults) or "none"
                raise InputError(f"rule {code} has no threshold {sorted(unknown)[0]!r}", f"it has: {known}")
            if not setting.reason:
                raise InputError(
                    f"the thresholds of rule {code} are changed without a reason", "add `reason`"
                )

    def of(self, rule: Rule) -> Thresholds:
        """The thresholds of `rule`."""
        setting = self._settings.get(rule.code)
        return {**rule.defaults, **(setting.thresholds if setting else {})}

    def remark(self, rule: Rule) -> str:
        """What the evidence of `rule` must add where the study changed its thresholds."""
        setting = self._settings.get(rule.code)
        return f" [threshold set by the study: {setting.reason}]" if setting else ""
