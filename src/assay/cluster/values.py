"""What a node says of itself."""

from __future__ import annotations

from assay.values.plan import Value


class About(Value, frozen=True, kw_only=True):
    """A node: its machine and the versions there.

    `kernel_id` is the same for all that share a kernel. `cpus` are those that Ray's processes may use,
    `client_cpus` and `server_cpus` how they are split where both roles are played.
    """

    hostname: str
    os: str
    kernel: str
    cpu_model: str
    cores: int
    cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]
    server_cpus: tuple[int, ...]
    kernel_id: str
    assay_version: str
    engine_version: str
    python: str
