"""How quantities are written, and text as it may be shown: every rule, screen, page and file says them alike.

Three significant digits, decimal prefixes, a space before the unit."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence

from assay.model.estimate import Estimate, Known

UNKNOWN = "–"
"""What stands where there is nothing to say."""

WIDE = "wide"
"""What stands where the trials differ too much to give an end."""

TELLING = 2.0
"""How far an end may be from what was measured, as a factor, to be told as a bound."""


def significant(value: float, digits: int = 3) -> str:
    """Write `value` with `digits` significant digits and no exponent; integers beyond them."""
    if not math.isfinite(value):
        return UNKNOWN
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, decimals)
    # Rounding may carry into the next power of ten (9.996 → 10.0): one decimal fewer then.
    decimals = digits - 1 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:.{max(decimals, 0)}f}"


def _scaled(value: float, steps: tuple[tuple[float, str], ...]) -> str:
    """Write `value` in the largest unit of `steps` (ascending) that keeps it at or above 1."""
    size, unit = steps[0]
    for next_size, next_unit in steps[1:]:
        # Compare what will be read: 999.7 µs reads as "1000 µs", so it belongs to the next unit.
        if float(f"{abs(value) / next_size:.3g}") >= 1:
            size, unit = next_size, next_unit
    return f"{significant(value / size)} {unit}"


def rate(per_s: float | None) -> str:
    """Requests a second: "184,000/s", "77.1/s". Without a prefix, which would read as kilobytes."""
    return UNKNOWN if per_s is None else f"{grouped(per_s)}/s"


def grouped(value: float) -> str:
    """Write `value` with three significant digits and its thousands set apart: "184,000", "77.1"."""
    written = significant(value)
    return f"{int(written):,}" if written.lstrip("-").isdigit() else written


def known_rate(known: Known | None, measured: float) -> str:
    """Write a throughput as it is known: "121,000/s", or as its bound, "≥ 121,000/s", "≤ 121,000/s",
    "121,000 – 125,000/s"; where nothing is known of it, "about 121,000/s"."""
    return _as_known(known, measured, rate, between)


def known_time(
    known: Known | None, measured_ns: float, trials_ns: tuple[float, float] | None = None, least_ns: float = 0
) -> str:
    """Write a time as it is known, as `known_rate` does: "340 µs", "≥ 340 µs".

    A bound that tells nothing gives way to what was measured, with the least and the most of its trials:
    "32.4 ms, wide (5.81 ms to 637 ms)".
    """
    if known is not None and not tells(known, measured_ns, least_ns):
        reach = f" ({time(trials_ns[0])} to {time(trials_ns[1])})" if trials_ns else ""
        return f"{time(measured_ns)}, {WIDE}{reach}"
    return _as_known(known, measured_ns, time, lambda low, high: f"{time(low)} – {time(high)}")


def tells(known: Known, measured: float, least: float = 0) -> bool:
    """Whether a figure's bound says something of it. Its end is that of an interval over trials; where they
    scatter so much that it is beyond a factor of two from their middle, it would hold whatever is true. Below
    `least` it says less than is known already."""
    if not known.limits or (known.low is None) == (known.high is None):
        return True  # no bound, or both ends are told
    if known.low is not None:
        return known.low >= least and measured <= TELLING * known.low
    return known.high is not None and known.high <= TELLING * measured


def _as_known(
    known: Known | None,
    measured: float,
    write: Callable[[float], str],
    span: Callable[[float, float], str],
) -> str:
    if known is None or not known.limits:
        return write(measured)
    if known.low is not None and known.high is not None:
        return span(known.low, known.high)
    if known.low is not None:
        return f"≥ {write(known.low)}"
    return f"≤ {write(known.high)}" if known.high is not None else f"about {write(measured)}"


def between(low: float, high: float) -> str:
    """Two rates: "121,000 – 125,000/s"."""
    return f"{grouped(low)} – {rate(high)}"


def time(ns: float | None, *, exact: bool = False) -> str:
    """Time from nanoseconds: "340 µs", "1.23 ms", "12.0 s"; `exact` says that it was set and not measured,
    so that it has no digits to lose: "12 s"."""
    if ns is None:
        return UNKNOWN
    written = _scaled(ns, ((1, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")))
    return _bare(written) if exact else written


def size(n_bytes: float | None) -> str:
    """Bytes with decimal prefixes: "84.2 MB"."""
    if n_bytes is None:
        return UNKNOWN
    return _scaled(n_bytes, ((1, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")))


def count(number: int | None) -> str:
    """A whole number with thousands set apart: "1,842,113"."""
    return UNKNOWN if number is None else f"{number:,}"


def counted(number: int, noun: str) -> str:
    """A count with its noun: "1 answer", "1,234 answers"."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def share(part: float | None, *, exact: bool = False) -> str:
    """Write a share of one in percent, told from none and from all: "72 %", "0.12 %", "< 0.01 %", "99.6 %";
    `exact` as in `time`: "5 %" where a measured one is "5.0 %"."""
    if part is None:
        return UNKNOWN
    percent = part * 100
    if 0 < percent < 0.01:
        return "< 0.01 %"
    if 99.5 <= percent < 99.95:
        return f"{percent:.1f} %"
    written = f"{significant(percent, 2) if percent < 10 else f'{percent:.0f}'} %"
    return _bare(written) if exact else written


