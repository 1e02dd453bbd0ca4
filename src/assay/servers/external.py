"""A server that stands already: met at its address, and neither started, sampled nor stopped here."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.core.errors import ServerFailed
from assay.servers import probe
from assay.servers.contract import Contract, Route


class Unsampled:
    """What can be seen of a process that may run anywhere: nothing."""

    def sample(self) -> None:
        """Look at nothing."""

    def cpu_ns(self) -> int:
        """No CPU time is known."""
        return 0


@dataclass(frozen=True)
class ExternalServer:
    """A server at an address that has given a right answer, `named` so in requests."""

    host: str
    port: int
    named: str
    scheme: str = "http"
    sampler: Unsampled = field(default_factory=Unsampled)

    @property
    def url(self) -> str:
        """Where it is said to be, without a path."""
        named = f"[{self.named}]" if ":" in self.named else self.named
        return f"{self.scheme}://{named}:{self.port}/"

    def died(self) -> ServerFailed | None:
        """Nothing is known of its process: that it no longer answers shows in the answers."""
        return None

    def log_tail(self) -> str:
        """Its log is not ours to read."""
        return ""

    def stop(self) -> None:
        """It stands before us and after us."""


@dataclass(frozen=True)
class ExternalAddress:
    """Where a server stands: at a numeric address, `named` so in requests."""

    host: str
    port: int
    named: str

    def meet(self, contract: Contract, route: Route) -> ExternalServer:
        """The server, once it has answered `route` rightly.

        ServerFailed with stage "start" (nobody listens) or "contract" (a wrong answer).
        """
        where = f"{self.host}:{self.port}"
        try:
            problem = probe.wrong(contract, route, probe.ask(contract, route, self.host, self.port))
        except probe.NoAnswer as error:
            if not error.listening:
                raise ServerFailed("start", f"nobody listens on {where}") from error
            problem = str(error)
        if problem:
            raise ServerFailed("contract", f"no right answer to {route.method} {route.target}: {problem}")
        return ExternalServer(self.host, self.port, self.named, contract.spoken.scheme)
