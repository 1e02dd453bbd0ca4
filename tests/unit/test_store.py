"""Run files survive whatever happens to their writer."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import made_runs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import store
from assay.core.errors import EnvironmentLacks, InputError
from assay.model.run import FORMAT, BlockDone, Header, Judgement, Run, TrialDone
from assay.store import RunFile
from assay.store.lines import DamagedLine, LinePlace, seal, unseal

RUN = made_runs.steady_run({"a": 1000, "b": 2000}, blocks=2)
JUDGEMENT = Judgement(
    judged_unix_ns=1,
    assay_version="1",
    complete=True,
    ranking=(),
    claims=(),
    findings=(),
    clean=True,
)


def header(run_id: str = "s-20261121-093000-1a2b") -> Header:
    return msgspec.structs.replace(RUN.header, run_id=run_id)


def written(results: Path, trials: int = 3, run_id: str = "s-20261121-093000-1a2b") -> RunFile:
    file = store.create(results, header(run_id))
    for trial in RUN.trials[:trials]:
        file.append(TrialDone(trial=trial))
    return file


def test_what_is_written_is_read(tmp_path: Path) -> None:
    with written(tmp_path / "results", trials=4) as file:
        file.append(JUDGEMENT)
    expected = Run(header=header(), trials=RUN.trials, judgement=JUDGEMENT)
    assert store.load(file.path) == expected
    assert store.load(file.folder) == expected
    assert file.folder.name == "s-20261121-093000-1a2b"
    assert file.logs.is_dir()


def test_a_block_is_one_line_and_its_trials_are_the_runs(tmp_path: Path) -> None:
    first, second = (made_runs.interleaved({"a": [1000.0], "b": [2000.0]}, n, block=n) for n in range(2))
    with written(tmp_path, trials=0) as file:
        file.append(BlockDone(block=first))
        file.append(BlockDone(block=second))
        file.append(JUDGEMENT)
    found = store.load(file.path)
    assert found.blocks == (first, second)
    assert found.trials == (*first.trials, *second.trials)
    assert found.judgement == JUDGEMENT
    torn = file.path.read_bytes().splitlines(keepends=True)[:3]
    file.path.write_bytes(b"".join(torn)[:-20])
    cut = store.read(file.path)
    assert (cut.run.blocks, cut.run.trials) == ((first,), first.trials)
    assert "torn" in cut.notes[0]
    stranger = msgspec.structs.replace(first.trials[0], case="zebra")
    with written(tmp_path / "other", trials=0) as file:
        file.append(BlockDone(block=msgspec.structs.replace(first, trials=(stranger,))))
    assert "a case 'zebra' that the run does not have" in store.load(file.path).damage[0]


def test_a_judgement_counts_until_another_trial_comes(tmp_path: Path) -> None:
    with written(tmp_path, trials=3) as file:
        file.append(JUDGEMENT)
        file.append(TrialDone(trial=RUN.trials[3]))
    assert store.load(file.path).judgement is None


@settings(deadline=None)  # every line is synced, which takes what the disk takes
@given(cut=st.integers(1, 5000))
def test_a_torn_last_line_is_left_out_and_cut_off_on_reopening(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    with written(tmp_path_factory.mktemp("torn")) as file:
        pass
    whole = file.path.read_bytes()
    file.path.write_bytes(whole[: max(whole.index(b"\n") + 1, len(whole) - cut)])
    left = file.path.read_bytes()
    torn = not left.endswith(b"\n")
    lines = left.count(b"\n")
    stored = store.read(file.path)
    assert len(stored.run.trials) == lines - 1
    assert any("the last line is torn" in note for note in stored.notes) == torn
    again, found = store.reopen(file.path)
    with again:
        again.append(TrialDone(trial=RUN.trials[3]))
    assert store.load(file.path).trials == (*found.run.trials, RUN.trials[3])


def test_a_damaged_line_between_whole_ones_is_left_out_and_told(tmp_path: Path) -> None:
    with written(tmp_path) as file:
        pass
    lines = file.path.read_bytes().split(b"\n")
    lines[2] = lines[2][:100] + b"\xff" + lines[2][101:]
    file.path.write_bytes(b"\n".join(lines))
    stored = store.read(file.path)
    assert stored.run.trials == (RUN.trials[0], RUN.trials[2])
    assert stored.notes == (f"{file.path}: line 3 is damaged (its checksum does not fit) and was left out",)


@given(data=st.data())
def test_no_flipped_bit_of_a_line_goes_unnoticed(data: st.DataObject) -> None:
    line = seal(TrialDone(trial=RUN.trials[0]), LinePlace("a-run", 2)).rstrip(b"\n")
    place = data.draw(st.integers(0, 8 * len(line) - 1))
    flipped = bytearray(line)
    flipped[place // 8] ^= 1 << place % 8
    with pytest.raises(DamagedLine):
        unseal(bytes(flipped))
    assert unseal(line) == (TrialDone(trial=RUN.trials[0]), LinePlace("a-run", 2))


def test_a_line_nested_too_deeply_is_damaged() -> None:
    with pytest.raises(DamagedLine, match="recursion"):
        unseal(b'{"x":' + b"[" * 100_000)


def test_a_line_without_its_checksum_is_none_of_this_format() -> None:
    with pytest.raises(DamagedLine, match="lacks its checksum"):
        unseal(msgspec.json.encode(TrialDone(trial=RUN.trials[0])))


def test_a_judgement_does_not_outlive_the_trials_it_rests_on(tmp_path: Path) -> None:
    with written(tmp_path, trials=4) as file:
        file.append(msgspec.structs.replace(JUDGEMENT, trials=4))
    assert store.load(file.path).judgement is not None
    lines = file.path.read_bytes().splitlines(keepends=True)
    del lines[2]
    file.path.write_bytes(b"".join(lines))
    stored = store.read(file.path)
    assert stored.run.judgement is None
    assert stored.notes == (f"{file.path}: line 3 is missing",)
    again, found = store.reopen(file.path)
    with again:
        again.append(msgspec.structs.replace(JUDGEMENT, trials=3, damaged_lines=len(found.run.damage)))
    assert store.load(file.path).judgement is not None  # made of what is left, and of what is known


def test_a_line_of_a_case_that_the_run_does_not_have_is_left_out(tmp_path: Path) -> None:
    with written(tmp_path, trials=1) as file:
        file.append(TrialDone(trial=msgspec.structs.replace(RUN.trials[1], case="zebra")))
    stored = store.read(file.path)
    assert stored.run.trials == RUN.trials[:1]
    assert "line 3 is damaged (it names a case 'zebra'" in stored.notes[0]


def test_a_run_of_an_unknown_kind_is_told_in_one_line(tmp_path: Path) -> None:
    with written(tmp_path) as file:
        pass
    first, *rest = file.path.read_bytes().splitlines(keepends=True)
    line = first[len(b'{"crc32":"00000000",') : -1].replace(b'"kind":"study"', b'"kind":"soak"')
    file.path.write_bytes(b'{"crc32":"%08x",%s\n' % (zlib.crc32(line), line) + b"".join(rest))
    with pytest.raises(InputError) as caught:
        store.load(file.path)
    problem = "this record is of a kind of run that this Assay does not know: 'soak'"
    assert str(caught.value) == f"{file.path}: {problem}; update Assay"


@pytest.mark.parametrize("written", [1, 2, FORMAT - 1])
def test_a_record_of_an_older_format_is_refused_in_one_line(tmp_path: Path, written: int) -> None:
    with written_as(tmp_path, written) as file:
        pass
    if written == 1:  # which had no checksum
        line = json.loads(file.path.read_bytes())
        file.path.write_text(json.dumps({key: line[key] for key in line if key != "crc32"}) + "\n")
    with pytest.raises(InputError) as caught:
        store.load(file.path)
    said = f"this record is of format {written}; this Assay reads format {FORMAT} only; make the run anew"
    assert str(caught.value) == f"{file.path}: {said}"


def written_as(folder: Path, written: int) -> store.RunFile:
    return store.create(folder, msgspec.structs.replace(header(), format=written))


def test_a_line_of_an_older_format_in_a_record_is_left_out(tmp_path: Path) -> None:
    with written(tmp_path, trials=1) as file:
        file.append(msgspec.structs.replace(TrialDone(trial=RUN.trials[1]), format=FORMAT - 1))
    stored = store.read(file.path)
    assert stored.run.trials == RUN.trials[:1]
    assert f"line 3 is damaged (it is of format {FORMAT - 1}) and was left out" in stored.notes[0]


def test_a_newer_format_is_told(tmp_path: Path) -> None:
    newer = msgspec.structs.replace(header(), format=FORMAT + 1)
    with store.create(tmp_path, newer) as file:
        pass
    said = f"this record is of format {FORMAT + 1}; this Assay reads up to {FORMAT}; update Assay"
    with pytest.raises(InputError, match=said):
        store.load(file.path)


@pytest.mark.parametrize("content", [b"", b"{", b"nonsense\n", b'{"format": 1}\n', b"\xff\n"])
def test_a_file_that_is_no_run_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.jsonl").write_bytes(content)
    with pytest.raises(InputError, match="run.jsonl"):
        store.load(tmp_path)


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with written(tmp_path) as file, pytest.raises(InputError, match="is being written by another process"):
        store.reopen(file.path)
    again, _ = store.reopen(file.path)
    again.close()


def test_a_folder_that_cannot_be_written_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file where the folder should be")
    with pytest.raises(EnvironmentLacks, match="cannot write .*; choose another folder with --results"):
        store.create(tmp_path / "results", header())
    assert (tmp_path / "results").read_text() == "a file where the folder should be"


def test_a_removed_run_is_put_back_with_all_that_was_written(tmp_path: Path) -> None:
    told: list[str] = []
    with written(tmp_path / "results", trials=2) as file:
        shutil.rmtree(tmp_path / "results")
        file.append(TrialDone(trial=RUN.trials[2]), told.append)
        assert file.logs.is_dir()
        assert store.load(file.path).trials == RUN.trials[:3]
        with pytest.raises(InputError, match="is being written by another process"):
            store.reopen(file.path)
        file.append(TrialDone(trial=RUN.trials[3]), told.append)
        shutil.rmtree(file.logs)
        file.append(JUDGEMENT, told.append)
    assert len(told) == 2
    assert store.load(file.path) == Run(header=header(), trials=RUN.trials, judgement=JUDGEMENT)


def test_another_file_in_the_place_of_a_run_is_left_alone(tmp_path: Path) -> None:
    with written(tmp_path, trials=1) as file:
        file.path.unlink()
        file.path.write_text("somebody's")
        with pytest.raises(EnvironmentLacks, match="another file lies in its place"):
            file.append(JUDGEMENT)
        assert file.path.read_text() == "somebody's"


TEST_MODULES = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]

FULL_AT_ONCE = """
import resource, sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from test_store import header
from assay import store
resource.setrlimit(resource.RLIMIT_FSIZE, (100, -1))
try:
    store.create(Path(sys.argv[1]), header())
