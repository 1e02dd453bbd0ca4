"""Is every injected flaw found, and is a clean run left alone? Writes docs/injected-flaws.md.

python benches/injected.py [--clean 20] [--only G1 W3] [--times 1] [--bounds 5] [--out docs/injected-flaws.md]

Takes about two minutes for the flaws and half of one for each clean run. The runs are real: processes,
sockets, loads. A busy machine makes the rules about noise speak in clean runs: those are counted apart.

With --only just those flaws are injected, and no clean runs made unless --clean asks for some. What the page
holds already of others stays. The page is written anew after each step, so that Ctrl-C loses nothing. With
--times each is injected so often, and the page says in how many of them it was found.

With --bounds each flaw that lies outside of the servers (a busy machine, shared cores, a stopped
generator) is run so often with and without it: what the flawed run says to know must hold what the
clean run finds. Two counts are kept of that: where the clean figure itself lies within, and where its
interval meets what is known, as a clean run has an error, too.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import planting  # noqa: E402 - it lies with the tests, which plant the same flaws
from planting import page, plants  # noqa: E402 - as above

from assay.core.errors import EXIT_INTERRUPTED, AssayError  # noqa: E402 - as above
from assay.model.estimate import Estimate, Known  # noqa: E402 - as above
from assay.model.run import Judgement  # noqa: E402 - as above
from assay.runner import Interrupted  # noqa: E402 - as above
from assay.servers.cores import split_cores  # noqa: E402 - as above

CLEAN = 20


def main() -> int:
    """Plant, run clean, write; 1 where a flaw was missed or a clean run was blamed for nothing."""
    arguments = _arguments()
    out: Path | None = arguments.out
    found = page.kept(out.read_text(encoding="utf-8")) if out is not None and out.exists() else page.Found()
    looks = Attempts(found, lambda: out.write_text(found.page(), encoding="utf-8") if out else None)
    chosen = [plant for plant in plants.EVERY if not arguments.only or plant.code in arguments.only]
    clean = arguments.clean if arguments.clean is not None else 0 if arguments.only else CLEAN
    try:
        fine = looks.at_flaws(chosen, arguments.times)
        fine &= looks.at_clean_runs(clean)
        if arguments.bounds:
            looks.at_bounds([plant for plant in chosen if _outside(plant)], arguments.bounds)
    except (KeyboardInterrupt, Interrupted):
        _tell("\ninterrupted: what was measured is kept\n")
        return EXIT_INTERRUPTED
    except AssayError as problem:
        _tell(f"\n{problem}; what was measured before is kept\n")
        return problem.exit_code
    finally:
        sys.stdout.write(found.page())
    return 0 if fine else 1


class Attempts:
    """One look after the other. Each is told, and `keep` is called with what was found by then."""

    def __init__(self, found: page.Found, keep: Callable[[], object]) -> None:
        """`found` holds what is known from earlier looks."""
        self._found = found
        self._keep = keep

    def at_flaws(self, chosen: Sequence[planting.Injected], times: int) -> bool:
        """Whether each is found, every time. One that cannot be injected here is told, and is not found."""
        fine = True
        for step, plant in enumerate(chosen, start=1):
            seen: list[str] = []
            for _ in range(times):
                began_s = time.monotonic()
                _tell(f"[{step}/{len(chosen)}] {plant.name}: {plant.flaw}: ")
                outcome = _outcome(plant)
                _tell(f"{outcome or 'nothing is known'}, {time.monotonic() - began_s:.0f} s\n")
                seen += [outcome] if outcome else []
            found = [outcome for outcome in seen if outcome != "missed"]
            if seen:
                often = f", {len(found)} of {len(seen)}" if times > 1 else ""
                self._found.caught[plant.name] = (found or seen)[-1] + often
            fine &= len(found) == times
            self._keep()
        return fine

    def at_clean_runs(self, number: int) -> bool:
        """Whether the rules but those about noise say nothing above a note in any of so many."""
        spoke: list[str] = []
        for run in range(number):
            clean = plants.CLEAN_INTERLEAVED if run % 2 else plants.CLEAN
            _tell(f"[{run + 1}/{number}] a clean run{', interleaved' if run % 2 else ''}: ")
            codes = sorted({one.code for one in _judged(clean).findings if one.severity != "note"})
            _tell(f"{', '.join(codes) or 'nothing found'}\n")
            spoke += codes
            self._found.silent(run + 1, spoke, whole=run + 1 == number)
            self._keep()
        return plants.NOISE.issuperset(spoke)

    def at_bounds(self, outside: Sequence[planting.Injected], times: int) -> None:
        """How much of what clean runs find lies within what flawed ones say to know."""
        for step, plant in enumerate(outside, start=1):
            _tell(f"[{step}/{len(outside)}] bounds with {plant.code}: ")
            held = _bounds(plant, times)
            self._found.held[plant.code] = held
            _tell(f"{held.within} within, {held.met} met of {held.of}\n")
            self._keep()


def _tell(words: str) -> None:
    sys.stderr.write(words)
    sys.stderr.flush()


def _outcome(plant: planting.Injected) -> str:
    """How the flaw was found; empty where it cannot be injected here, which is told."""
    try:
        return planting.outcome(plant, _judged(plant))
    except Interrupted:
        raise
    except AssayError as problem:
        _tell(f"not run: {problem}; ")
        return ""


def _judged(plant: planting.Injected) -> Judgement:
    with tempfile.TemporaryDirectory() as folder:
        return planting.run(plant, Path(folder))


def _outside(plant: planting.Injected) -> bool:
    """Whether the flaw is none of the servers', so that the same servers can be run without it."""
    return plant.disturb is not None or plant.descriptors is not None or plant.split is not split_cores


