"""`wrk …`, from its words to its exit code."""

from __future__ import annotations

from collections.abc import Sequence

from assay import console
from assay.dropin import front
from assay.dropin.wrk import flags as command_line
from assay.dropin.wrk.flags import VERSION, Flags, Refused
from assay.dropin.wrk.plan import Unreachable, plan, reachable
from assay.dropin.wrk.report import banner
from assay.errors import EXIT_OK, AssayError

EXIT_FAILED = 1
"""wrk's only other exit code: whatever kept it from starting."""


def main(words: Sequence[str]) -> int:
    """Do what wrk does with these words."""
    manners = front.Manners.of_environment()
    try:
        flags = command_line.read(words, _say_version)
    except Refused as refused:
        if refused.complaint:
            console.note(refused.complaint)
        console.write(command_line.USAGE)
        return EXIT_FAILED
    try:
        return _test(flags, manners)
    except Unreachable as problem:
        console.note(str(problem))
    except AssayError as problem:
        console.note(f"wrk: {problem}")
    return EXIT_FAILED


def _say_version() -> None:
    import assay

    console.write(f"wrk {VERSION} [assay {assay.version()}] as spoken by Assay")


def _test(flags: Flags, manners: front.Manners) -> int:
    load = plan(flags, reachable(flags.url), manners.strict)
    console.write(banner(flags))
    offered = front.offer(load, manners)
    # Imported after the load: the figures need more than the load does.
    from assay.dropin.wrk.figures import figures
    from assay.dropin.wrk.report import distribution, report

    found = figures(
        offered.measurement,
        threads=flags.threads,
        connections=flags.connections,
        timeout_us=flags.timeout_s * 1_000_000,
        strict=manners.strict,
    )
    percentiles = distribution(found.latency_us, manners.strict) if flags.percentiles else ""
    console.write(report(found, percentiles, manners.strict))
    front.tell("wrk", offered.findings)
    return EXIT_OK
