"""The load engine as it comes from Rust. Use `assay.engine.driver`, its typed interface."""

from collections.abc import Sequence

class PlanError(Exception):
    """The plan asks for something that cannot be done; one line naming the field."""

class RunError(Exception):
    """The run could not start, or its result cannot be trusted; one line."""

class ScriptError(Exception):
    """A script cannot go on; the whole line that wrk writes."""

class NotAnswered(Exception):
    """A request that was asked by itself has no answer; in what way, and what was seen."""

class Script:
    """One of wrk's Lua scripts, in a state for the program and one for each thread."""

    def __new__(cls, settings_json: bytes) -> Script:
        """Load the script into the program's state."""

    def messages(self) -> list[str]:
        """Give why it could not be loaded, once for each state it was tried in."""

    def prepare(self) -> tuple[bytes, list[str]]:
        """Make the threads' states; give the requests that are sent first, and where each thread's go."""

    def done(self, end_json: bytes) -> None:
        """Call the script's `done`."""

    def flush(self) -> None:
        """Write out what the script has printed so far."""

class Run:
    """A load that is going on, or has ended. Plans and results are JSON."""

    def __new__(cls, plan_json: bytes, script: Script | None = None) -> Run:
        """Start the worker threads at once. A script's requests take the place of the plan's."""

    def snapshot(self) -> bytes:
        """Give the live view: a `Snapshot`."""

    def begin_measuring(self, at_ns: int = 0) -> None:
        """End the warm-up, so long after the start or, where that is over, soon; the load goes on."""

    def stop(self, at_ns: int = 0) -> None:
        """End the run early, so long after the start or, where that is over, now."""

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end, for at most `timeout_s` seconds; whether it has come."""

    def request_log(self) -> bytes:
        """Give the logged requests of an ended run, 48 bytes each."""

    def logged_answers(self) -> list[bytes]:
        """Give the heads of logged answers, each with what of the body was read together with it."""

    def tls_bytes(self) -> tuple[int, int] | None:
        """What a run that has ended read and wrote below TLS."""

    def session(self) -> tuple[str, str, str, bytes] | None:
        """Give version, cipher suite, group and certificate of the first logged TLS session."""

    def result(self) -> bytes:
        """Wait for the end and give the `Measurement`."""

class InterleavedRun:
    """A load of arms that are interleaved."""

    def __new__(cls, plan_json: bytes) -> InterleavedRun:
        """Start the worker threads at once."""

    def change(self, change_json: bytes, from_round: int) -> int:
        """Change the slices from a round on; the round from which that holds."""

    def stop(self, at_ns: int = 0) -> None:
        """End the run, so long after the start or, where that is over, at once."""

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end, for at most `timeout_s` seconds; whether it has come."""

    def started_at_monotonic_ns(self) -> int:
        """Give the start of the run by the system's monotonic clock."""

    def slices(self, first: int) -> bytes:
        """Give the slices that are settled, from one on: a list of `SliceTimes`."""

    def wait_begin(self, number: int, timeout_s: float) -> bytes | None:
        """Wait until a slice begins; the `SliceTimes`."""

    def wait_end(self, number: int, timeout_s: float) -> bytes | None:
        """Wait until a slice is over; the `SliceTimes`."""

    def snapshot(self) -> bytes:
        """Give the live view: a `InterleavedSnapshot`."""

    def result(self) -> bytes:
        """Wait for the end and give the `InterleavedMeasurement`."""

class AgreedSlices:
    """The slices of a run that others carry out in parts."""

    def __new__(cls, plan_json: bytes) -> AgreedSlices:
        """Begin with the plan's."""

    def slice(self, number: int, now_ns: int) -> bytes | None:
        """Give a `SliceTimes`, where it is settled so long after the start."""

    def next_round(self, now_ns: int) -> int:
        """Give the first round that is not settled once all are that begin by then."""

    def is_over(self) -> bool:
        """Whether there are no more slices than the settled ones."""

    def change(self, change_json: bytes, from_round: int) -> int:
        """Change the slices from a round on; the round from which that holds."""

def version() -> str:
    """Give the engine's version."""

def validate(plan_json: bytes) -> None:
    """Check a plan without touching the network."""

def normalise(plan_json: bytes) -> bytes:
    """Give the plan as the engine understands it, every default filled in."""

def validate_interleaved(plan_json: bytes) -> None:
    """Check an interleaved plan without touching the network."""

def normalise_interleaved(plan_json: bytes) -> bytes:
    """Give the interleaved plan as the engine understands it, every default filled in."""

def ask(plan_json: bytes) -> tuple[int, bytes, bytes, int]:
    """Ask the first request of a plan, once; status, head and body of the answer, and its time in ns."""

def null_server(words: list[str]) -> int:
    """Serve as the null server until SIGTERM; the words of its command line, and its exit code."""

def link(words: list[str]) -> int:
    """Carry packets of the device on standard input until it is left alone; words and exit code as above."""

def schema_digest() -> str:
    """Give what tells the schema of plans and measurements from others, in a few characters."""

def merge_measurements(parts_json: bytes) -> bytes:
    """Add up a list of `Measurement`; ValueError where they are not of one load."""

def merge_interleaved(parts_json: bytes) -> bytes:
    """Add up a list of `InterleavedMeasurement`; ValueError where they are not of one load."""

def merge_snapshots(parts_json: bytes) -> bytes:
    """Add up a list of `Snapshot`; ValueError where there is none."""

def merge_arm_snapshots(parts_json: bytes) -> bytes:
    """Add up a list of `ArmSnapshot`; ValueError where there is none."""

class StoredHistogram:
    """A stored histogram that has been read. Its values are in its units; a slot's are all its highest."""

    def __new__(cls, data: str) -> StoredHistogram:
        """Read it; ValueError where it is damaged."""

    def counts(self) -> list[tuple[int, int]]:
        """Give its values, ascending, each with its count."""

    def quantiles(self, qs: Sequence[float]) -> list[int]:
        """Give the values at these quantiles; 0 where it is empty."""

    def at_rank(self, rank: int) -> int:
        """Give the value at a rank from 1 on; beyond the largest this."""

def histogram_of(counts: list[tuple[int, int]]) -> str:
    """Store values of 1 or more, each with its count."""
