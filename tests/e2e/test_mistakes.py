"""Mistakes that users make at the command line: each is one line that says what to do, and costs nothing."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from checkout import ROOT
from wire import recording

from assay.cli.main import main

pytestmark = pytest.mark.beside

U = "http://127.0.0.1:9/"
LONGEST = 200
"""Characters of a line, without the folders of this machine in it."""

VERBS = {
    "loda http://x/": "unknown verb 'loda'; did you mean 'load'?",
    "--vresion": "unknown flag '--vresion'; did you mean --version?",
    U: "a URL is no verb; write `assay load URL`",
    "localhost:8080": "write `assay load URL`",
    f"-c 10 {U}": "a verb comes first: `assay load URL`",
    "help laod": "did you mean 'load'?",
    "help load more": "unexpected argument 'more'",
    "load": "URL is missing; write it like `assay load http://127.0.0.1:8080/`",
    f"load {U} http://127.0.0.1:10/": "write `assay load [URL] [options]`",
    "compare one": "NEW is missing",
    "compare one two three": "unexpected argument 'three'",
    "servers more": "write `assay servers [options]`",
    "nodes": "--ray is missing; write it like `assay nodes --ray",
    "schema rnu": "'rnu' is none of run, study, server, contract; did you mean run?",
    "completion tcsh": "'tcsh' is none of bash, zsh, fish",
}
NUMBERS = {
    f"load {U} -c abc": "--connections: 'abc' is not a whole number above zero",
    f"load {U} -c -5": "--connections: '-5' is not a whole number above zero",
    f"load {U} -c 0": "'0' is not a whole number above zero",
    f"load {U} -c": "--connections lacks its value; write --connections N",
    f"load {U} -c -d 10s": "--connections lacks its value; write --connections N",
    f"load {U} -c 99999999999999999999": "--connections: '99999999999999999999' is more than",
    f"load {U} -d 10 s": "unexpected argument 's'; write -d 10s, without a blank",
    f"load {U} -d 10x": "'10x' is not a length of time such as 500ms, 10s or 2m",
    f"load {U} -d -10s": "--duration: '-10s' is not a length of time",
    f"load {U} -d 0": "--duration: '0' is not above zero",
    f"load {U} -d 99999999h": "'99999999h' is longer than a year",
    f"load {U} --rate fast": "--rate: 'fast' is not a rate such as 500, 20k",
    f"load {U} --rate -1": "--rate: '-1' is not a rate such as 500",
    f"load {U} --stage 10s": "'10s' is not a stage such as 10s:1000",
    f"load {U} -t 4 -c 2": "--threads: must be at least 1 and at most the number of connections",
    f"load {U} --cpus 900": "--cpus: this process may not run on core 900",
    f"capacity {U} --slo nonsense": "is not an objective such as p99<50ms",
    f"capacity {U} --slo 'p99<50'": "is not an objective such as p99<50ms",
    f"capacity {U} --slo 'p101<5ms'": "'p101' is not a percentile",
    f"capacity {U}": "--slo is missing; write it like `assay capacity http://127.0.0.1:8080/ --slo 'p99<50ms",
    f"capacity {U} --slo 'p99<5ms' --from 10k --to 1k": "give a lower --from",
    "versus a b --margin 500%": "'500%' is not a share such as 5% or 0.05",
    "run franklin --blocks -3": "--blocks: '-3' is not a whole number above zero",
    "run franklin --profile fiar": "'fiar' is none of fair, published, both; did you mean fair?",
    "view --port 99999": "--port: '99999' is not a port",
}
ADDRESSES = {
    "load ftp://127.0.0.1/": "is not an http URL; write it like http://127.0.0.1:8080/path",
    "load https//127.0.0.1/": "no '://' behind it; write it like http://",
    "load http:/127.0.0.1/": "no '://' behind it; write it like http://",
    "load http://127.0.0.1:99999/": "its port is not between 1 and 65535",
    "load http://127.0.0.1:0/": "its port is not between 1 and 65535",
    "load http://nowhere.invalid/": "cannot resolve 'nowhere.invalid'",
    "load http://ada:secret@127.0.0.1/": "give it as --user NAME:PASSWORD",
    "versus a b --url localhost:8080": "write it like http://127.0.0.1:{port}/",
    f"load {U} -x 127.0.0.1": "is not a proxy such as http://127.0.0.1:3128",
    f"load {U} --ray nowhere": "--ray 'nowhere' is no HOST:PORT",
    f"load {U} --unix-socket none.sock": "is the server running?",
}
OF_OTHER_TOOLS = {
    f"load -t4 -c100 -d30s --latency {U}": "latencies are always measured: leave it out",
    f"load -z 10s {U}": "unknown flag '-z'; did you mean --duration?",
    f"load -z10s {U}": "did you mean --duration?",
    f"load --vus 10 {U}": "did you mean --connections?",
    f"load -q 100 {U}": "-q is --quiet, which takes no value; did you mean --rate?",
    f"load -w 5 {U}": "did you mean --threads N, or --html PATH?",
    f"load -R 100 {U}": "did you mean --rate?",
    f"load -s post.lua {U}": "`assay wrk -s` runs Lua",
    f"load -X POST {U}": "did you mean --method?",
    f"load --data x {U}": "did you mean --body",
    f"load -D body.json {U}": "did you mean --body-file?",
    f"load -C session=1 {U}": "write --header 'Cookie: NAME=VALUE'",
    f"load -A ada:pw {U}": "did you mean --user NAME:PASSWORD or --bearer TOKEN?",
    f"load --iterations 100 {U}": "did you mean --count?",
    f"load --requests 1000 {U}": "so many requests are --count 1000",
    f"load -o out.json {U}": "--json prints JSON",
    f"load --disable-keepalive {U}": "did you mean --no-keep-alive?",
    f"load -rate=50 {U}": "begins with two dashes; did you mean --rate?",
    f"load -targets list {U}": "did you mean --requests?",
    f"load -connections 5 {U}": "begins with two dashes; did you mean --connections?",
}
FLAGS = {
    f"load {U} --conections 5": "did you mean --connections?",
    f"load {U} --warmup 5s": "did you mean --warm-up?",
    f"load {U} --token abc": "did you mean --bearer?",
    f"load {U} --ramp 5s": "--stage 30s:0..1000 raises the rate over that time",
    f"load {U} -v": "did you mean --verbose?",
    f"load {U} --insecure=yes": "--insecure takes no value; write --insecure alone",
    f"load {U} --blorp": "`assay load --help-all` lists them all",
    f"versus a b --rate 100 {U}": "`assay load` has it",
    f"load {U} -d 5s -n 10": "--duration and --count exclude each other; give one of them",
    f"load {U} --rate 5 --stage 5s:10": "--rate and --stage exclude each other",
    f"load {U} --arrivals poisson": "--arrivals needs an open loop; add --rate RATE",
    f"load {U} --streams 5": "add --http2, --http3 or --http auto",
    f"load {U} --cacert empty": "write https://… or leave it out",
    f"load {U} -H nocolon": 'is not a header such as "Accept: text/html"',
    f"load {U} -u ada": "--user: write it as NAME:PASSWORD",
    f"load {U} --json --html -": "--json and --html would mix on standard output",
    f"load {U} --generators 4": "add --ray HOST:PORT",
    "versus ./a": "give two commands or URLs",
    "versus a b --scan w=1,2": "no command has {w}",
    "versus a b --fail-if-unsure": "add --fail-if-slower SHARE",
    "run franklin --resume latest": "leave it out",
    "run --all franklin": "leave one of the two out",
}
FILES = {
    f"load {U} --body-file none": "--body-file: none: no such file or directory; check the path",
    f"load {U} --body-file folder": "--body-file: folder: is a directory; name a file in it",
    f"load {U} -b @text": "write --body-file text",
    f"load {U} --bearer @text": 'write "$(cat text)"',
    f"load {U} -F picture=@none.png": "--form: none.png: no such file or directory; check the path",
    f"load {U} --requests empty": 'holds no request; write lines like /a or {"path": "/a"}',
    f"load {U} --requests torn.jsonl": "line 2: ",
    f"load {U} --requests binary": "line 1: it is not UTF-8 text",
    "load https://127.0.0.1:9/ --cacert empty": "--cacert: …/empty holds no PEM certificate",
    "load https://127.0.0.1:9/ --cert text": "give both --cert and --key",
    "load https://127.0.0.1:9/ --cert text --key text": "--cert: …/text holds no PEM certificate",
    f"load {U} --html none/page.html": "cannot write none/page.html: no such file or directory; choose",
    f"load {U} --html folder": "cannot write folder: is a directory; choose another path",
    f"load {U} --save --results text/runs": "cannot write …/text/runs: not a directory; choose another path",
    "run": "no study was named; one of: ",
    "run frankln": "did you mean 'franklin'?",
    "run franklin frankln": "there is no study 'frankln'",
    "run franklin none.toml": "there is no study file none.toml; check the path",
    "run none.toml": "none.toml: cannot read the study: no such file or directory; check the path",
    "run empty.toml": "empty.toml: the key 'name' is missing",
    "run torn.toml": "torn.toml:3: no valid TOML",
    "run franklin --server quotes/rust": "profile 'fair' has no server 'quotes/rust'; did you mean",
    "setup quotes/og": "did you mean 'quotes/go'?",
    "report latest": "there is no run in …/results; make one with `assay run`",
    "report none --results runs": "there is no run 'none' in …/runs; the newest is torn",
    "report torn --results runs": "no header of a run record",
    "report empty": "empty: no run record: its first line is not whole",
    "judge binary": "binary",
    "compare none latest --results runs": "there is no run 'none'",
    "run --resume none --results runs": "there is no run 'none'",
    "audit none.md": "cannot read none.md: no such file or directory; check the path",
    "audit folder": "there is no text in folder; name one such as README.md",
    "init 'my shop'": "use small letters, digits and dashes",
}
TABLE = VERBS | NUMBERS | ADDRESSES | OF_OTHER_TOOLS | FLAGS | FILES


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files that are not what a flag wants, and a folder of runs with a damaged one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_LOCK", str(tmp_path / "lock"))
    monkeypatch.delenv("ASSAY_RESULTS", raising=False)
    (tmp_path / "folder").mkdir()
    (tmp_path / "runs" / "torn").mkdir(parents=True)
    (tmp_path / "runs" / "torn" / "run.jsonl").write_text("nothing of the kind\n")
    (tmp_path / "empty").touch()
    (tmp_path / "empty.toml").touch()
    (tmp_path / "text").write_text("hello\n")
    (tmp_path / "binary").write_bytes(b"\x00\xff\xfe\n")
    (tmp_path / "torn.toml").write_text('name = "torn"\nservers = [\n')
    (tmp_path / "torn.jsonl").write_text('{"path": "/a"}\n{"path": \n')
    return tmp_path


@pytest.mark.parametrize("words", TABLE)
def test_a_mistake_is_one_line_with_its_cure(
    words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.rglob("*"))
    assert main(shlex.split(words)) == 2
    told = capsys.readouterr()
    line = told.err.replace(str(folder), "…").replace(str(ROOT), "…")
    assert told.out == ""
    assert line.startswith("assay: ") and line.endswith("\n") and line.count("\n") == 1
    assert TABLE[words] in line
    assert len(line) <= LONGEST
    assert "Traceback" not in line and "secret" not in line
    assert sorted(folder.rglob("*")) == before, "nothing is written"


@pytest.mark.parametrize(
    "words", [f"versus {U} {U}", f"capacity {U} --slo 'p99<50ms'"], ids=lambda words: words.split()[0]
)
def test_a_server_that_is_not_there_is_told_when_it_is_asked(
    words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(shlex.split(words)) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines()[-1].endswith("nobody listens on 127.0.0.1:9; start it, or check the port")
    assert not (folder / "results").exists()


def test_an_empty_value_is_a_value(folder: Path) -> None:
    with recording() as wire:
        assert main(["load", wire.url(), "-n", "1", "-q", "-b", "", "-H", "X-Empty:"]) == 0
    assert wire.requests[0].startswith(b"POST ")
