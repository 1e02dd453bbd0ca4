"""`wrk …`, from its words to its exit code."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.core import console
from assay.core.errors import EXIT_OK, AssayError
from assay.dropin import front
from assay.dropin.wrk import flags as command_line
from assay.dropin.wrk.flags import (
    FLAGS,
    VERSION,
    Refused,
    Unreachable,
    WrkFlags,
    addresses,
    given_headers,
    plan,
    reachable,
)
from assay.dropin.wrk.report import banner, distribution, figures, report
from assay.engine import driver

if TYPE_CHECKING:
    from assay.dropin.wrk.script import Script

EXIT_FAILED = 1
"""wrk's only other exit code: whatever kept it from starting."""


def main(words: Sequence[str]) -> int:
    """Do what wrk does with these words."""
    manners = front.Manners.of_environment()
    try:
        flags = command_line.read(words, _say_version)
    except Refused as refused:
        if refused.message:
            console.note(refused.message)
        console.write(command_line.USAGE)
        return EXIT_FAILED
    try:
        return _test(flags, manners)
    except (Unreachable, driver.ScriptFailed) as problem:
        console.note(str(problem))
    except AssayError as problem:
        front.tell_problem("wrk", problem, FLAGS)
    return EXIT_FAILED


def _say_version() -> None:
    from assay.core.settings import version

    console.write(f"wrk {VERSION} [assay {version()}] as spoken by Assay")


def _test(flags: WrkFlags, manners: front.Manners) -> int:
    script = None if flags.script is None else _script(flags.script, flags, manners)
    if script is None:
        load, start = plan(flags, reachable(flags.url, flags.text), strict=manners.strict), driver.start
    else:
        address, batch = _prepared(script)
        load = plan(flags, address, strict=manners.strict, batch=batch)
        start = functools.partial(driver.start, script=script.engine_script)
    driver.check(load)
    console.write(banner(flags))
    offered = front.offer(load, manners, start=start)
    if script is not None:
        script.flush()
    _report(flags, manners, offered, script)
    front.tell("wrk", offered.findings)
    if script is not None and script.messages() and not manners.quiet:
        console.note(f"assay wrk: invalid: these are not the requests of {flags.script}: it was not loaded")
    return EXIT_OK


def _script(file: str, flags: WrkFlags, manners: front.Manners) -> Script:
    """The script, loaded. One that cannot be loaded ends the test, which would be another one without it.

    In strict mode the test goes on, as wrk's does.
    """
    # Imported where a script is given: most command lines have none.
    from assay.dropin.wrk.script import Script

    script = Script(file, flags, given_headers(flags), addresses(flags.url, flags.text))
    for message in script.messages():
        if not manners.strict:
            instead = f"ASSAY_STRICT=1 goes on without it, as wrk does, with GET {flags.url.path}"
            raise driver.ScriptFailed(f"{message}\nwrk: no script, so nothing was sent; {instead}")
    return script


def _prepared(script: Script) -> tuple[str, int]:
    """Where the first requests go, and how many are sent at once."""
    from assay.dropin.wrk.script import Malformed, count

    try:
        first, places = script.prepare()
        return places[0], count(first)
    except Malformed as problem:
        raise driver.ScriptFailed(str(problem)) from None
    finally:
        for message in script.messages():
            console.note(message)


def _report(flags: WrkFlags, manners: front.Manners, offered: front.Offered, script: Script | None) -> None:
    found = figures(
        offered.measurement,
        connections=flags.connections,
        timeout_us=flags.timeout_s * 1_000_000,
        strict=manners.strict,
    )
    percentiles = ""
    if flags.percentiles and flags.rate_per_s is not None:
        from assay.dropin.wrk.report import spectra

        percentiles = spectra(offered.measurement, flags.uncorrected)
    elif flags.percentiles:
        percentiles = distribution(found.latency_us, manners.strict)
    console.write(report(found, percentiles, manners.strict))
    if script is not None:
        script.done(found, manners.strict)
