"""`--quick` takes three minutes of measuring at most, and says in one line what it leaves out."""

from __future__ import annotations

import pytest

from assay.core.settings import Settings
from assay.model.design import Choices
from assay.plan.study import list_studies, load_study, resolve
from assay.plan.study.quick import MOST_S
from assay.servers import CoreSplit

SETTINGS = Settings.resolve()
SPLIT = CoreSplit(client=(1,), server=(0,), cores=2)
PROFILES = [
    (path.stem, profile)
    for path in list_studies(SETTINGS)
    for profile in load_study(path.stem, SETTINGS).file.profiles
]


def test_every_study_is_looked_at() -> None:
    assert len(PROFILES) >= 13
    assert MOST_S == 180


@pytest.mark.parametrize(("name", "profile"), PROFILES)
def test_a_first_look_fits_into_three_minutes(name: str, profile: str) -> None:
    study = load_study(name, SETTINGS)
    choices = Choices(profile=profile, quick=True, seed=1)
    made = resolve(study, SETTINGS, choices, split=SPLIT)
    assert made.expected_s().high_s <= 180
    [said] = [note for note in made.notes if note.startswith("quick: ")]
    assert "of measuring at most, builds of servers aside" in said and "\n" not in said
    whole = resolve(study, SETTINGS, Choices(profile=profile, seed=1), split=SPLIT)
    assert ("left out" in said) == (len(made.cases) < len(whole.cases))
    if profile == "fair" and name != "workflow":
        assert made.blocks == 3  # enough for a ranking
        assert sum(case.case.role == "candidate" for case in made.cases) >= 2


def test_what_was_asked_for_by_name_stays() -> None:
    choices = Choices(quick=True, seed=1, servers=("heroes/go-pgx+pool-3",), blocks=4)
    made = resolve(load_study("heroes", SETTINGS), SETTINGS, choices, split=SPLIT)
    assert made.blocks == 4
    assert "heroes/go-pgx+pool-3" in {case.case.server_name for case in made.cases}


def test_the_same_choices_leave_the_same_cases() -> None:
    """A first look that was cut off is gone on with by its choices alone."""
    choices = Choices(quick=True, seed=1)
    one, other = (
        resolve(load_study("petclinic", SETTINGS), SETTINGS, choices, split=SPLIT) for _ in range(2)
    )
    assert [case.case for case in one.cases] == [case.case for case in other.cases]
    assert one.design == other.design
