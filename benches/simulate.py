"""Do the statistics keep their promises? Writes docs/method/evidence/simulations.md from simulated runs.

python benches/simulate.py [--runs 4000] [--out docs/method/evidence/simulations.md]
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import allocations
import decisions
from simulations import (
    NOISES,
    SEED,
    TRACES,
    Setting,
    blocks_kept,
    capacity_searches,
    differences_found,
    growing_coverage,
    mean_coverage,
    naive_false_alarms,
    orders,
    ratio_coverage,
    steady_answers,
    warm_ups,
)


def page(runs: int, before: str, only: Sequence[str]) -> str:
    """The whole of docs/method/evidence/simulations.md; of tables but `only` these what was there before."""
    head = (
        "# Do the statistics keep their promises?\n\n"
        f"Written by `benches/simulate.py` (seeds {SEED} and {decisions.SEED}); formulas: ../statistics.md.\n"
        "Simulated runs: a trial's value is its case's level x (1 + the machine's drift) x (1 + noise).\n"
        "A share near 5 or 95 % is within 0.7 % from 4,000 runs, within 2.2 % from 400.\n"
    )
    sections = {part.partition("\n")[0]: f"\n## {part.rstrip()}\n" for part in before.split("\n## ")[1:]}
    for title, (make, part) in TABLES.items():
        if title in only or not only:
            many = max(1, runs // part)
            sections[title] = make(many).replace("\n\n|", f"\n{many:,} runs of each.\n\n|", 1)
    return head + "".join(sections[title] for title in TABLES)


def _table(title: str, note: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *rows)]
    wrapped = textwrap.fill(note, 100, break_on_hyphens=False)
    return f"\n## {title}\n\n{wrapped}\n\n" + "\n".join(lines) + "\n"


def _coverage_table(runs: int) -> str:
    rows = [
        [
            name,
            *(f"{mean_coverage(noise, n, runs):.1%}" for n in (6, 10)),
            *(f"{ratio_coverage(Setting((1.05, 1.0), n, noise=noise), runs):.1%}" for n in (5, 10)),
            f"{ratio_coverage(Setting((1.05, 1.0), 10, noise=noise), runs, median=True):.1%}",
        ]
        for name, noise in NOISES.items()
    ]
    columns = (
        "noise of trials",
        "mean, n=6",
        "mean, n=10",
        "ratio, n=5",
        "ratio, n=10",
        "median ratio, n=10",
    )
    note = (
        "How often a 95 % interval holds the truth. Ratios: two cases in blocks, 4 % drift, 2 % deviation. "
        "Wanted: 93 % or more."
    )
    return _table("Coverage", note, columns, rows)


def _growing_table(runs: int) -> str:
    sizes = ((4, 2), (6, 2), (6, 6))
    rows = [
        [
            f"{deviation:.0%}",
            *(f"{growing_coverage(deviation, first, more, 0.05, runs):.1%}" for first, more in sizes),
        ]
        for deviation in (0.01, 0.03, 0.05, 0.07, 0.10, 0.15)
    ]
    columns = ("deviation of log ratios", *(f"{first} and up to {more} more" for first, more in sizes))
    note = (
        "How often the 95 % interval of a ratio holds the truth in a study that has more blocks where its\n"
        "first ones deviate too much to know it to within 5 %. Wanted: 93 % or more."
    )
    return _table("As many blocks as it takes", note, columns, rows)


def _false_alarm_table(runs: int) -> str:
    rows = []
    for name, noise in NOISES.items():
        blocked = Setting((1.0, 1.0), noise=noise)
        rows.append(
            [
                name,
                f"{differences_found(blocked, runs):.1%}",
                f"{differences_found(blocked, runs, minimum_effect=0.0):.1%}",
                f"{differences_found(Setting((1.0,) * 5, noise=noise), runs // 4):.1%}",
                f"{differences_found(blocked._replace(interleaved=False, deviation=0.01), runs):.1%}",
            ]
        )
    columns = (
        "noise of trials",
        "2 cases",
        "2 cases, no minimum effect",
        "any of 5 cases",
        "sequential trials",
    )
    note = (
        "How often identical servers are called different (10 blocks, 4 % drift, 2 % deviation). "
        "Wanted: 5 % or less.\nThe last column is what running all trials of one case before the other does, "
        "at 1 % deviation: why there are blocks."
    )
    return _table("False alarms", note, columns, rows)


def _power_table(runs: int) -> str:
    rows = []
    for effect, deviation, blocks in (
        (1.02, 0.01, 7),
        (1.02, 0.01, 12),
        (1.02, 0.02, 20),
        (1.05, 0.02, 5),
        (1.05, 0.02, 7),
        (1.05, 0.02, 10),
    ):
        found = differences_found(Setting((effect, 1.0), blocks, deviation), runs)
        rows.append([f"{effect - 1:.0%}", f"{deviation:.0%}", str(blocks), f"{found:.1%}"])
    columns = ("true difference", "trial deviation", "blocks", "found")
    return _table("Power", "How often a true difference is called one (4 % drift, in blocks).", columns, rows)


def _order_table(runs: int) -> str:
    rows, wrong, three_equal = [], [], []
    for name, noise in NOISES.items():
        for blocks in (3, 6, 10):
            cells = []
            for servers in (3, 7):
                for spread in (0.0, 0.05, 0.2):
                    seen = orders(noise, blocks, servers, spread, runs)
                    wrong.append(seen.wrong)
                    three_equal += [seen.wrong] if servers == 3 and not spread else []
                    cells.append(f"{seen.wrong:.2%}" + (f" / {seen.shown:.0%}" if spread else ""))
            rows.append([name, str(blocks), *cells])
    columns = (
        "noise of trials",
        "blocks",
        *(f"{servers} servers, {apart}" for servers in (3, 7) for apart in ("equal", "5 %", "20 %")),
    )
    note = (
        "Of all pairs, the share whose order is shown wrongly / rightly (4 % drift, 2 % deviation; the "
        f"servers'\ntrue levels lie evenly within the difference named), {runs:,} runs of each kind. "
        f"Wanted: 1 % or less wrong; over all\nkinds it is {sum(wrong) / len(wrong):.2%}; of three equal "
        f"servers up to {max(three_equal):.1%}, as Holm's 5 % over three pairs allows 1.7 % each."
    )
    return _table("Orders", note, columns, rows)


def _study_table(runs: int) -> str:
    sizes = tuple(itertools.product((2, 3, 12), (3, 6, 12)))
    rows = [
        [
            name,
            *(
                f"{decisions.covers(noise, *size, runs, widened=False):.1%} / "
                f"{decisions.covers(noise, *size, runs):.1%}"
                for size in sizes
            ),
        ]
        for name, noise in decisions.NOISES.items()
    ]
    columns = ("noise", *(f"{servers} servers, {blocks} blocks" for servers, blocks in sizes))
    note = (
        "How often the 95 % interval of a ratio holds the truth, blocks taken as independent / as they are "
        "taken. Wanted: 93 % or more. One-sided bursts are part of the truth: a third of runs of six blocks "
        "see none. Bursts of eight deviations instead of five are covered in 84 % by six blocks; no interval "
        "can hold what it has not seen."
    )
    return _table("Blocks that depend on each other", note, columns, rows)


DESIGNS: tuple[tuple[str, dict[str, bool]], ...] = (
    ("independent, no control", {"widened": False}),
    ("no control", {}),
    ("A/A control", {"control": True}),
    ("control, builds", {"control": True, "alike": True}),
)


def _pooled_table(runs: int) -> str:
    rows = []
    for name, noise in NOISES.items():
        for servers in (4, 6, 12):
            cells = []
            for blocks in (3, 6):
                for pooled in (False, True):
                    apart = orders(noise, blocks, servers, 0.03 * (servers - 1), runs, pooled=pooled)
                    cells.append(f"{apart.wrong:.2%} / {apart.shown:.0%}")
            rows.append([name, str(servers), *cells])
    columns = (
        "noise",
        "servers",
        *(f"{blocks} blocks, {how}" for blocks in (3, 6) for how in ("each pair alone", "pooled")),
    )
    note = (
        "Unlike servers, 3 % from the next; of all pairs, the share whose order is shown wrongly / rightly, "
        f"{runs:,} runs of each kind. From four servers on the variance of a pair is joined with that of the "
        "others, as far as they are alike."
    )
    return _table("What servers say of each other's scatter", note, columns, rows)


def _sequential_table(runs: int) -> str:
    rows = []
    for effect, deviation in (
        (0.0, 0.02),
        (0.0, 0.04),
        (0.05, 0.008),
        (0.05, 0.02),
        (0.05, 0.04),
        (0.02, 0.014),
    ):
        for name, noise in {**decisions.NOISES, "the other 1.5 times": decisions.noisier}.items():
            row = [f"{effect:.0%}", f"{deviation:.1%}", name]
            for _, design in DESIGNS:
                found = decisions.decide(math.log1p(effect), deviation, 11, noise, runs, **design)
                shares = (f"{one:.1%}" for one in (found.different, found.alike, found.covered))
                row.append(f"{' / '.join(shares)} / {found.blocks:.1f}")
            rows.append(row)
    columns = ("true difference", "deviation", "noise", *(name for name, _ in DESIGNS))
    note = (
        "Judged after every block until decided; the budget holds 11. Cells: different / equivalent within "
        "2 % / holds the truth / mean blocks. Wanted: identical servers different in 3 % or less, 93 % of "
        "intervals hold the truth. The first column takes blocks as independent, as was done before; the "
        "others allow for a correlation of up to a third, as ../statistics.md says. `assay versus` has an "
        "A/A control unless told otherwise. Bursts lower the first server by 0.8 deviations, so there "
        "a difference is none that is false. Where the other server scatters 1.5 times as much, builds are "
        "taken wrongly to scatter alike.\nAn ordinary t interval judged after each of 40 blocks calls "
        f"identical servers different in {naive_false_alarms(20 * runs):.0%} of runs."
    )
    return _table("Stopping when decided", note, columns, rows)


def _forecast_table(runs: int) -> str:
    rows = []
    for blocks, deviation in ((4, 0.02), (6, 0.02), (11, 0.04)):
        found = decisions.forecasts(blocks, deviation, runs)
        shares = (f"{one:.0%}" for one in (found.settled, found.shown))
        rows.append([str(blocks), f"{deviation:.0%}", *shares, str(found.forecasts)])
    columns = ("blocks", "deviation", '"n more blocks" came true', '"would have seen" came true', "told")
    note = "Of runs that are not decided; true differences between 0 and 5 %. Wanted: 80 % or more."
    return _table("Forecasts", note, columns, rows)


def _rank_table(runs: int) -> str:
    rows = []
    for servers, noisy in ((3, 1.0), (6, 1.0), (12, 1.0), (6, 6.0)):
        found = decisions.ranked(servers, 0.03, 6, noisy, runs)
        size = f"{servers}, the last {noisy:g} times as noisy" if noisy > 1 else str(servers)
        rows.append([size, f"{found.difference:.1%}", f"{found.rank:.0%}"])
    columns = ("servers, 3 % from the next", "a shown difference is false", "two ranks are reversed")
    note = (
        "Six blocks, 2 % deviation. Holm covers each shown difference. Ranks are no statement of "
        "pairs: a server that is shown slower than one of its rank's may stand behind a slower one."
    )
    return _table("Ranks", note, columns, rows)


def _leaving_table(runs: int) -> str:
    rows = []
    kinds = [(name, "normal", False) for name in allocations.FIELDS]
    kinds += [(kinds[0][0], noise, False) for noise in ("skewed", "correlated (0.3)")]
    kinds += [(name, "normal", True) for name, *_ in kinds[:2]]
    for name, noise, ranked in kinds:
        told = [
            allocations.race(
                allocations.FIELDS[name], runs, leaving=leaving, noise=decisions.NOISES[noise], ranked=ranked
            )
            for leaving in (False, True)
        ]
        cells = [f"{r.load:.0f} / {r.decided:.0%} / {r.wrong:.1%} / {r.covered:.1%}" for r in told]
        rows.append([name + ", all ranked" * ranked, noise, *cells, f"{told[1].load / told[0].load:.2f}"])
    columns = ("servers", "noise", "all in each block", "decided servers leave", "load")
    note = (
        "Many servers compared with the best, or every two (all ranked), 2 % deviation of ratios, a "
        "budget of 20 blocks of all. "
        "Cells: mean load (a server in a block is 1) / decided / runs that show any order wrongly / "
        "intervals of all pairs that hold the truth. The last column is the load of the second over "
        "that of the first. "
        "Wanted: 3 % or less wrong, 93 % or more of intervals hold the truth."
    )
    return _table("Decided servers leave", note, columns, rows)


def _capacity_table(runs: int) -> str:
    rows = []
    for spread in (0.002, 0.01, 0.03, 0.05, 0.08):
        for lapse in (0.0, 0.02):
            covered, trials, error = capacity_searches(spread, lapse, runs)
            rows.append([f"{spread:.1%}", f"{lapse:.0%}", f"{covered:.1%}", f"{trials:.0f}", f"{error:.2%}"])
    columns = (
        "turns over within",
        "hiccups",
        "holds the truth",
        "median trials",
        "median error",
    )
    note = f"Searches between 100 and 100,000/s to a resolution of 5 %, {runs} of each kind."
    return _table("Capacity", note, columns, rows)


def _steady_table(runs: int) -> str:
    rows = []
    for deviation, correlation in ((0.01, 0.0), (0.03, 0.0), (0.03, 0.3), (0.03, 0.6), (0.08, 0.0)):
        answers = [steady_answers(kind, deviation, correlation, runs) for kind in TRACES]
        cells = [f"{steady:.0%} / {near:.0%}" for steady, near in answers]
        rows.append([f"{deviation:.0%}, {correlation:g}", *cells])
    columns = ("noise of windows, correlation", *TRACES)
    note = (
        "Called steady / cut within one judged window of the true change (no change found, where none is).\n"
        f"Ten seconds in windows of 100 ms, {runs} traces of each kind. "
        "Wanted: the first four steady, the last three not."
    )
    return _table("Steady state", note, columns, rows)


def _warm_up_table(runs: int) -> str:
    rows = []
    for constant in (0.0, 0.5, 1.5, 3.0):
        seconds, level = warm_ups(constant, runs)
        rows.append([f"{constant:g} s" if constant else "warm already", f"{seconds:.1f} s", f"{level:.1%}"])
    note = "When the online rule lets an exponential warm-up (from 30 % of the level, 3 % noise) go."
    return _table("Warm-up", note, ("time constant", "let go after", "level then"), rows)


def _kept_table(runs: int) -> str:
    risen = ((0.1, 0.5, 0.08), (0.1, 1.0, 0.08), (0.1, 2.0, 0.08), (0.3, 1.0, 0.08), (0.1, 1.0, 0.02))
    kinds = {f"{rise:.0%}, {100 * c:.0f} ms, {d:.0%}": (rise, c, d) for rise, c, d in risen}
    found = {name: blocks_kept(*kind, runs) for name, kind in kinds.items()}
    found |= {"none, 8%": blocks_kept(0, 1, 0.08, runs), "pauses, 3%": blocks_kept(0, 1, 0.03, runs, True)}
    rows = [[name, *(f"{one:+.1%}" for one in each)] for name, each in found.items()]
    columns = ("rise, time constant, deviation", "those slices", "those after 100 ms", "the next six")
    note = (
        "Bias of the log ratio where a block is kept if six slices of 100 ms show that both servers are "
        "warm. One rises to its level; in the last row it pauses in one slice of eight."
    )
    return _table("Slices that show warmth", note, columns, rows)


TABLES: Mapping[str, tuple[Callable[[int], str], int]] = {
    "Coverage": (_coverage_table, 1),
    "Blocks that depend on each other": (_study_table, 1),
    "As many blocks as it takes": (_growing_table, 1),
    "False alarms": (_false_alarm_table, 1),
    "Power": (_power_table, 1),
    "Orders": (_order_table, 8),
    "What servers say of each other's scatter": (_pooled_table, 100),
    "Stopping when decided": (_sequential_table, 1),
    "Decided servers leave": (_leaving_table, 20),
    "Forecasts": (_forecast_table, 80),
    "Ranks": (_rank_table, 8),
    "Capacity": (_capacity_table, 20),
    "Steady state": (_steady_table, 20),
    "Warm-up": (_warm_up_table, 80),
    "Slices that show warmth": (_kept_table, 1),
}
"""Each table, and of how many of the runs it has one: those that simulate whole runs have fewer."""


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(__file__).parents[1] / "docs" / "method" / "evidence" / "simulations.md",
    )
    parser.add_argument("--only", nargs="*", choices=TABLES, default=[], help="write these tables anew")
    given = parser.parse_args()
    before = given.out.read_text(encoding="utf-8") if given.only else ""
    given.out.write_text(page(given.runs, before, given.only), encoding="utf-8")
    sys.stdout.write(f"wrote {given.out}\n")


if __name__ == "__main__":
    main()