def _bounds(plant: planting.Injected, times: int) -> page.Held:
    """How many figures of runs with the flaw hold what a clean run finds, of how many."""
    blocks = max(3, plant.blocks)
    flawed = replace(plant, blocks=blocks)
    clean = replace(flawed, disturb=None, apart=False, descriptors=None, split=split_cores, after=None)
    looks: list[tuple[Known, Estimate]] = []
    for _ in range(times):
        said, found = _judged(flawed), _judged(clean)
        truths = {row.case: row.throughput for row in found.ranking}
        looks += [
            (row.known, truth)
            for row in said.ranking
            if row.known is not None and not row.invalid and (truth := truths.get(row.case)) is not None
        ]
        ratios = {(one.a, one.b): one.ratio for one in found.comparisons}
        looks += [
            (one.known, truth)
            for one in said.comparisons
            if one.known is not None and (truth := ratios.get((one.a, one.b))) is not None
        ]
    within = sum(_holds(known, truth.value, truth.value) for known, truth in looks)
    return page.Held(sum(_met(known, truth) for known, truth in looks), len(looks), within)


def _met(known: Known, truth: Estimate) -> bool:
    """Whether the interval of the clean run meets what is known."""
    low = truth.value if truth.low is None else truth.low
    return _holds(known, low, truth.value if truth.high is None else truth.high)


def _holds(known: Known, low: float, high: float) -> bool:
    """Whether what lies between the two meets what is known."""
    return (known.low is None or high >= known.low) and (known.high is None or low <= known.high)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clean", type=int, metavar="N", help=f"clean runs [{CLEAN}; with --only none]")
    parser.add_argument("--times", type=int, default=1, metavar="N", help="how often each is injected [1]")
    parser.add_argument("--bounds", type=int, default=0, metavar="N", help="pairs of runs for the bounds [0]")
    codes = [plant.code for plant in plants.ALL]
    parser.add_argument("--only", nargs="+", metavar="CODE", choices=codes, help="these rules alone")
    parser.add_argument("--out", type=Path, metavar="FILE", help="keep the page in FILE")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