except store.write.EnvironmentLacks as problem:
    print(problem)
"""


def test_a_disk_that_is_full_at_the_header_says_that_nothing_is_measured(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_AT_ONCE, str(tmp_path), *TEST_MODULES],
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search("no room left to write .*run.jsonl: nothing is measured yet; make room$", done.stdout)
    assert list(tmp_path.iterdir()) == []


FULL_DISK = """
import resource, sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from test_store import RUN, written
from assay.core.errors import EnvironmentLacks
from assay.model.run import TrialDone
file = written(Path(sys.argv[1]), trials=2)
room = file.path.stat().st_size + 1000
resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
try:
    file.append(TrialDone(trial=RUN.trials[2]))
except EnvironmentLacks as error:
    print(error)
"""


def test_a_full_disk_is_told_and_what_was_written_stays_whole(tmp_path: Path) -> None:
    """No room after half a line: the limit on the size of a file stands for the disk's end."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path), *TEST_MODULES],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "no room left to write" in done.stdout
    assert "make room" in done.stdout
    stored = store.read(store.find(tmp_path, "latest"))
    assert stored.run.trials == RUN.trials[:2]
    assert stored.notes == ()


KILLED = """
import os, sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from test_store import RUN, written
written(Path(sys.argv[1]), trials=3)
os.kill(os.getpid(), 9)
"""


