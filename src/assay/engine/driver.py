"""The load engine, typed: values in, values out, errors of ours.

`start(plan)` gives an `EngineRun`; while its `wait` says that it has not ended, `snapshot` is the
live view; `result` is the `Measurement`. `start_interleaved(plan)` gives an `InterleavedRun`, whose arms are
loaded in slices. EnvironmentLacks at its first use where the engine is of another version.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from assay.core import vault
from assay.core.credentials import without_secrets
from assay.core.errors import EnvironmentLacks, InputError
from assay.model.measurement import Measurement, Snapshot
from assay.model.plan import SCHEMA, LoadPlan

if TYPE_CHECKING:
    from assay import _engine
    from assay.model.interleaving import (
        Change,
        InterleavedMeasurement,
        InterleavedPlan,
        InterleavedSnapshot,
        SliceTimes,
    )

VERSION = "0.1.0"
"""Of the engine that belongs to this Python: plans and measurements have the same shape in both."""


class _WhenUsed:
    """The engine, loaded with the first thing that is used of it: servers are built beside it."""

    def __getattr__(self, name: str) -> object:
        """EnvironmentLacks where the engine is of another version."""
        from assay import _engine as engine

        if engine.version() != VERSION:
            raise EnvironmentLacks(
                f"the load engine is of version {engine.version()}, and this Assay needs {VERSION}",
                "install Assay anew; in a checkout: make setup",
            )
        if engine.schema_digest() != SCHEMA:
            raise EnvironmentLacks(
                "the load engine has another schema of plans and measurements than this Assay",
                "install Assay anew; in a checkout: make setup",
            )
        self.__dict__.update({one: getattr(engine, one) for one in dir(engine) if not one.startswith("__")})
        return getattr(engine, name)


if not TYPE_CHECKING:
    _engine = _WhenUsed()

_encode = msgspec.json.Encoder().encode
_decode_snapshot = msgspec.json.Decoder(Snapshot).decode
_decode_measurement = msgspec.json.Decoder(Measurement).decode


class PlanRefused(InputError):
    """The engine does not take the plan: `field` is wrong, `problem` says what would be right."""

    def __init__(self, line: str) -> None:
        """Take the engine's line apart."""
        super().__init__(f"load plan: {line}")
        self.field, _, self.problem = line.partition(": ")


class NotAnswered(Exception):
    """A request has no answer: `kind` is that of `Outcome`, `seen` what was seen, in a line."""

    def __init__(self, kind: str, seen: str) -> None:
        """Tell both apart."""
        super().__init__(seen or kind.replace("_", " "))
        self.kind = kind


class Reply(msgspec.Struct, frozen=True):
    """A whole answer: header names in lower case, the body in its content coding. `took_ns` counts from
    before the connection was opened."""

    status: int
    headers: dict[str, str]
    body: bytes
    took_ns: int


class ScriptFailed(Exception):
    """A script that makes the requests cannot go on; the text is the whole line that wrk writes."""


def version() -> str:
    """Give the engine's version."""
    return _engine.version()


def _encoded(plan: LoadPlan | InterleavedPlan) -> bytes:
    """The plan as it is carried out: with its secrets, which nothing else holds."""
    try:
        return vault.revealed_json(_encode(plan))
    except UnicodeEncodeError:
        raise InputError("load plan: there is text in it that is not UTF-8") from None


@contextmanager
def _errors_of_ours() -> Iterator[None]:
    try:
        yield
    except _engine.PlanError as error:
        raise PlanRefused(str(error)) from None
    except _engine.RunError as error:
        raise EnvironmentLacks(str(error)) from None


def check(plan: LoadPlan) -> None:
    """Check what can be known of a plan before it runs; `PlanRefused` names the field."""
    with _errors_of_ours():
        _engine.validate(_encoded(plan))


