"""Does `assay audit` survive mutants of its samples? Each is audited and told in every form.

python benches/audit_mutants.py [--count 10000] [--first 0]

A mutant is made of its number alone, so one that fails can be made again. Exit code 1 if one fails.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path
from random import Random
from time import process_time

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from mutants import NAMES, SAMPLES, mutant, survive  # noqa: E402 - its folder is only known now


def main() -> int:
    """Count the mutants that fail, and show how."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    failed = 0
    slowest = (0.0, 0)
    for number in range(args.first, args.first + args.count):
        chance = Random(number)
        path, name = chance.choice(SAMPLES), chance.choice(NAMES)
        begun = process_time()
        try:
            survive(mutant(path, number), name)
        except Exception:  # noqa: BLE001 - every kind is counted
            failed += 1
            sys.stdout.write(f"{number}: {path.name} as {name}\n{traceback.format_exc(limit=-3)}\n")
        slowest = max(slowest, (process_time() - begun, number))
    sys.stdout.write(
        f"{args.count} mutants, {failed} failed; {process_time():.0f} s of CPU, the slowest "
        f"{1e3 * slowest[0]:.0f} ms (number {slowest[1]})\n"
    )
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