def test_finished_trials_survive_the_death_of_their_writer(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), *TEST_MODULES], check=False)
    assert store.load(store.find(tmp_path, "latest")).trials == RUN.trials[:3]


def test_runs_are_found_by_path_beginning_and_age(tmp_path: Path) -> None:
    for name in ("zeta-20261120-080000-aaaa", "alpha-20261121-093000-1a2b", "alpha-20261121-100000-3c4d"):
        written(tmp_path, trials=0, run_id=name).close()
    newest = tmp_path / "alpha-20261121-100000-3c4d" / "run.jsonl"
    assert store.find(tmp_path, "latest") == newest
    assert store.find(tmp_path, "zeta").parent.name == "zeta-20261120-080000-aaaa"
    assert store.find(tmp_path, str(newest)) == newest
    assert store.find(tmp_path, str(newest.parent)) == newest
    assert [path.parent.name[:5] for path in store.list_runs(tmp_path)] == ["zeta-", "alpha", "alpha"]
    with pytest.raises(InputError, match="2 runs begin with 'alpha'"):
        store.find(tmp_path, "alpha")
    with pytest.raises(InputError, match="there is no run 'beta'"):
        store.find(tmp_path, "beta")
    with pytest.raises(InputError, match="there is no run in"):
        store.find(tmp_path / "empty", "latest")


def test_a_damaged_record_is_not_in_the_way_of_the_latest(tmp_path: Path) -> None:
    for name in ("alpha-20261121-093000-1a2b", "alpha-20261121-100000-3c4d"):
        written(tmp_path, trials=0, run_id=name).close()
    (tmp_path / "alpha-20261121-100000-3c4d" / "run.jsonl").write_bytes(b"garbage\n")
    said: list[str] = []
    assert store.find(tmp_path, "latest", said.append).parent.name == "alpha-20261121-093000-1a2b"
    [passed_over] = said
    assert "3c4d" in passed_over and "passed over" in passed_over
    (tmp_path / "alpha-20261121-093000-1a2b" / "run.jsonl").write_bytes(b"garbage\n")
    with pytest.raises(InputError, match="no header"):
        store.read(store.find(tmp_path, "latest"))


def test_run_ids_tell_study_and_time() -> None:
    name = store.new_run_id("franklin", 1_795_253_400 * 10**9)
    assert name.startswith("franklin-20261121-093000-")
    assert len(name) == len("franklin-20261121-093000-1a2b")


def test_the_schema_knows_the_three_kinds_of_line() -> None:
    assert {"Header", "TrialDone", "Judgement"} <= set(store.json_schema()["$defs"])  # type: ignore[call-overload]