def ask(plan: LoadPlan) -> Reply:
    """Ask the plan's first request, once, the way that the plan's load goes; its answer is not checked.

    `NotAnswered` where none comes, `PlanRefused` and `EnvironmentLacks` as of `start`.
    """
    with _errors_of_ours():
        try:
            status, head, body, took_ns = _engine.ask(_encoded(plan))
        except _engine.NotAnswered as error:
            raise NotAnswered(*error.args) from None
    lines = head.decode("latin-1").split("\r\n")[1:]
    fields = [line.partition(":") for line in lines if line]
    return Reply(status, {name.lower(): value.strip() for name, _, value in fields}, body, took_ns)


def start(plan: LoadPlan, script: _engine.Script | None = None) -> EngineRun:
    """Start the load on threads of the engine. The requests of a `script` take the place of the plan's.

    `PlanRefused` where the plan is wrong, `EnvironmentLacks` where the machine cannot do it
    (a name without an address, too few descriptors); then nothing was sent.
    """
    with _errors_of_ours():
        return EngineRun(_engine.Run(_encoded(plan), script))


def start_interleaved(plan: InterleavedPlan) -> InterleavedRun:
    """Start arms that are interleaved, on threads of the engine.

    `PlanRefused` where the plan is wrong, `EnvironmentLacks` where the machine cannot do it; then nothing
    was sent.
    """
    with _errors_of_ours():
        return InterleavedRun(_engine.InterleavedRun(_encoded(plan)))


