"""`bombardier …`, from its words to its exit code."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay import console, engine
from assay.dropin import front
from assay.dropin.bombardier import flags as command_line
from assay.dropin.bombardier import plain
from assay.dropin.bombardier.flags import VERSION, Asked, Flags, Wrong
from assay.dropin.bombardier.kingpin import Misuse
from assay.dropin.bombardier.plan import plan
from assay.dropin.bombardier.progress import Bar
from assay.errors import EXIT_OK, AssayError

if TYPE_CHECKING:
    from assay.dropin.bombardier.figures import Figures
    from assay.dropin.bombardier.template.parser import Node
    from assay.engine import EngineRun
    from assay.values.measurement import Snapshot
    from assay.values.plan import LoadPlan

    Nodes = tuple[Node, ...]

EXIT_FAILED = 1
"""bombardier's only other exit code: whatever kept it from starting."""


def main(words: Sequence[str]) -> int:
    """Do what bombardier does with these words. It tells its errors on standard output."""
    manners = front.Manners.of_environment()
    try:
        flags = command_line.read(words)
        nodes = _template(flags)
    except Asked as asked:
        _tell(asked)
        return EXIT_OK
    except Misuse as problem:
        console.write(f"Error parsing the arguments: {problem}")
        return EXIT_FAILED
    try:
        command_line.check(flags)
        if flags.client == "net/http.v2":
            raise Wrong("HTTP/2 is not spoken yet; use --http1 or --fasthttp")
        return _test(flags, nodes, manners)
    except (Wrong, AssayError) as problem:
        console.write(f"Error initializing bombardier: {problem}")
    except OSError as problem:
        reason = (problem.strerror or "").lower()
        console.write(f"Error initializing bombardier: open {problem.filename}: {reason}")
    return EXIT_FAILED


def _tell(asked: Asked) -> None:
    if asked.what == "help":
        from assay.dropin.bombardier.usage import USAGE

        console.write(USAGE)
        return
    import assay

    machine = f"{platform.system()}/{platform.machine()}".lower()
    console.note(f"bombardier version {VERSION} {machine} [assay {assay.version()}] as spoken by Assay")


def _template(flags: Flags) -> Nodes | None:
    """The template that is asked for, understood before anything is sent."""
    if flags.format != "template":
        return None
    from assay.dropin.bombardier import custom
    from assay.dropin.bombardier.template import TemplateError

    try:
        return custom.understood(Path(flags.template).read_text("utf-8"))
    except OSError as problem:
        raise Misuse(f"open {flags.template}: {(problem.strerror or '').lower()}") from None
    except UnicodeDecodeError:
        raise Misuse(f"{flags.template}: is not UTF-8") from None
    except TemplateError as problem:
        raise Misuse(f"{flags.template}: {problem}") from None


def _test(flags: Flags, nodes: Nodes | None, manners: front.Manners) -> int:
    load = plan(flags)
    bars: list[Bar] = []

    def start(load: LoadPlan) -> EngineRun:
        running = engine.start(load)
        # Only now: a load that cannot start is told of alone.
        if "intro" in flags.parts:
            console.write(plain.intro(flags))
        if "progress" in flags.parts:
            bars.append(Bar(flags))
        return running

    def watch(snapshot: Snapshot) -> None:
        for bar in bars:
            bar.watch(snapshot)

    offered = front.offer(load, manners, watch=watch, start=start)
    for bar in bars:
        bar.end(offered.measurement)
    if "result" in flags.parts:
        _report(flags, nodes, manners, offered)
    front.tell("bombardier", offered.findings)
    return EXIT_OK


def _report(flags: Flags, nodes: Nodes | None, manners: front.Manners, offered: front.Offered) -> None:
    # Imported after the load: the figures need more than the load does.
    from assay.dropin.bombardier import machine
    from assay.dropin.bombardier.figures import figures

    found = figures(flags, offered.measurement, manners.strict)
    if flags.format == "text":
        console.write(plain.report(flags, found))
    elif flags.format == "json":
        console.write_part(machine.report(flags, found))
    elif nodes is not None:
        _fill_in(nodes, flags, found)


def _fill_in(nodes: Nodes, flags: Flags, found: Figures) -> None:
    from assay.dropin.bombardier import custom
    from assay.dropin.bombardier.template import TemplateError

    try:
        console.write_part(custom.report(nodes, flags, found))
    except TemplateError as problem:
        console.note(f"{flags.template}: {problem}")
