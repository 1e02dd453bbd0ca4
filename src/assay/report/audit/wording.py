"""What every form of an audit says in the same words."""

from __future__ import annotations

from collections import Counter

from assay.audit.judge import Audit
from assay.audit.weighing import Verdict
from assay.core.units import safe

VERDICTS: dict[Verdict, str] = {
    "stands": "stands",
    "direction": "at least in this direction",
    "untold": "cannot be told",
    "contradicted": "contradicted by its own figures",
}


def plural(number: int, noun: str) -> str:
    """1 result, 2 results."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def summary(found: Audit) -> str:
    """The answer in a line: what the results are believable for, and what the conclusions are worth."""
    if not found.results:
        return f"{safe(found.name)}: no result of a load test{_CUT if found.document.cut else ''}"
    beliefs = Counter(one.belief for one in found.results)
    parts = [f"{count} for {belief}" for belief, count in beliefs.items()]
    line = f"{safe(found.name)}: {plural(len(found.results), 'result')}, believable: {', '.join(parts)}"
    if found.conclusions:
        verdicts = Counter(VERDICTS[one.verdict] for one in found.conclusions)
        told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        line += f"; {plural(len(found.conclusions), 'conclusion')}: {told}"
    return line + (_CUT if found.document.cut else "")


_CUT = "; only the first 2 million characters were read"


def elsewhere(also: tuple[int, ...]) -> str:
    """Where the same was found, too: ", and 3 more lines: 12, 40, 61"."""
    if not also:
        return ""
    shown = ", ".join(str(line) for line in also[:8]) + (", …" if len(also) > 8 else "")
    return f" (also line{'' if len(also) == 1 else 's'} {shown})"


def quoted(text: str, quote: str, width: int) -> tuple[str, int, int]:
    """A line of the document made safe and cut to `width`, and where in it the quote stands: start, length.

    The quote is looked for in the line as it is read; a length of 0 says that it was not found.
    """
    at = text.find(quote) if quote else -1
    start = 0
    if at > width // 2 and len(text) > width:
        start = at - width // 3
    shown = text[start : start + width]
    before = safe(shown[: max(at - start, 0)], longest=10 * width) if at >= 0 else ""
    whole = safe(shown, longest=10 * width)
    length = len(safe(shown[at - start : at - start + len(quote)], longest=10 * width)) if at >= 0 else 0
    return (
        whole.rstrip(),
        len(before),
        min(length, max(len(whole.rstrip()) - len(before), 1)) if length else 0,
    )
