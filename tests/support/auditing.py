"""Audits of short texts for tests: what is found, by code and line."""

from __future__ import annotations

from assay.audit import Audit, audit, read
from assay.audit.document import Reported
from assay.audit.evidence import see


def audited(text: str, name: str = "README.md") -> Audit:
    """The audit of a text."""
    return audit(read(name, text.encode()))


def codes(text: str, name: str = "README.md") -> set[str]:
    """The codes of all findings."""
    return {remark.code for remark in audited(text, name).remarks}


def results(text: str, name: str = "README.md") -> tuple[Reported, ...]:
    """The results that a text tells."""
    return see(read(name, text.encode())).results


WRK = """\
Running 30s test @ http://10.0.0.2:8080/{path}
  12 threads and 400 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    {mean}     1.10ms  92.92ms   93.69%
    Req/Sec     8.20k   150.07    12.00k    86.54%
  {requests} requests in 30.00s, {size} read
{errors}Requests/sec: {rate}
Transfer/sec:    15.33MB
"""
"""wrk's output, sound as it is filled in by default."""


def wrk(
    rate: float = 100000.0,
    *,
    mean: str = "3.90ms",
    requests: int = 0,
    size: str = "400.00MB",
    errors: str = "",
    path: str = "",
) -> str:
    """An output of wrk; what is not said fits the rate."""
    count = requests or round(rate * 30)
    return WRK.format(rate=rate, mean=mean, requests=count, size=size, errors=errors, path=path)


MACHINE = "Measured on an Intel Xeon E5-2680 with 16 cores; foo 1.2.3, bar 2.0.1. Mean of 8 runs.\n\n"
"""What a text should say, so that only what a test plants is found."""
