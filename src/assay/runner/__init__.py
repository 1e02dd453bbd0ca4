"""The life of a run, whatever it is made of: its servers had, its trials run, each stored as it ends, judged.

    settings = Settings.resolve(results=...)
    resolved = resolve(load_study("franklin", settings), settings)
    with machine_lock(settings):
        run = begin(resolved, settings, observer, command=sys.argv)

and to go on with a run that was cut off:

    with machine_lock(settings), resume(path, settings) as resumed:
        run = go_on(resumed, settings, observer)
"""

from __future__ import annotations

from assay.runner.bench import HERE
from assay.runner.controller import begin, go_on
from assay.runner.header import Resumed, resume
from assay.runner.lock import machine_lock
from assay.runner.observer import CutShort, Interrupted, Observer, Silent

__all__ = [
    "HERE",
    "CutShort",
    "Interrupted",
    "Observer",
    "Resumed",
    "Silent",
    "begin",
    "go_on",
    "machine_lock",
    "resume",
]
