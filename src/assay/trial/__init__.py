"""The life of a study: prepare its servers, run its trials in blocks, store each as it ends.

    settings = Settings.resolve(results=...)
    study = resolve(load_study("franklin", settings), settings, profile="fair")
    with machine_lock(settings):
        with store.create(settings.results, header_for(study, command)) as run_file:
            run = run_study(study, run_file, settings, observer)

and to go on with a run that was cut off:

    with machine_lock(settings), resume(path, settings) as resumed:
        run = run_study(resumed.study, resumed.run_file, settings, observer, before=resumed.run)
"""

from __future__ import annotations

from assay.trial.controller import run_study
from assay.trial.header import Resumed, header_for, resume
from assay.trial.lock import machine_lock
from assay.trial.observer import CutShort, Interrupted, Observer, Phase, Silent
from assay.trial.schedule import Slot

__all__ = [
    "CutShort",
    "Interrupted",
    "Observer",
    "Phase",
    "Resumed",
    "Silent",
    "Slot",
    "header_for",
    "machine_lock",
    "resume",
    "run_study",
]
