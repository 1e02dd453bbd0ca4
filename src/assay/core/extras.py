"""Packages that a plain installation goes without, and what to say where one is asked for.

Pictures, pages to browse and a reader of HTML are large and most runs need none: they are
extras of the distribution (pyproject.toml), imported where they are used.
"""

from __future__ import annotations

import contextlib
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec

from assay.core.errors import EnvironmentLacks

PACKAGES = {
    "lxml": ("audit", "reading HTML"),
    "prometheus_client": ("metrics", "figures for Prometheus"),
    "resvg_py": ("charts", "pictures as PNG"),
    "ray": ("ray", "a cluster of machines"),
    "starlette": ("view", "`assay view`"),
    "uvicorn": ("view", "`assay view`"),
}
"""By the name of the module: the extra that brings it, and what is made with it."""


def lacking(module: str | None) -> EnvironmentLacks | None:
    """What to say where `module` cannot be found; None where it belongs to no extra."""
    name = (module or "").partition(".")[0]
    if name not in PACKAGES:
        return None
    extra, purpose = PACKAGES[name]
    needed = " ".join(f"'{one}'" for one in _requirements(extra))
    return EnvironmentLacks(f"{purpose}: the package {name} is not installed", f"pip install {needed}")


def _requirements(extra: str) -> list[str]:
    """What the extra consists of, as this installation says it. Assay itself lies on no index: from there
    its packages can be had, whether it runs from a checkout or from a wheel, and it cannot."""
    with contextlib.suppress(PackageNotFoundError):
        mine = [one.partition(";") for one in requires("assay-http") or ()]
        found = [what.strip() for what, _, when in mine if when.strip() == f"extra == '{extra}'"]
        if found:
            return found
    modules = (module for module, (brought_by, _) in PACKAGES.items() if brought_by == extra)
    return [module.replace("_", "-") for module in modules]


def not_installed(extra: str) -> EnvironmentLacks | None:
    """What to say where a package of `extra` is not installed: for work that goes on without it."""
    modules = [module for module, (brought_by, _) in PACKAGES.items() if brought_by == extra]
    return next((lacking(module) for module in modules if find_spec(module) is None), None)
