"""H: the machine."""

from __future__ import annotations

from assay.verdict.rule import Hit, Limits, LoadRule
from assay.verdict.seen import Load
from assay.verdict.words import counted


def cores_shared(load: Load, limits: Limits) -> Hit | None:
    """H1: client and server on the same cores, or more client threads than cores."""
    shared = load.cores_shared
    cores = len(load.client_cpus) or load.machine_cores
    threads = load.threads
    figures = {"shared_cores": float(len(shared)), "threads": float(threads or 0), "cores": float(cores or 0)}
    if shared:
        same = set(shared) & set(load.server_cpus)
        how = "run on the same cores" if same else "run on hardware threads of the same core"
        which = ", ".join(str(cpu) for cpu in shared)
        return Hit("flagged", f"client and server {how} (CPU {which})", figures, gravity=len(shared))
    if threads is not None and cores is not None and threads > cores:
        evidence = f"{counted(threads, 'client thread')} on {counted(cores, 'core')}"
        return Hit("flagged", evidence, figures, gravity=threads / cores)
    unpinned = not load.client_cpus and not load.server_cpus
    if load.same_machine and unpinned and threads is not None and cores is not None and threads >= cores:
        evidence = (
            f"{counted(threads, 'client thread')} on a machine of {counted(cores, 'core')} that serves too"
        )
        return Hit("flagged", evidence, figures, gravity=threads / cores)
    return None


H1 = LoadRule(
    code="H1",
    title="client and server compete for cores",
    severities=("flagged",),
    meaning=(
        "What the client takes, the server lacks. The busier client makes its server look slower, and the"
        " number of client threads changes the result."
    ),
    remedy=(
        "give client and server cores of their own (or machines of their own), with one client thread a core"
    ),
    source="the published franklin (12 threads) and frameworks (10 against 5 threads) studies, on 4 cores",
    example="wrk -t12 on 4 cores that the server under test uses too.",
    shared=True,
    check=cores_shared,
)
