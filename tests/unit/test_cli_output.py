"""What an output flag names is written, whatever it is, and nothing that is no file is replaced."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
import sample_run

from assay.cli.main import main
from assay.cli.report_outputs import OutputFile
from assay.core.errors import EnvironmentLacks


def test_a_regular_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    OutputFile(str(path)).write("first")
    path.chmod(0o600)
    before = path.stat().st_ino
    OutputFile(str(path)).write("second")
    assert path.read_text() == "second"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_ino != before  # through a file beside it: no reader sees half of it
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_one_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/next")
    (tmp_path / "there" / "next").symlink_to("file")
    for text in ("made", "replaced"):
        OutputFile(str(tmp_path / "link")).write(text)
        assert (tmp_path / "there" / "file").read_text() == text
    assert (tmp_path / "link").is_symlink() and (tmp_path / "there" / "next").is_symlink()
    assert not (tmp_path / "there" / "file").is_symlink()


def test_a_pipe_is_written_through(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    OutputFile(str(path)).write(b"through" * 100_000)
    reader.join()
    assert read == [b"through" * 100_000]
    assert stat.S_ISFIFO(path.lstat().st_mode)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes device nodes")
def test_a_device_is_written_through(tmp_path: Path) -> None:
    null, full = tmp_path / "null", tmp_path / "full"
    os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    os.mknod(full, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
    try:
        OutputFile(str(null)).write("into nothing")
    except EnvironmentLacks as refused:  # the folder lies on a file system without devices
        pytest.skip(str(refused))
    with pytest.raises(EnvironmentLacks, match="cannot write .*full: no space left"):
        OutputFile(str(full)).write("into nothing")
    assert stat.S_ISCHR(null.lstat().st_mode) and stat.S_ISCHR(full.lstat().st_mode)


def test_an_open_descriptor_is_gone_on_with(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """As in `{ echo first; assay report latest --csv /dev/stdout; } > file`: what is there stays."""
    link = tmp_path / "stdout"
    link.symlink_to("/proc/self/fd/1")
    os.write(1, b"first\n")
    OutputFile(str(link)).write("second\n")
    assert capfdbinary.readouterr().out == b"first\nsecond\n"
    with (tmp_path / "file").open("wb") as opened:
        opened.write(b"first\n")
        opened.flush()
        OutputFile(f"/dev/fd/{opened.fileno()}").write("second\n")
    assert (tmp_path / "file").read_bytes() == b"first\nsecond\n"
    assert link.is_symlink()


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "round").symlink_to("round")
    for word, why in ((".", "is a directory"), ("round", "too many levels of symbolic links")):
        with pytest.raises(EnvironmentLacks, match=f"cannot write .*: {why}; choose another path"):
            OutputFile(str(tmp_path / word)).write("x")


def test_a_report_goes_through_a_link_to_standard_output(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = sample_run.stored(sample_run.run(), tmp_path)
    link = tmp_path / "stdout"
    link.symlink_to("/proc/self/fd/1")
    assert main(["report", str(path), "--csv", str(link)]) == 0
    assert capfdbinary.readouterr().out.startswith(b"run_id,")
    assert link.is_symlink()


def test_a_file_that_is_written_does_not_silence_the_result(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = sample_run.stored(sample_run.run(), tmp_path)
    assert main(["report", str(path), "--csv", str(tmp_path / "trials.csv")]) == 0
    told = capfd.readouterr()
    assert "rank  server" in told.out and "run_id," not in told.out
    assert "wrote" in told.err