class EngineRun:
    """A load that is going on, or has ended. Its methods may be called from any thread."""

    def __init__(self, run: _engine.Run) -> None:
        """Take over a run that has started."""
        self._run = run

    def snapshot(self) -> Snapshot:
        """Give the totals of the current phase, for a live view."""
        return _decode_snapshot(self._run.snapshot())

    def begin_measuring(self, at_ns: int = 0) -> None:
        """End the warm-up; the load goes on without a gap.

        `at_ns` is counted from the start of the run; where that is over it ends soon.
        """
        self._run.begin_measuring(at_ns)

    def stop(self, at_ns: int = 0) -> None:
        """End the run early, at once or `at_ns` after its start.

        Its result is complete and says that it was interrupted.
        """
        self._run.stop(at_ns)

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end, for at most `timeout_s` seconds; whether it has come."""
        return self._run.wait(timeout_s)

    def request_log(self) -> bytes:
        """Give the logged requests, once the run has ended; `assay.dropin.reports` reads them."""
        return self._run.request_log()

    def logged_answers(self) -> tuple[bytes, ...]:
        """Give the heads of logged answers, each with what of the body was read together with it."""
        return tuple(self._run.logged_answers())

    def session(self) -> tuple[str, str, str, bytes] | None:
        """Give version, cipher suite, key exchange group and certificate of the first TLS session.

        None before there is one, and where no TLS is spoken.
        """
        return self._run.session()

    def tls_bytes(self) -> tuple[int, int] | None:
        """Give the bytes read and written below TLS since the start, once the run has ended.

        Handshakes and what records add are in them. None where no TLS over TCP is spoken.
        """
        return self._run.tls_bytes()

    def result(self) -> Measurement:
        """Wait for the end and give the measurement.

        `ScriptFailed` where the script could not go on; `RuntimeError` reports a defect of the engine:
        its accounting does not balance.
        """
        try:
            return without_secrets(_decode_measurement(self._run.result()))
        except _engine.ScriptError as error:
            raise ScriptFailed(str(error)) from None
        except _engine.RunError as error:
            raise RuntimeError(str(error)) from None


def slices_without_secrets(found: InterleavedMeasurement) -> InterleavedMeasurement:
    """The measurement of arms with tokens for secrets in what their servers said."""
    replace = msgspec.structs.replace
    arms = (replace(arm, measurement=without_secrets(arm.measurement)) for arm in found.arms)
    return replace(found, arms=tuple(arms))


class InterleavedRun:
    """Arms that are interleaved, or took them. Its methods may be called from any thread."""

    least_washout_ns = 0
    """All its workers have one clock, and switch together."""

    def __init__(self, run: _engine.InterleavedRun) -> None:
        """Take over a run that has started."""
        from assay.model import interleaving  # `assay load` starts without it

        self._run = run
        self._decode_slice = msgspec.json.Decoder(interleaving.SliceTimes).decode
        self._decode_slices = msgspec.json.Decoder(tuple[interleaving.SliceTimes, ...]).decode
        self._decode_snapshot = msgspec.json.Decoder(interleaving.InterleavedSnapshot).decode
        self._decode_measurement = msgspec.json.Decoder(interleaving.InterleavedMeasurement).decode

    def change(self, change: Change, from_round: int = 0) -> int:
        """Change the slices from a round on, or the first that is not settled; which one that is."""
        with _errors_of_ours():
            return self._run.change(_encode(change), from_round)

    def stop(self, at_ns: int = 0) -> None:
        """End the run, at once or `at_ns` after its start. Its result is complete and says that it was
        interrupted."""
        self._run.stop(at_ns)

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end, for at most `timeout_s` seconds; whether it has come."""
        return self._run.wait(timeout_s)

    def started_at_monotonic_ns(self) -> int:
        """Give what `time.monotonic_ns()` showed at the start of the run, from which all points count."""
        return self._run.started_at_monotonic_ns()

    def slices(self, first: int = 0) -> tuple[SliceTimes, ...]:
        """Give the slices that are settled from one on: all past ones and the rest of the round under way."""
        return self._decode_slices(self._run.slices(first))

    def wait_begin(self, number: int, timeout_s: float) -> SliceTimes | None:
        """Wait until a slice begins; None where the time passed or the run ended before."""
        found = self._run.wait_begin(number, timeout_s)
        return None if found is None else self._decode_slice(found)

    def wait_end(self, number: int, timeout_s: float) -> SliceTimes | None:
        """Wait until a slice is over; None where the time passed or the run ended before."""
        found = self._run.wait_end(number, timeout_s)
        return None if found is None else self._decode_slice(found)

    def snapshot(self) -> InterleavedSnapshot:
        """Give the live view of all arms."""
        return self._decode_snapshot(self._run.snapshot())

    def result(self) -> InterleavedMeasurement:
        """Wait for the end and give the measurement of each arm.

        `RuntimeError` reports a defect of the engine: the accounting of an arm do not balance.
        """
        try:
            found = self._decode_measurement(self._run.result())
        except _engine.RunError as error:
            raise RuntimeError(str(error)) from None
        return slices_without_secrets(found)


class AgreedSlices:
    """The slices of a run that others carry out in parts, for whoever has to know whose slice it is.

    They follow from the plan and the changes alone: who is told the same has the same.
    """

    def __init__(self, plan: InterleavedPlan) -> None:
        """Begin with the plan's."""
        from assay.model import interleaving  # `assay load` starts without it

        with _errors_of_ours():
            self._slices = _engine.AgreedSlices(_encoded(plan))
        self._decode_slice = msgspec.json.Decoder(interleaving.SliceTimes).decode

    def slice(self, number: int, now_ns: int) -> SliceTimes | None:
        """Give a slice, where it is settled so long after the start: rounds are once they begin."""
        found = self._slices.slice(number, max(0, now_ns))
        return None if found is None else self._decode_slice(found)

    def next_round(self, now_ns: int) -> int:
        """Give the first round that is not settled, once all are that begin by then."""
        return self._slices.next_round(max(0, now_ns))

    def is_over(self) -> bool:
        """Whether there are no more slices than the settled ones."""
        return self._slices.is_over()

    def change(self, change: Change, from_round: int = 0) -> int:
        """Change the slices from a round on, or the first that is not settled; which one that is."""
        with _errors_of_ours():
            return self._slices.change(_encode(change), from_round)