def signed_share(part: float) -> str:
    """Write a share that may be more or less than nothing: "+2.4 %", "−3.5 %", "0 %"."""
    sign = "+" if part > 0 else "−" if part < 0 else ""
    return sign + share(abs(part))


def _bare(written: str) -> str:
    """Without the zeros that only say how exactly something was measured."""
    number, space, unit = written.partition(" ")
    return (number.rstrip("0").rstrip(".") if "." in number else number) + space + unit


def span(seconds: float) -> str:
    """Write a length of time for a person waiting: "0.5 s", "8 s", "3 min 20 s", "1 h 05 min"."""
    if 0 < seconds < 1:
        return f"{significant(seconds, 1)} s"
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def emulation(round_trip_ns: float, loss: float, congestion: str = "") -> str:
    """Write how far a server is: "20 ms there and back, 1 % of packets lost each way, TCP by reno"."""
    lost = f", {share(loss, exact=True)} of packets lost each way" if loss else ""
    shared = f", TCP by {congestion}" if congestion else ""
    return f"{time(round_trip_ns, exact=True)} there and back{lost}{shared}"


def value_of(estimate: Estimate | None) -> float | None:
    """The value of an estimate, to be written where no interval stands beside it."""
    return None if estimate is None else estimate.value


def half_width(estimate: Estimate) -> float | None:
    """Half the interval as a share of the value: the larger half, where the two differ."""
    if estimate.low is None or estimate.high is None or estimate.value == 0:
        return None
    return max(estimate.high - estimate.value, estimate.value - estimate.low) / abs(estimate.value)


def plus_minus(estimate: Estimate) -> str:
    """Write the interval as "± 1.2 %"; empty where the trials support none."""
    half = half_width(estimate)
    return "" if half is None else f"± {significant(half * 100, 2)} %"


def ratio(estimate: Estimate | None) -> str:
    """Write a ratio with its interval, "0.80× [0.78, 0.82]", or as the bound that it is, "≥ 1.72×"."""
    if estimate is None:
        return UNKNOWN
    if estimate.low is None and estimate.high is None:
        return f"{times(estimate.value)}×"
    return factor(estimate.value, estimate.low, estimate.high)


