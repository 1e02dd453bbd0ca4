"""Systems under test: what they are (manifests, contracts) and their life (build, start, sample, stop).

Names are imported when they are first used: `assay load` wants the split of cores and must not
wait for what builds servers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.servers.build import Prepared, prepare
    from assay.servers.contract import Contract, Route, read_contract
    from assay.servers.cores import CoreSplit, split_cores
    from assay.servers.manifest import Server, ServerSpec, find_server, list_servers, read_server
    from assay.servers.requires import Checked, check, check_all, debian_packages

__all__ = [
    "Checked",
    "Contract",
    "CoreSplit",
    "Prepared",
    "Route",
    "Server",
    "ServerSpec",
    "check",
    "check_all",
    "debian_packages",
    "find_server",
    "list_servers",
    "prepare",
    "read_contract",
    "read_server",
    "split_cores",
]

_HOMES = {
    "build": ("Prepared", "prepare"),
    "contract": ("Contract", "Route", "read_contract"),
    "cores": ("CoreSplit", "split_cores"),
    "manifest": ("Server", "ServerSpec", "find_server", "list_servers", "read_server"),
    "requires": ("Checked", "check", "check_all", "debian_packages"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import the module that has the name (PEP 562)."""
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
