"""A sample of cosmic-ray's changes: `sample_mutants.py SESSION COUNT SEED` keeps so many of a session's.

`sample_mutants.py SESSION` prints how many of them the tests found, and how many survived.
"""

from __future__ import annotations

import random
import sqlite3
import sys
from contextlib import closing


def keep(session: sqlite3.Connection, count: int, seed: int) -> None:
    """Drop all changes of the session but a sample, which the seed draws."""
    places = "SELECT module_path, operator_name, occurrence, operator_args, job_id FROM mutation_specs"
    listed = [[str(word) for word in place] for place in session.execute(places)]
    jobs = [job for *_, job in sorted(listed)]  # ids are drawn anew in each session, places are not
    # "|" stands in annotations, which nothing evaluates.
    likely = [job for _, operator, *_, job in sorted(listed) if "BitOr_" not in operator]
    kept = set(random.Random(seed).sample(likely, min(count, len(likely))))
    for table in ("mutation_specs", "work_items"):
        dropped = [(job,) for job in jobs if job not in kept]
        session.executemany(f"DELETE FROM {table} WHERE job_id = ?", dropped)  # noqa: S608 - our own names
    session.commit()


def main() -> None:
    """Keep a sample, or count what came of it."""
    with closing(sqlite3.connect(sys.argv[1])) as session:
        if len(sys.argv) > 2:  # noqa: PLR2004 - SESSION alone counts
            keep(session, int(sys.argv[2]), int(sys.argv[3]))
            return
        outcomes = [str(outcome) for (outcome,) in session.execute("SELECT test_outcome FROM work_results")]
    killed = sum("KILLED" in outcome.upper() for outcome in outcomes)
    survived = sum("SURVIVED" in outcome.upper() for outcome in outcomes)
    print(killed, survived)


if __name__ == "__main__":
    main()