def factor(
    value: float, low: float | None, high: float | None, name: str = "", *, bounds: bool = False
) -> str:
    """Write how many times as much something is as what is called `name`: "1.67× Go [1.61, 1.72]",
    "≥ 1.57× Go", "about 1.6× Go". Where `bounds` are all that is known: "1.61 – 1.72× Go"; one of two that is
    beyond a factor of two from `value` tells nothing, but where it tells which is faster."""
    of = f"× {name}".rstrip()
    if bounds and low and high:
        low = low if value <= TELLING * low or low > 1 else None
        high = high if high <= TELLING * value or high < 1 else None
    if low and high:
        return f"{end(low)} – {end(high)}{of}" if bounds else f"{times(value)}{of} [{end(low)}, {end(high)}]"
    if low:
        return f"≥ {end(low)}{of}"
    return f"≤ {end(high)}{of}" if high else f"about {times(value)}{of}"


def rate_between(estimate: Estimate) -> str:
    """Write a rate with its interval, "352/s [329, 392]", or as the bound that it is, "≥ 352/s"."""
    if estimate.low is None or estimate.high is None:
        return f"{'≤' if estimate.low is None else '≥'} {rate(estimate.value)}"
    return f"{rate(estimate.value)} [{grouped(estimate.low)}, {grouped(estimate.high)}]"


def end(value: float) -> str:
    """Write an end of what is known of a ratio: as `times`, and 1.002 where two decimals would hide on which
    side of 1 it lies, which is what is asked of an end."""
    return f"{value:.3f}" if value != 1 and f"{value:.2f}" == "1.00" else times(value)


def times(value: float) -> str:
    """Write a ratio with the digits a reader compares by: 0.80, 1.25, 28.1, 310; 0.012 when small."""
    if not math.isfinite(value):
        return UNKNOWN
    if abs(value) < 0.1:
        return significant(value, 2)
    return f"{value:.2f}" if abs(value) < 10 else significant(value)


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]")
_BUT_LINES = re.compile(rf"(?![\t\n]){_CONTROL.pattern}")
_LONGEST_TEXT = 300


def visible(text: str, *, lines: bool = False) -> str:
    """Show control and direction-changing characters as escapes; with `lines` all but tabs and line ends.

    Text that came from a server or a file could otherwise move the cursor, recolour the screen, or turn
    round what stands beside it. Every form of a report passes through here.
    """
    hidden = _BUT_LINES if lines else _CONTROL
    return hidden.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def safe(text: str, longest: int = _LONGEST_TEXT) -> str:
    """Make text that came from a server or a file fit for a line: visible, and cut in the middle if long."""
    shown = visible(text)
    if len(shown) <= longest:
        return shown
    head = longest * 2 // 3
    return f"{shown[:head]} … {shown[-(longest - head - 3) :]}"


def as_json(value: object) -> str:
    """A value as the verbs print it for programs: indented, for people look at it too."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def bar(part: float, width: int) -> str:
    """Draw a bar of `part` (0 to 1) of `width` columns, in eighths of a column."""
    full, rest = divmod(round(min(max(part, 0.0), 1.0) * width * 8), 8)
    return "█" * full + _EIGHTHS[rest]


MOST_NAMES = 8
"""Names that a sentence tells; where there are more, the last of them are counted: the table has them all."""
_COULD_BE_SEVERAL = re.compile(r", | and ")


def called(name: str) -> str:
    """A name as it stands in a sentence: in quotes where it could pass for several."""
    return f"“{name}”" if _COULD_BE_SEVERAL.search(name) else name


def some(names: Iterable[str]) -> list[str]:
    """The names, each once; of many the first, and how many others there are."""
    return shortened([called(name) for name in dict.fromkeys(names)])


def shortened(told: Sequence[str]) -> list[str]:
    """Of a long list the first, and how many others there are."""
    more = len(told) - MOST_NAMES + 1
    return list(told) if more <= 1 else [*told[: MOST_NAMES - 1], f"{more} others"]


def listed(names: Iterable[str], last: str = "and") -> str:
    """Names as a list: "A, B and C"."""
    return joined(some(names), last)


def joined(told: Sequence[str], last: str = "and") -> str:
    """What is told already as a list."""
    return f"{', '.join(told[:-1])} {last} {told[-1]}" if len(told) > 1 else "".join(told)
