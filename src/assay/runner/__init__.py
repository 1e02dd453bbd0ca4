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

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.runner.bench import HERE, CutShort, Interrupted, Observer, Silent
    from assay.runner.controller import Resumed, begin, go_on, resume
    from assay.runner.prepare import machine_lock

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

_HOMES = {
    "bench": ("HERE", "CutShort", "Interrupted", "Observer", "Silent"),
    "controller": ("Resumed", "begin", "go_on", "resume"),
    "prepare": ("machine_lock",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import the module that has the name (PEP 562): `assay load` must not wait for what runs studies."""
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
