"""Write the kept record of the sample run in the present format: `python tests/golden/keep_record.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

HERE = Path(__file__).parent


def main() -> None:
    """Write the sample run's first block as this version stores it."""
    sys.path.insert(0, str(HERE.parent / "support"))
    import sample_run

    from assay.model.run import FORMAT, TrialDone

    made = sample_run.run()
    made = sample_run.redesigned(made, blocks=1)
    header = msgspec.structs.replace(made.header, run_id=f"franklin-20251121-080000-f{FORMAT:03}")
    first = [TrialDone(trial=trial) for trial in made.trials if trial.block == 0]
    assert made.judgement is not None
    judgement = msgspec.structs.replace(made.judgement, trials=len(first))
    path = HERE / "records" / "sample" / "run.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(sample_run.sealed(header.run_id, [header, *first, judgement]))


if __name__ == "__main__":
    main()
