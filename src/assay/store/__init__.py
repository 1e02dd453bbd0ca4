"""Run files: append a trial, load a run, find it again.

A run is a folder `results/<run_id>/` with `run.jsonl` (a header, then one line a trial or an interleaved
block, then the judgement) and `logs/` (what the servers wrote). A line is written and synced before what
comes next starts; whatever ends the process, all lines but a torn last one stay readable. A series of runs is
a folder with a `series.json`, which names them.
"""

from __future__ import annotations

from assay.store.find import find, find_series, list_runs, other_profile, write_series
from assay.store.read import Stored, load, read
from assay.store.write import RunFile, create, keep, new_run_id, reopen

__all__ = [
    "RunFile",
    "Stored",
    "create",
    "find",
    "find_series",
    "keep",
    "json_schema",
    "list_runs",
    "load",
    "new_run_id",
    "other_profile",
    "read",
    "reopen",
    "write_series",
]


def json_schema() -> dict[str, object]:
    """The JSON Schema of one line of a run file, as it is stored: with its checksum and its place."""
    import msgspec

    from assay.model.run import BlockDone, Header, Judgement, TrialDone

    schema = msgspec.json.schema(Header | TrialDone | BlockDone | Judgement)
    recipe = "CRC-32 of the line's bytes after its first comma, line end left out"
    for kind in (Header, TrialDone, BlockDone, Judgement):
        line = schema["$defs"][kind.__name__]
        seal = {"type": "string", "pattern": "^[0-9a-f]{8}$", "description": recipe}
        run = {"type": "string", "description": "the id of the run whose record the line is of"}
        number = {"type": "integer", "minimum": 1, "description": "which line of the record it is"}
        line["properties"] = {"crc32": seal, "run": run, "line": number, **line["properties"]}
        line["required"] = ["crc32", "run", "line", *line["required"]]
    return schema
