"""Run files: append a trial, load a run, find it again.

A run is a folder `results/<run_id>/` with `run.jsonl` (a header, then one line a trial, then the
judgement) and `logs/` (what the servers wrote). A line is written and synced before the next trial
starts; whatever ends the process, all lines but a torn last one stay readable.
"""

from __future__ import annotations

from assay.store.find import find, list_runs
from assay.store.read import Stored, load, read
from assay.store.write import RunFile, create, new_run_id, reopen

__all__ = [
    "RunFile",
    "Stored",
    "create",
    "find",
    "json_schema",
    "list_runs",
    "load",
    "new_run_id",
    "read",
    "reopen",
]


def json_schema() -> dict[str, object]:
    """The JSON Schema of one line of a run file."""
    import msgspec

    from assay.values.run import Header, Judgement, TrialDone

    return msgspec.json.schema(Header | TrialDone | Judgement)
