"""What a template of `-o path:` is given: the flags, the figures, and bombardier's own functions."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence

from assay.dropin.bombardier import units
from assay.dropin.bombardier.figures import BombardierFigures, Stats
from assay.dropin.bombardier.flags import BombardierFlags
from assay.dropin.bombardier.printing import Duration, equal, printf, sprint
from assay.dropin.bombardier.template import Node, parse, render
from assay.dropin.tally import Tally


def understood(text: str, flags: BombardierFlags) -> tuple[Node, ...]:
    """Read a template; `TemplateError` where it is wrong or beyond us.

    It is filled in once before the load, so that what cannot be printed is told then.
    """
    nodes = parse(text, frozenset({*_FUNCTIONS, "WithLatencies"}))
    report(nodes, flags, _TRIED)
    return nodes


_TRIED = BombardierFigures(
    time_ns=1_000_000_000,
    bytes_read=1,
    bytes_written=1,
    by_class=(0, 1, 0, 0, 0),
    other=1,
    errors=(("timeout", 1),),
    latencies_us=Tally.of([1]),
    exact_latency_us=(1.0, 0.0),
    rates_per_s=(1.0,),
    ended=2,
    strict=False,
)
"""Figures with something of everything."""


def report(nodes: Sequence[Node], flags: BombardierFlags, figures: BombardierFigures) -> str:
    """Fill it in; `TemplateError` where it asks for what is not there."""
    functions = {**_FUNCTIONS, "WithLatencies": lambda: flags.latencies}
    return render(nodes, {"Spec": _spec(flags), "Result": _result(figures)}, functions)


def _spec(flags: BombardierFlags) -> dict[str, object]:
    counted = flags.requests is not None
    client = flags.client
    return {
        "NumberOfConnections": flags.connections,
        "TestType": "number-of-requests" if counted else "timed",
        "NumberOfRequests": flags.requests or 0,
        "TestDuration": Duration(flags.duration_ns),
        "Method": flags.method,
        "URL": flags.text,
        "Headers": [{"Key": key, "Value": value} for key, value in flags.headers],
        "Body": flags.body,
        "BodyFilePath": flags.body_file,
        "CertPath": flags.certificate,
        "KeyPath": flags.key,
        "Stream": flags.stream,
        "Timeout": Duration(flags.timeout_ns),
        "ClientType": client,
        "Rate": flags.rate_per_s,
        "RequestURL": lambda: flags.text,
        "IsTimedTest": lambda: not counted,
        "IsTestWithNumberOfReqs": lambda: counted,
        "IsFastHTTP": lambda: client == "fasthttp",
        "IsNetHTTPV1": lambda: client == "net/http.v1",
        "IsNetHTTPV2": lambda: client == "net/http.v2",
    }


def _result(figures: BombardierFigures) -> dict[str, object]:
    classes = {f"Req{digit}XX": count for digit, count in enumerate(figures.by_class, start=1)}
    return {
        "BytesRead": figures.bytes_read,
        "BytesWritten": figures.bytes_written,
        "TimeTaken": Duration(figures.time_ns),
        **classes,
        "Others": figures.other,
        "Errors": [{"Error": text, "Count": count} for text, count in figures.errors],
        "Throughput": lambda: figures.throughput,
        "LatenciesStats": lambda shares=(): _stats(figures.latency_stats(_shares(shares)), int),
        "RequestsStats": lambda shares=(): _stats(figures.rate_stats(_shares(shares)), float),
    }


def _shares(value: object) -> tuple[float, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise ValueError("percentiles are a list, such as (FloatsToArray 0.5 0.99)")
    return tuple(float(share) for share in value)


def _stats(stats: Stats | None, kind: type[int] | type[float]) -> Mapping[str, object] | None:
    if stats is None:
        return None
    percentiles = {share: kind(value) for share, value in stats.percentiles.items()}
    return {
        "Mean": float(stats.mean),
        "Stddev": float(stats.stddev),
        "Max": float(stats.max),
        "Percentiles": percentiles,
    }


_FUNCTIONS: dict[str, Callable[..., object]] = {
    "printf": printf,
    "print": sprint,
    "eq": equal,
    "ne": lambda first, second: not equal(first, second),
    "FormatBinary": lambda value: units.binary(float(value)),
    "FormatTimeUs": lambda value: units.time_us(float(value)),
    "FormatTimeUsUint64": lambda value: units.time_us(float(value)),
    "FloatsToArray": lambda *values: [float(value) for value in values],
    "Multiply": lambda value, factor: float(value) * float(factor),
    "StringToBytes": lambda text: text.encode(),
    "UUIDV1": lambda: str(uuid.uuid1()),
    "UUIDV3": lambda space, name: str(uuid.uuid3(uuid.UUID(space), name)),
    "UUIDV4": lambda: str(uuid.uuid4()),
    "UUIDV5": lambda space, name: str(uuid.uuid5(uuid.UUID(space), name)),
}
