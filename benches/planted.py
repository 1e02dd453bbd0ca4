"""Is every planted flaw found, and is a clean run left alone? Writes docs/planted-flaws.md.

python benches/planted.py [--clean 20] [--only G1 W3] [--out docs/planted-flaws.md]

Takes about two minutes for the flaws and half of one for each clean run. The runs are real: processes,
sockets, loads. A busy machine makes the rules about noise speak in clean runs: those are counted apart.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import planting  # noqa: E402 - it lies with the tests, which plant the same flaws
from planting import plants, table  # noqa: E402 - as above


def main() -> int:
    """Plant, run clean, write; 1 where a flaw was missed or a clean run was blamed for nothing."""
    arguments = _arguments()
    chosen = [plant for plant in plants.ALL if not arguments.only or plant.code in arguments.only]
    caught = {plant.code: planting.outcome(plant, _judged(plant)) for plant in chosen}
    alarms, noisy = _clean_runs(arguments.clean)
    page = _page(caught, arguments.clean, alarms, noisy)
    sys.stdout.write(page)
    if arguments.out:
        arguments.out.write_text(page, encoding="utf-8")
    missed = [code for code, seen in caught.items() if seen == "missed"]
    return 1 if missed or alarms else 0


def _judged(plant: planting.Planted) -> planting.Judgement:
    sys.stderr.write(f"{plant.code}: {plant.flaw} ...\n")
    with tempfile.TemporaryDirectory() as folder:
        return planting.run(plant, Path(folder))


def _clean_runs(number: int) -> tuple[Counter[str], Counter[str]]:
    """In how many clean runs each rule spoke above a note: those about the servers, those about noise."""
    alarms: Counter[str] = Counter()
    noisy: Counter[str] = Counter()
    for _ in range(number):
        codes = {one.code for one in _judged(plants.CLEAN).findings if one.severity != "note"}
        alarms.update(codes - plants.NOISE)
        noisy.update(codes & plants.NOISE)
    return alarms, noisy


def _page(caught: dict[str, str], clean: int, alarms: Counter[str], noisy: Counter[str]) -> str:
    def of(code: str) -> str:
        spoke = alarms[code] + noisy[code]
        return f"{clean - spoke} of {clean}" if clean else ""

    head = (
        "# Planted flaws\n\n"
        "Written by `benches/planted.py`. Each row is a real run (processes, sockets, a load) with just\n"
        "that flaw. `clean` are runs of two equal servers without one: in so many of them the rule said\n"
        "nothing above a note. Rules about noise (*) judge the machine: on a busy one they speak in\n"
        "clean runs too, and are right.\n\n"
    )
    return head + table(caught, of) + "\n"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clean", type=int, default=20, metavar="N", help="clean runs [20]")
    parser.add_argument("--only", nargs="+", metavar="CODE", help="these rules alone")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write the page to FILE")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
