"""Whether a node has this machine's Assay.

Compared by plain strings, before anything else of it is read: another version may say it in another shape.
"""

from __future__ import annotations

import functools

from assay.core.errors import EnvironmentLacks
from assay.core.settings import version
from assay.engine import driver
from assay.model.plan import SCHEMA


@functools.cache
def here() -> tuple[str, str]:
    """The versions of Assay and of its engine, with the schema of what both hand each other."""
    return version(), f"{driver.version()}, schema {SCHEMA}"


def refuse_other(address: str, theirs: object) -> None:
    """EnvironmentLacks where what a node's agent said of its versions is not ours."""
    ours = here()
    if theirs == ours:
        return
    match theirs:
        case (str(version), str(of_engine)):
            said = f"Assay {version} (engine {of_engine})"
        case _:
            said = "another Assay"
    raise EnvironmentLacks(
        f"node {address} has {said}, this machine {ours[0]} (engine {ours[1]})",
        "install the same version on all machines",
    )
