"""Lines of older formats, brought up to the present one: the one place that knows how records used to look.

A change to a stored value that an older record would not survive is made here too: in the step that leads
from the last released format to the present one, for each kind of line that changes. A new field with a
default needs no step. Each format's kept records (tests/golden/records) are read by every later version.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from assay.model.run import FORMAT
from assay.store import format_1

Fields = dict[str, Any]
"""A line as plain data: what its JSON object holds, without the checksum."""


def migrated(line: Fields, written: int) -> Fields:
    """The line of format `written` as the present format would hold it.

    Raises ValueError (KeyError and TypeError are turned into it) where it is not what that format says.
    """
    try:
        for number in range(written, FORMAT):
            change = _STEPS[number].get(line["record"])
            line = {**(change(line) if change else line), "format": number + 1}
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"it is no line of format {written}: {error!r}") from error
    return line


def _trial_of_format_1(line: Fields) -> Fields:
    """Without a checksum of the line, those within its histograms (zlib's) are all that shows damage."""
    for times in (line["trial"].get("measurement") or {}).values():
        if isinstance(times, dict) and "data" in times:
            _check_whole(times["data"])
    return _memory_of_services(line)


_PREFIX = 8
"""Bytes of a histogram's encoding before its compressed part: a cookie and a length."""


def _check_whole(data: str) -> None:
    """Raises ValueError where a histogram is damaged."""
    try:
        zlib.decompress(base64.b64decode(data, validate=True)[_PREFIX:])
    except (binascii.Error, zlib.error) as error:
        raise ValueError(f"a histogram of it is damaged: {error}") from error


def _memory_of_services(line: Fields) -> Fields:
    """Format 1 told the peak of a service's summed resident sets: shared pages count for each."""
    trial = line["trial"]
    if not trial.get("services"):
        return line
    services = [
        {key: value for key, value in service.items() if key != "peak_rss_bytes"}
        | {"memory_bytes": service["peak_rss_bytes"], "pages_shared_out": False}
        for service in trial["services"]
    ]
    return {**line, "trial": {**trial, "services": services}}


def _judgement_of_format_1(line: Fields) -> Fields:
    """A finding said what it withholds, where it now says what it does to each figure."""
    return {**line, "findings": [_finding_of_format_1(finding) for finding in line["findings"]]}


def _finding_of_format_1(finding: Fields) -> Fields:
    present = dict(finding)
    withheld = present.pop("withholds", "nothing")
    effects = _EFFECTS_OF_FORMAT_1[withheld]
    return {**present, **effects}


_EFFECTS_OF_FORMAT_1: Mapping[str, Mapping[str, str]] = {
    "nothing": {},
    "everything": {"on_throughput": "void", "on_times": "void"},
    "times": {"on_times": "void"},
    "percentiles": {"on_times": "void"},
    "comparison": {"on_comparison": "void"},
}


_STEPS: Mapping[int, Mapping[str, Callable[[Fields], Fields]]] = {
    1: {"header": format_1.header, "trial": _trial_of_format_1, "judgement": _judgement_of_format_1},
    2: {},  # its lines did not say their run and number: these stand before what a line holds
}
"""From each format to the next: what changes in a line, by its `record`."""
