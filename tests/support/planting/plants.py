"""One injected flaw for each rule that can be injected in a run of ours, and why the others cannot."""

from __future__ import annotations

import functools
from dataclasses import replace

from assay.servers.cores import CoreSplit
from planting import Injected, first_before_again, flipped, hog, relabelled, stopped
from planting.far import EMULATED
from planting.of_streams import OF_STREAMS
from planting.shapes import INTERLEAVED, SHORT, STREAMS, TWO


def _one_core() -> CoreSplit:
    return CoreSplit(client=(0,), server=(0,), cores=1)


def _allow(code: str, name: str, value: float) -> str:
    reason = "a injected flaw, made visible in a second on any machine"
    return f'[rules.{code}]\nthresholds = {{ {name} = {value} }}\nreason = "{reason}"'


ALL: tuple[Injected, ...] = (
    Injected(
        code="G1",
        flaw="a generator that is to idle for 99 % of its time",
        more=_allow("G1", "idle", 0.99),
        least="error",
    ),
    Injected(
        code="G3",
        flaw="2,000/s on two connections to a server that takes 20 ms",
        servers={"one": "waits"},
        load="connections = 2\nrate_per_s = 2000.0\nmeasure_s = 1.0",
        least="error",
    ),
    Injected(
        code="G4",
        flaw="90/s on two connections to a server that takes 20 ms",
        servers={"one": "waits"},
        load="connections = 2\nrate_per_s = 90.0\nmeasure_s = 1.5",
    ),
    Injected(
        code="G6",
        flaw="answers of 16 MB",
        servers={"one": "sends 16 MB"},
        workloads='[[workloads]]\nname = "w"\nroutes = ["other"]',
        load="connections = 1\nmeasure_s = 2.0",
        more=_allow("G6", "link", 0.05),
        least="error",
    ),
    Injected(
        code="G7",
        flaw="three servers that wait alike, and a client without time",
        servers={"one": "waits", "two": "waits", "three": "waits"},
        disturb=hog,
        load="connections = 4\nmeasure_s = 1.5",
        more=_allow("G7", "within", 0.5),
        least="error",
    ),
    Injected(
        code="G8",
        flaw="a server that turns clients away",
        servers={"one": "serves four clients"},
        load="connections = 32\nmeasure_s = 1.0",
        least="error",
    ),
    Injected(
        code="G13",
        flaw="a server that allows two streams at once, asked for ten",
        servers={"one": "over HTTP/2: allows two streams"},
        load='connections = 2\nhttp = "2"\nstreams = 10\nmeasure_s = 1.0',
    ),
    Injected(
        code="M1",
        flaw="every tenth request hangs until its time-out",
        servers={"one": "some requests hang"},
        load="connections = 8\nmeasure_s = 3.0\ntimeout_s = 0.4",
        least="error",
    ),
    Injected(
        code="M2",
        flaw="one request in 300 takes a second",
        servers={"one": "one in 300 takes a second"},
        load="connections = 1\nmeasure_s = 6.0",
    ),
    Injected(
        code="M4",
        flaw="arrivals wait for eight connections",
        servers={"one": "waits"},
        load="connections = 8\nrate_per_s = 800.0\nmeasure_s = 4.0",
    ),
    Injected(
        code="M5",
        flaw="a claim about a tail of a closed loop",
        servers=TWO,
        more=(
            '[[claims]]\nid = "a"\nstatement = "one has the shorter tail"\n'
            'comparisons = [{ metric = "service_time_p99", a = "injected/one", b = "injected/two", '
            'relation = "less" }]'
        ),
        load=SHORT,
    ),
    Injected(
        code="M6",
        flaw="the generator is stopped for a quarter of a second now and then",
        apart=True,
        disturb=functools.partial(stopped, stop_s=0.25, go_s=0.25),
        load="connections = 800\nrate_per_s = 400.0\nmeasure_s = 6.0",
        unless=("G4",),
    ),
    Injected(
        code="M7",
        flaw="a server that waits for 20 ms",
        servers={"one": "waits"},
        load="connections = 4\nmeasure_s = 1.0",
        unless=("H2",),
    ),
    Injected(
        code="W1",
        flaw="answers that claim success and are wrong",
        servers={"one": "lies under load"},
        least="error",
    ),  # fmt: skip
    Injected(code="W2", flaw="one answer in 30 is 503", servers={"one": "one in 30 fails"}, least="error"),
    Injected(
        code="W3",
        flaw="300 bytes of headers more",
        servers={"one": "right", "two": "large headers"},
        load=SHORT,
    ),  # fmt: skip
    Injected(
        code="W4",
        flaw="a server that remembers its last answer",
        servers={"one": "remembers its last answer"},
        workloads=(
            '[[workloads]]\nname = "same"\nroutes = ["hello"]\nsame_input_of = "random"\n'
            '[[workloads]]\nname = "random"\nroutes = ["hello", "other"]\norder = "random"'
        ),
        blocks=3,
        load="connections = 1\nmeasure_s = 0.6",
    ),
    Injected(
        code="W5",
        flaw="connections closed after five answers",
        servers={"one": "closes after five"},
        least="error",
    ),  # fmt: skip
    Injected(
        code="W6",
        flaw="a pool of 3 against one of 50",
        servers=TWO,
        facts={"one": "pool = 3", "two": "pool = 50"},
        load=SHORT,
    ),  # fmt: skip
    Injected(code="W7", flaw="debugging switched on", facts={"one": "debug = true"}, load=SHORT),
    Injected(
        code="W8",
        flaw="a server that stops answering in the middle of a load",
        least="error",
        servers={"one": "stops answering in mid-load"},
        load="connections = 4\nmeasure_s = 2.5\nwarm_up_min_s = 0.3\nwarm_up_max_s = 0.3",
    ),  # fmt: skip
    Injected(
        code="W9",
        flaw="connections ended (GOAWAY) with others under way",
        servers={"one": "over HTTP/2: ends connections after five"},
        load=STREAMS,
        least="note",
    ),
    Injected(
        code="S1",
        flaw="fifty requests",
        servers={"one": "waits"},
        load="connections = 1\nmeasure_s = 1.0",
        least="note",
    ),  # fmt: skip
    Injected(
        code="S2",
        flaw="a server that tires from turn to turn, beside two that do not",
        servers={"one": "works", "two": "tires", "three": "works"},
        blocks=8,  # of five a restless machine hides it, or the trend is not told from their scatter
        interleaved=True,
        load="connections = 4\nmeasure_s = 0.8\nwarm_up_min_s = 0.3\nwarm_up_max_s = 0.3",
        unless=("G1", "H2"),
    ),  # fmt: skip
    Injected(
        code="S3",
        flaw="every other start is slow",
        servers={"one": "every other start is slow"},
        blocks=3,
        load=SHORT,
    ),  # fmt: skip
    Injected(
        code="S4",
        flaw="the first start is fast",
        servers={"one": "the first start is fast"},
        blocks=6,
        load=SHORT,
        least="note",
    ),  # fmt: skip
    Injected(code="S5", flaw="two trials", blocks=2, load=SHORT),
    Injected(
        code="S6",
        flaw="trials that scatter",
        servers={"one": "every other start is slow"},
        blocks=3,
        load=SHORT,
        least="note",
    ),  # fmt: skip
    Injected(code="S7", flaw="half a second", load=SHORT),
    Injected(
        code="D1",
        flaw="every second start is slow, and those are the control's",
        servers={"one": "every other start is slow", "two": "waits"},
        blocks=3,
        control=True,
        seed=first_before_again,
        load="connections = 2\nmeasure_s = 0.6",
    ),
    Injected(
        code="D2",
        flaw="real trials, put down as if one server had run after the other",
        servers=TWO,
        blocks=2,
        after=relabelled,
        load=SHORT,
    ),  # fmt: skip
    Injected(
        code="D4",
        flaw="a reference that waits for 20 ms",
        servers={"one": "right", "two": "waits"},
        roles={"two": "reference"},
        blocks=3,
        load=SHORT,
        least="note",
    ),  # fmt: skip
    Injected(code="D5", flaw="a bit of the record turned over", blocks=2, after=flipped, load=SHORT),
    Injected(
        code="T1",
        flaw="a server that computes while it rests",
        servers={"one": "works", "two": "computes while it rests"},
        **INTERLEAVED,
    ),
    Injected(
        code="T2",
        flaw="a server that is slow for 30 ms after a pause",
        servers={"one": "works", "two": "slow after a pause"},
        **INTERLEAVED,
    ),
    Injected(
        code="T3",
        flaw="a server that closes connections which rest",
        servers={"one": "works", "two": "closes resting connections"},
        **INTERLEAVED,
    ),
    Injected(
        code="T4",
        flaw="a server that dies in its second block",
        servers={"one": "works", "two": "dies in its second block"},
        blocks=2,
        **INTERLEAVED,
    ),
    Injected(
        code="T5",
        flaw="a server that may take 900 GB",
        servers={"one": "right", "two": "right -Xmx900g"},
        interleaved=True,
        load=SHORT,
        least="note",
    ),
    Injected(
        code="T6",
        flaw="a server that works on for 90 ms after its slice",
        servers={"one": "works", "two": "works on after its slice"},
        blocks=5,
        **INTERLEAVED
        | {"load": "connections = 4\nmeasure_s = 1.6\nwarm_up_min_s = 0.3\nwarm_up_max_s = 0.3"},
        unless=("G1", "H2"),
    ),
    Injected(code="H1", flaw="client and server on one core", split=_one_core),
    Injected(code="H2", flaw="another program keeps a core busy", disturb=hog),
    Injected(
        code="H3",
        flaw="590 descriptors for 500 connections",
        apart=True,
        descriptors=590,
        load="connections = 500\nmeasure_s = 1.0",
        least="note",
    ),
)

