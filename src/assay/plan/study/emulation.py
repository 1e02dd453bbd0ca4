"""What a load at a distance asks of its servers."""

from __future__ import annotations

from assay.core.errors import InputError
from assay.plan.study.load import Study
from assay.plan.study.schema import DistanceSetting
from assay.servers.manifest import ServerSpec


def check_distance(study: Study, load: str, distance: DistanceSetting | None, server: ServerSpec) -> None:
    """InputError where a server at a distance would be without its services: they are not where it is."""
    if distance is not None and server.services:
        raise InputError(
            f"{study.path}: load {load!r} is at a distance, where {server.id} has no way to its service "
            f"{server.services[0]!r}",
            "name servers for that load that need none, or leave distance out",
        )
