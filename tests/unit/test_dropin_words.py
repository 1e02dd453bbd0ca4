"""Whatever the words, a drop-in ends in its own way: with lines and an exit code, never with a traceback.

The URL is another's machine (RFC 5737), to which nothing is sent without leave: so every flag is read and
the load is planned, and that is all.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.cli.main import main

ELSEWHERE = "http://192.0.2.1/"
FLAGS = {
    "wrk": "-t -c -d -s -H -L -T -v -r -R -U -B -? --threads --connections --duration --script --header "
    "--latency --timeout --version --help --rate --u_latency --batch_latency --lat --t",
    "ab": " ".join(f"-{letter}" for letter in "nctsbTpuvlrkVhwiIxyzCHPAgXdeSqBmZfE"),
    "bombardier": "-c -t -l -m -b -f -s -k -a -H -n -d -r -p -q -o --cert --key --http1 --http2 --fasthttp "
    "--connections --timeout --latencies --no-latencies --method --body --body-file --stream --insecure "
    "--disableKeepAlives --header --requests --duration --rate --print --no-print --format --version --help",
    "h2load": "-n -c -t -i -m -f -w -W -H -p -d -r -D -T -N -v --h1 --npn-list --alpn-list --rps "
    "--warm-up-time --connect-to --log-file --ciphers --groups --rate-period --header-table-size "
    "--qlog-file-base --ktls --encoder-header-table-size --max-udp-payload-size --timing-script-file "
    "--base-uri --version --help --n",
}
VALUES = (
    "", "-1", "1", "3", "1k", "1.5s", "10s", "2h", "500ms", "1e3", "99999999999999999999", "nan", "inf",
    "0x10", "a", "a:b", "A: b", ":path: /", ": ", "a\x00b", "\udcff", "é", "a\r\nb: c", "/dev/null",
    "/no/such", "/", "h3", "h2", "http/1.1", "i,p,r", "json", "path:/dev/null", "path:/no/such", "path:",
    "GET", "HEAD", "TLS1.2", "[::1", "u:p",
)  # fmt: skip
URLS = (
    ELSEWHERE, "https://192.0.2.1/", "192.0.2.1", "ftp://192.0.2.1/x", "http://192.0.2.1:0/",
    "http://192.0.2.1:70000/", "http://[::", "http://[::1%25x]:8", "http://192.0.2.1/\udcff\x00",
    "http://192.0.2.1/é?ü#ö", "http://u:p@192.0.2.1/a b", "", "/", "http://", "http:///", "://", "x" * 5000,
)  # fmt: skip


def ended(tool: str, words: list[str]) -> tuple[int, str, str]:
    """The exit code and what is said on both outputs."""
    out, err = io.StringIO(), io.StringIO()
    # A word may be the name of a file that is written.
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = main([tool, *words])
    return code, out.getvalue(), err.getvalue()


def lines_of(tool: str) -> st.SearchStrategy[list[str]]:
    flags = st.sampled_from(FLAGS[tool].split())
    values = st.sampled_from(VALUES)
    pieces = st.one_of(
        flags.map(lambda flag: [flag]),
        st.tuples(flags, values).map(list),
        st.tuples(flags, values).map(lambda pair: [f"{pair[0]}={pair[1]}"]),
        st.tuples(flags, values).map(lambda pair: ["".join(pair)]),
        st.sampled_from(["--", "-", "---", "--=", "-:", "@"]).map(lambda word: [word]),
        flags.map(lambda flag: [f"{flag}0"]),
        flags.map(lambda flag: [f"{flag}=0"]),
        # Nothing that is an address: "0" is one of this machine.
        st.text(max_size=8).filter(lambda text: not re.search(r"[\d.:]", text)).map(lambda word: [word]),
    )
    return st.lists(pieces, max_size=5).map(lambda lines: [word for line in lines for word in line])


@pytest.mark.parametrize("tool", FLAGS)
@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_any_words_end_in_lines_and_an_exit_code(tool: str, data: st.DataObject) -> None:
    words = data.draw(lines_of(tool)) + [data.draw(st.sampled_from(URLS))]
    code, out, err = ended(tool, words)
    assert 0 <= code < 256
    assert code != 70, (words, err)
    assert not re.search(r"Traceback|\bat 0x|unexpected \w+Error", out + err), (words, out, err)


@pytest.mark.parametrize(
    ("tool", "words"),
    [("ab", ["-p", "a\0b"]), ("ab", ["-u", "a\0b"]), ("bombardier", ["@a\0b"]), ("ab", ["-E", "a\0b"])],
)
def test_a_name_that_no_file_can_have_is_a_file_that_cannot_be_opened(tool: str, words: list[str]) -> None:
    code, out, err = ended(tool, [*words, URLS[0]])
    assert 0 < code < 70
    assert "Traceback" not in out + err and len((out + err).splitlines()) <= 8


@pytest.mark.parametrize("tool", FLAGS)
def test_another_s_machine_is_left_alone(tool: str) -> None:
    code, out, err = ended(tool, [ELSEWHERE])
    assert code == 1
    assert "do you have its owner's leave to load it" in out + err
