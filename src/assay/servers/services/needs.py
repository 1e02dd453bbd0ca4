"""What the services of servers need before a run: requirements of private ones, builds of upstreams."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.core.settings import Settings
from assay.servers.contract import ServiceTable, read_contract
from assay.servers.manifest import Requirement, ServerSpec, find_server
from assay.servers.services.manifest import UPSTREAM, read_service


def requirements(name: str) -> tuple[Requirement, ...]:
    """What a private service of that name needs of the machine."""
    return () if name == UPSTREAM else read_service(name).requires


def requirements_of_all(specs: Iterable[ServerSpec]) -> tuple[Requirement, ...]:
    """What the services of these servers need of the machine, each once."""
    names = dict.fromkeys(name for spec in specs for name in services_of(spec))
    return tuple(dict.fromkeys(one for name in names for one in requirements(name)))


def upstreams_of_all(specs: Sequence[ServerSpec], settings: Settings) -> tuple[ServerSpec, ...]:
    """The servers that these servers use as their upstream: they are to be built too."""
    tables = [services_of(spec).get(UPSTREAM) for spec in specs]
    ids = dict.fromkeys(table.server for table in tables if table is not None and table.server is not None)
    return tuple(find_server(name, settings).variant("") for name in ids)


def services_of(spec: ServerSpec) -> dict[str, ServiceTable]:
    """The services of one server: its contract's, and those that its manifest adds."""
    of_contract = read_contract(spec.contract_folder).services
    return of_contract | {name: of_contract.get(name, ServiceTable()) for name in spec.services}
