"""Several generators' live views as one. Pure; of what is no sum, the slowest generator's."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from assay.cluster.merge_slices import slices_of_all
from assay.model.interleaving import ArmSnapshot
from assay.model.measurement import Snapshot, Window
from assay.stats.estimates import as_one

_LIVE_WINDOWS = 1_200


def together(looks: Sequence[Snapshot]) -> Snapshot:
    """The live view of a load: its totals; of its times the slowest's, since quantiles cannot be added."""
    lags = [look.send_lag_p99_ns for look in looks if look.send_lag_p99_ns is not None]
    measuring = all(look.phase == "measured" for look in looks)
    return Snapshot(
        phase="measured" if measuring else "warmup",
        elapsed_ns=min(look.elapsed_ns for look in looks),
        started=sum(look.started for look in looks),
        completed=sum(look.completed for look in looks),
        failed=sum(look.failed for look in looks),
        bytes_read=sum(look.bytes_read for look in looks),
        open_connections=sum(look.open_connections for look in looks),
        service_time_p50_ns=max(look.service_time_p50_ns for look in looks),
        service_time_p99_ns=max(look.service_time_p99_ns for look in looks),
        service_time_max_ns=max(look.service_time_max_ns for look in looks),
        send_lag_p99_ns=max(lags) if lags else None,
        client_cpu=statistics.fmean(look.client_cpu for look in looks),
        windows=_common_windows(looks),
    )


def arm_together(looks: Sequence[ArmSnapshot]) -> ArmSnapshot:
    """The live view of an arm: of its slices those that all have ended."""
    phases = {look.snapshot.phase for look in looks}
    return ArmSnapshot(
        snapshot=together([look.snapshot for look in looks]),
        ended=next((look.ended for look in looks if look.ended), None),
        slices=slices_of_all([look.slices for look in looks])[-_LIVE_WINDOWS:] if len(phases) == 1 else (),
    )


def _common_windows(looks: Sequence[Snapshot]) -> tuple[Window, ...]:
    """The windows that all of them have ended, added up. They begin at the same instants."""
    by_start: dict[int, list[Window]] = {}
    for window in (window for look in looks for window in look.windows):
        by_start.setdefault(window.start_ns, []).append(window)
    there = (windows for _, windows in sorted(by_start.items()) if len(windows) == len(looks))
    return tuple(as_one(windows, windows[0].length_ns) for windows in there)[-_LIVE_WINDOWS:]
