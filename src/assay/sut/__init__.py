"""Systems under test: what they are (manifests, contracts) and their life (build, start, sample, stop)."""

from __future__ import annotations

from assay.sut.build import Prepared, prepare
from assay.sut.contract import Contract, Route, read_contract
from assay.sut.cores import CoreSplit, split_cores
from assay.sut.manifest import Server, ServerSpec, find_server, list_servers, read_server
from assay.sut.requires import Checked, check, check_all, debian_packages

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