STOPPED = Injected(
    code="H2",
    again="by a stop",
    flaw="the generator is stopped for 0.4 s",
    apart=True,
    disturb=functools.partial(stopped, stop_s=0.4, go_s=0.3),
    load="connections = 4\nmeasure_s = 3.0",
)

EVERY = (*ALL, STOPPED, *OF_STREAMS, *EMULATED)

BESIDE = frozenset(
    [
        *("G8", "G8 over HTTP/2", "G13", "G13 over HTTP/3", "M5"),
        *("W1", "W2", "W3", "W3 over HTTP/2", "W5", "W5 over HTTP/2", "W6", "W7", "W8", "W9"),
        *("S1", "S5", "S7", "D2", "D5", "T4", "T5", "H1", "H3"),
    ]
)
"""Flaws that are counted, not timed: found however busy the machine is."""

ON_A_CLUSTER = {
    "G9": "the server's agent is killed under load",
    "G10": "one of two generators behind a link of 1 Mbit/s",
    "G11": "15 ms of delay before one of two generators, from the midst of the load on",
    "G12": "a node with another version of Assay",
}
"""Flaws of several machines: tests/e2e/test_cluster*.py plant them."""

CAUGHT_ON_A_CLUSTER = {"G9": "warning", "G10": "warning", "G11": "error", "G12": "refused"}

IMPOSSIBLE = {
    "B1": "each load has it: tests/unit/test_bottleneck.py names each in turn",
    "M3": "our own engine counts each request once; other tools' reports contradict themselves",
}
"""Rules that no run on this machine can be given a flaw for, and why."""

NOISE = frozenset({"M1", "M2", "M4", "M6", "M7", "S2", "S3", "S4", "S6", "D1", "H2"})
"""Rules that a busy machine makes speak in a run without a injected flaw; their silence needs a quiet one."""

CLEAN = Injected(
    code="clean",
    flaw="none",
    servers={"one": "works", "two": "works"},
    blocks=4,
    control=True,
    load="connections = 8\nmeasure_s = 1.0\nwarm_up_min_s = 0.5\nwarm_up_max_s = 1.5",
    more=(
        '[rules.S5]\nthresholds = { trials = 3 }\nreason = "twenty runs, each in half a minute"\n'
        '[rules.S7]\nthresholds = { window = 5e8 }\nreason = "twenty runs, each in half a minute"'
    ),
)
"""Two equal servers, at a load that each of them saturates a core with. Only its shortness is forgiven."""

CLEAN_INTERLEAVED = replace(CLEAN, interleaved=True)
"""The same two, interleaved."""
