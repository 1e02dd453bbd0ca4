"""One way from words to an answer: each verb settles, drives, judges and tells, each once, in this order."""

from __future__ import annotations

import inspect
import itertools
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType, FrameType

import made_studies
import pytest

import assay
from assay.cli.main import main

pytestmark = pytest.mark.beside

ROOT = Path(assay.__file__).parent
WAYS = {"cli", "dropin", "__init__.py"}
"""The rooms from which a verb enters the others."""
STAGES = {
    "plan": "settle",
    "runner": "drive",
    "engine": "drive",
    "servers": "drive",
    "verdict": "judge",
    "report": "tell",
    "store": "tell",
}
ELSEWHERE = {"engine/target_policy.py": "settle", "runner/consent.py": "settle", "report/run_live.py": ""}
"""Files that are of another stage than their room, or of none: progress is shown while it drives."""
BESIDE = {"LoadFlag.dest", "Rule.defaults", "RunView.__init__", "__getattr__", "check", "to_its_end"}
"""What is no step: names of flags, a rule's threshold, a wait. Nor is what reads a load that has ended."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A null server."""
    program = [sys.executable, "-m", "assay.servers.null_server", "--port", "0"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split()[-1]
        server.terminate()


class Followed:
    """What a call enters from the rooms of verbs, as (stage, function), until each is left."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, str]] = []
        self._within: FrameType | None = None
        self._thread = threading.current_thread()
        self._begun = False

    def of(self, call: Callable[[], object]) -> object:
        sys.setprofile(self._event)
        try:
            return call()
        finally:
            sys.setprofile(None)

    @property
    def stages(self) -> list[str]:
        return in_a_row(stage for stage, _ in self.steps)

    @property
    def functions(self) -> dict[str, list[str]]:
        return {
            stage: list(dict.fromkeys(name for of, name in self.steps if of == stage))
            for stage in dict.fromkeys(self.stages)
        }

    def _event(self, frame: FrameType, event: str, _: object) -> None:
        if threading.current_thread() is not self._thread:
            return
        if self._within is None and event == "call":
            self._enter(frame)
        elif self._within is frame and event == "return":
            self._within = None

    def _enter(self, frame: FrameType) -> None:
        """Once the verb is entered: its words are read before that."""
        code = frame.f_code
        begins = {"cli": {"run"}, "dropin": {"main"}, "__init__.py": set(assay.__all__)}
        self._begun |= code.co_name in begins.get(where(code).partition("/")[0], set())
        place, caller = where(code), nearest(frame)
        stage = ELSEWHERE.get(place, STAGES.get(place.partition("/")[0], ""))
        if place.startswith("dropin/") and Path(place).name in ("report.py", "texts.py"):
            stage = "tell"
        outside = where(caller).partition("/")[0] not in WAYS or caller.co_name == "<module>"
        no_step = code.co_flags & inspect.CO_GENERATOR or code.co_name.startswith("<")
        if not (self._begun and stage) or outside or no_step:
            return
        if code.co_qualname in BESIDE or code.co_qualname.startswith("EngineRun."):
            return
        self._within = frame
        self.steps.append((stage, code.co_name))


def in_a_row(stages: Iterable[str]) -> list[str]:
    """Each stage as often as it is entered."""
    return [stage for stage, _ in itertools.groupby(stages)]


def before_telling(followed: Followed) -> dict[str, list[str]]:
    """The functions of all stages but the last, whose documents are many."""
    return {stage: names for stage, names in followed.functions.items() if stage != "tell"}


def where(code: CodeType) -> str:
    path = Path(code.co_filename)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""


def nearest(frame: FrameType) -> CodeType:
    """The code of ours that called."""
    above = frame.f_back
    while above is not None and above.f_back is not None and not where(above.f_code):
        above = above.f_back
    return above.f_code if above is not None else frame.f_code


ALL = ["settle", "drive", "judge", "tell"]
COMMANDS: dict[str, tuple[str, dict[str, list[str]]]] = {
    "load": (
        "load URL -d 200ms -q",
        {
            "settle": ["load"],
            "drive": ["offer"],
            "judge": ["judge_load", "of_load"],
        },
    ),
    "versus": (
        "versus URL URL?new -d 50ms --warm-up 0 --budget 500ms --no-control --sequential -c 4",
        {
            "settle": ["comparison"],
            "drive": ["glance", "measure", "begin"],
            "judge": ["of"],
        },
    ),
    "capacity": (
        "capacity URL --slo p90<900ms --from 200 --to 400 -d 300ms --warm-up 100ms --budget 1s",
        {
            "settle": ["search"],
            "drive": ["glance", "measure", "begin"],
            "judge": ["of"],
        },
    ),
    "run": (
        "run small --blocks 1",
        {
            "settle": ["list_studies", "load_study", "resolve", "ask"],
            "drive": ["glance", "measure", "begin"],
            "judge": ["of"],
        },
    ),
}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of its own, with a small study."""
    made_studies.write(tmp_path, ["right"], blocks=1, measure_s=0.2, warm_up_s=0.1)
    monkeypatch.setenv("ASSAY_LOCK", str(tmp_path / "lock"))
    for name in ("servers", "studies", "results"):
        monkeypatch.setenv(f"ASSAY_{name.upper()}", str(tmp_path / name))
    return tmp_path


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("verb", COMMANDS)
def test_a_verb_goes_through_each_stage_once(verb: str, url: str) -> None:
    words, expected = COMMANDS[verb]
    followed = Followed()
    assert followed.of(lambda: main([word.replace("URL", url) for word in words.split()])) in (0, 1)
    assert followed.stages == ALL
    quiet = {"measure"} - set(followed.functions["drive"])  # it looks twice at a busy machine alone
    assert before_telling(followed) == {
        stage: [name for name in names if name not in quiet] for stage, names in expected.items()
    }


def test_a_load_that_is_kept_goes_the_same_way(world: Path, url: str) -> None:
    followed = Followed()
    words = ["load", url, "-d", "200ms", "-q", "--save", "--html", str(world / "page.html")]
    assert followed.of(lambda: main(words)) in (0, 1)
    assert before_telling(followed) == {
        "settle": ["load"],
        "drive": ["offer", "as_run"],
        "judge": ["judged", "of_load"],
    }
    assert followed.stages == ALL


@pytest.mark.parametrize(
    "words",
    ["wrk -t1 -c1 -d1s URL", "ab -n 20 URL", "h2load -n 20 -c 1 --h1 URL", "bombardier -n 20 -c 1 URL"],
)
def test_a_drop_in_goes_the_same_way(words: str, url: str) -> None:
    followed = Followed()
    assert followed.of(lambda: main([word.replace("URL", url) for word in words.split()])) == 0
    assert in_a_row(stage for stage in followed.stages if stage != "tell") == ["settle", "drive", "judge"]
    assert "offer" in followed.functions["drive"] or "drive" in followed.functions["drive"]
    assert followed.functions["judge"] == ["judge_load"]


CALLS: dict[str, Callable[[str], object]] = {
    "load": lambda url: assay.load(url, duration=0.2),
    "capacity": lambda url: assay.capacity(
        url, slo="p90<900ms", lowest=200, highest=400, duration=0.3, warm_up=0.1, budget=1
    ),
    "run": lambda url: assay.run("small", blocks=1),
}


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("verb", CALLS)
def test_a_function_of_python_goes_the_same_way(verb: str, url: str) -> None:
    """A run is judged where it is driven: its record ends with that."""
    followed = Followed()
    followed.of(lambda: CALLS[verb](url))
    assert followed.stages == (["settle", "drive", "judge"] if verb == "load" else ["settle", "drive"])
