"""The load engine, typed: values in, values out, errors of ours.

`start(plan)` gives an `EngineRun`; while its `wait` says that it has not ended, `snapshot` is the
live view; `result` is the `Measurement`.
"""

from __future__ import annotations

import msgspec

from assay import _engine
from assay.errors import EnvironmentLacks, InputError
from assay.values.measurement import Measurement, Snapshot
from assay.values.plan import LoadPlan

_encode = msgspec.json.Encoder().encode
_decode_snapshot = msgspec.json.Decoder(Snapshot).decode
_decode_measurement = msgspec.json.Decoder(Measurement).decode


class PlanRefused(InputError):
    """The engine does not take the plan: `field` is wrong, `problem` says what would be right."""

    def __init__(self, line: str) -> None:
        """Take the engine's line apart."""
        super().__init__(f"load plan: {line}")
        self.field, _, self.problem = line.partition(": ")


class ScriptFailed(Exception):
    """A script that makes the requests cannot go on; the text is the whole line that wrk writes."""


def version() -> str:
    """Give the engine's version."""
    return _engine.version()


def _encoded(plan: LoadPlan) -> bytes:
    try:
        return _encode(plan)
    except UnicodeEncodeError:
        raise InputError("load plan: there is text in it that is not UTF-8") from None


def check(plan: LoadPlan) -> None:
    """Check what can be known of a plan before it runs; `PlanRefused` names the field."""
    try:
        _engine.validate(_encoded(plan))
    except _engine.PlanError as error:
        raise PlanRefused(str(error)) from None


def start(plan: LoadPlan, script: _engine.Script | None = None) -> EngineRun:
    """Start the load on threads of the engine. The requests of a `script` take the place of the plan's.

    `PlanRefused` where the plan is wrong, `EnvironmentLacks` where the machine cannot do it
    (a name without an address, too few descriptors); then nothing was sent.
    """
    try:
        return EngineRun(_engine.Run(_encoded(plan), script))
    except _engine.PlanError as error:
        raise PlanRefused(str(error)) from None
    except _engine.RunError as error:
        raise EnvironmentLacks(str(error)) from None


class EngineRun:
    """A load that is going on, or has ended. Its methods may be called from any thread."""

    def __init__(self, run: _engine.Run) -> None:
        """Take over a run that has started."""
        self._run = run

    def snapshot(self) -> Snapshot:
        """Give the totals of the current phase, for a live view."""
        return _decode_snapshot(self._run.snapshot())

    def begin_measuring(self) -> None:
        """End the warm-up; the load goes on without a gap."""
        self._run.begin_measuring()

    def stop(self) -> None:
        """End the run early. Its result is complete and says that it was interrupted."""
        self._run.stop()

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end, for at most `timeout_s` seconds; whether it has come."""
        return self._run.wait(timeout_s)

    def request_log(self) -> bytes:
        """Give the logged requests, once the run has ended; `assay.dropin.ab.requests` reads them."""
        return self._run.request_log()

    def logged_answers(self) -> tuple[bytes, ...]:
        """Give the heads of logged answers, each with what of the body was read together with it."""
        return tuple(self._run.logged_answers())

    def session(self) -> tuple[str, str, str, bytes] | None:
        """Give version, cipher suite, key exchange group and certificate of the first TLS session.

        None where requests are not logged, or no TLS is spoken.
        """
        return self._run.session()

    def result(self) -> Measurement:
        """Wait for the end and give the measurement.

        `ScriptFailed` where the script could not go on; `RuntimeError` reports a defect of the engine:
        its books do not balance.
        """
        try:
            return _decode_measurement(self._run.result())
        except _engine.ScriptError as error:
            raise ScriptFailed(str(error)) from None
        except _engine.RunError as error:
            raise RuntimeError(str(error)) from None
