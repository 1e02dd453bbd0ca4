"""`Series`: several runs asked for at once (studies × profiles), and how far they have come."""

from __future__ import annotations

from typing import Literal

from assay.model.design import Choices
from assay.model.plan import Value

FORMAT = 2
"""Version of the stored series."""

State = Literal["to do", "begun", "ended", "failed"]


class SeriesPart(Value, frozen=True, kw_only=True):
    """One run of a series. `run` is its id once it has begun, `problem` why it could not end."""

    study: str
    profile: str
    run: str = ""
    state: State = "to do"
    problem: str = ""


class Series(Value, frozen=True, kw_only=True):
    """Runs one after the other, in order; what was chosen for all of them (but the profile, a part's own).

    The runs are records of their own. The series only says which belong together and which are
    still to come, so that a series that was cut off goes on where it was.
    """

    format: int = FORMAT
    series_id: str
    created_unix_ns: int
    choices: Choices = Choices()
    parts: tuple[SeriesPart, ...]
