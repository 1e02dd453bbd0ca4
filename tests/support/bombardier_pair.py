"""bombardier's flags: the cases, what bombardier said of each (recorded), and what `assay bombardier` says.

bombardier 2.0.2 cannot be installed where the tests run, so its answers are kept in
tests/golden/expected/bombardier/flags.json. `python tests/support/bombardier_pair.py PROGRAM` records
them anew. They are from bombardier 1.2.6, as Go's module proxy has it, built with what 2.0.2 changed in
its requests: fasthttp 1.59, and URLs read by urlx 0.3.2 and given whole to fasthttp. `built` is 1.2.6 as
it is, which says and sends the same but for the cases `of_2_0`.
"""

from __future__ import annotations

import json
import os
import re
import ssl
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tool_pair
from bombardier_cases import CASES, Case
from wire import recording

ASSAY = tool_pair.assay("bombardier")
MODULE = "github.com/codesenberg/bombardier@v1.2.6"
RECORDED = Path(__file__).parents[1] / "golden" / "expected" / "bombardier" / "flags.json"
PATIENCE_S = 60
_FIGURES = ("timeTakenSeconds", "mean", "stddev", "max", *(f'"{share}"' for share in (50, 75, 90, 95, 99)))
_COLUMNS = re.compile(r"  (Reqs/sec|Latency  |Throughput)|     \d\d%")


@dataclass(frozen=True)
class Told:
    """What one said and sent: numbers that time makes are "#", the server's port is PORT."""

    code: int
    lines: Sequence[str]
    err: Sequence[str]
    requests: Sequence[str]


def _line(text: str) -> str:
    """A line without what time makes of it; of a progress bar's frames only the last."""
    text = text.rpartition("\r")[2]
    if _COLUMNS.match(text):
        return re.sub(r" +\d[\d.]*(us|ms|s|[KMG]?B/s|/s)?", "#", text)
    if text.startswith(" ") and text.rstrip().endswith("s") and re.match(r" \d+ / \d+ |  ?\d+s$", text):
        return re.sub(r" \d+/s", "", text).rstrip()
    for key in _FIGURES:
        shown = key if key.startswith('"') else f'"{key}"'
        text = re.sub(rf"({shown}):[\d.e+-]+", r"\1:#", text)
    return text


def of_2_0(case: Case) -> bool:
    """Whether 1.2.6 answers otherwise: it reads URLs in another way, and sends no credentials of theirs."""
    fast = "--http1" not in case.words
    reads = case.url.startswith(("HTTP:", "//")) or (
        fast and "@127.0.0.1:PORT" in case.url and "//@" not in case.url
    )
    refuses = case.words in (("ftp://u",), ("a_b",), ("http://",))
    return reads or refuses or "--header=Connection: close" in case.words


def built(cache: Path) -> Path:
    """The program of `MODULE`, built where it is not yet: 50 s of a core, once a machine."""
    folder = cache / "tools" / MODULE.rpartition("/")[2]
    if not (folder / "bombardier").exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            environment = {**os.environ, "GOBIN": made}
            subprocess.run(["go", "install", MODULE], cwd=made, env=environment, check=True, timeout=600)
            folder.mkdir(exist_ok=True)
            (Path(made) / "bombardier").replace(folder / "bombardier")
    return folder / "bombardier"


def tell(program: Sequence[str], case: Case, folder: Path, *, strict: bool = False) -> Told:
    """Run a program with a case's words, on a server of its own."""
    context = None
    if case.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "PEM")
    with recording(case.answer, tls=context) as wire:
        port = str(wire.port)
        words = [
            re.sub("FILE|PEM|TEMPLATE", lambda found: str(folder / found[0]), word) for word in case.words
        ]
        url = [case.url.replace("PORT", port)] if case.url else []
        ended = tool_pair.ran([*program, *words, *url], PATIENCE_S, strict=strict)
    name = Path(program[0]).name

    def masked(text: bytes) -> list[str]:
        if ended.returncode:
            # Only 2.0 says where the error arose, and begins what follows with a small letter.
            text = re.sub(rb"^Error (parsing the arguments|initializing bombardier): ", b"", text)
            text = text[:1].lower() + text[1:]
        told = text.decode().replace(port, "PORT").replace(str(folder), "FOLDER")
        told = told.replace(program[0], "bombardier").replace(name, "bombardier")
        return [_line(line) for line in told.split("\n")]

    counts = Counter(request.decode("latin-1").replace(port, "PORT") for request in wire.requests)
    is_timed = any(word.startswith(("-d", "--duration")) for word in words)
    requests = [f"{'#' if is_timed else count} times {request}" for request, count in counts.items()]
    return Told(ended.returncode, masked(ended.stdout), masked(ended.stderr), requests)


def made(folder: Path) -> Path:
    """Put the files that the words name into a folder."""
    (folder / "FILE").write_bytes(b"0123456789" * 500)
    (folder / "TEMPLATE").write_text(TEMPLATE)
    names = ["-subj", "/CN=localhost", "-addext", "basicConstraints=critical,CA:FALSE"]
    files = ["-keyout", str(folder / "key"), "-out", str(folder / "chain")]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, *files]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "PEM").write_text((folder / "chain").read_text() + (folder / "key").read_text())
    return folder


TEMPLATE = """\
{{- with .Spec }}{{ .Method }} {{ .NumberOfConnections }}
{{- if .IsTestWithNumberOfReqs }} {{ .NumberOfRequests }}{{ end }} {{ .Rate }} {{ .Timeout }}
{{- range $i, $h := .Headers }} {{ $i }}:{{ $h.Key }}={{ $h.Value | printf "%q" }}{{ end }}{{ end }}
{{ with .Result.LatenciesStats (FloatsToArray 0.5 0.99) -}}
{{ range $p, $v := .Percentiles }}{{ if ne $p 0.5 }},{{ end -}}
{{ printf "%2.0f%%" (Multiply $p 100) }}{{ end }}
{{- else }}{{ print "nothing" }}{{ end }}
{{ .Result.Req2XX }} {{ if WithLatencies }}l{{ else }}-{{ end }}
"""


def _record(program: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = made(Path(folder))
        told = {case.name: vars(tell((program,), case, files)) for case in CASES}
    assert len(told) == len(CASES), "two cases have the same name"
    RECORDED.write_text(json.dumps(told, indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    _record(sys.argv[1])
