"""The JSON of every verb that measures: its keys and types, whatever the figures are.

tests/golden/test_json.py holds the values of verbs that read what is stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import hello_server
import json_outline
import made_studies
import pytest
from made_candidates import assay

pytestmark = pytest.mark.beside  # nothing here depends on a figure

QUICK = ("-d", "150ms", "--warm-up", "0", "-t", "1", "--json")
RATES = ("--from", "60", "--to", "100", "--budget", "1s", "--resolution", "60%")
CANDIDATES = ("{url}/a", "{url}/b", "--no-control", "--sequential", "--budget", "2s")
SAID: dict[str, list[tuple[str, ...]]] = {
    "load": [
        ("load", "{url}", "-n", "50", "-c", "2", "--json"),
        ("load", "{url}", "-n", "50", "-c", "2", "-r", "400", "--json"),
        ("load", "{url}", "-n", "50", "-c", "2", "--slo", "max<60s,errors<60%", "--json"),
    ],
    "capacity": [("capacity", "{url}", "--slo", "mean<10s,errors<50%", *RATES, *QUICK)],
    "versus": [("versus", *CANDIDATES, "-c", "2", *QUICK)],
    "run": [("run", "small", "--no-control", "--json")],
    "bombardier": [("bombardier", "-o", "json", "-p", "result", "-c", "2", "-n", "50", "{url}")],
}
"""What is said to Assay for each golden file."""

CONSTANT = ("format", "record", "kind", "unit", "role", "metric")
OF_THE_MACHINE = ("header.environment", "trials[].host", "trials[].server", "trials[].link")
OF_FINDINGS = ("judgement.findings", "judgement.ranking", "judgement.comparisons")
TIMES = [f"{what}_time_ns" for what in ("connect", "first_byte", "handshake", "response", "service")]
OF_ONE_LOAD = ("findings", "throughput_per_s", "throughput_known", "times_known", *TIMES)
OF_LIMITS = ("limits[].low", "limits[].high")
CUT = {f"[].{path}" for path in (*OF_THE_MACHINE, *OF_FINDINGS, *OF_ONE_LOAD, *OF_LIMITS)}
"""What differs from machine to machine, and with findings: a finding may leave a figure without a bound."""


@pytest.mark.parametrize("name", SAID)
def test_the_json_of_what_is_measured(name: str, tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    made_studies.write(tmp_path, ["right"], blocks=1, measure_s=0.1, warm_up_s=0.1)
    told = []
    with hello_server.standing() as url:
        for words in SAID[name]:
            ended = assay(tmp_path, *(word.format(url=url) for word in words))
            assert ended.returncode in (0, 1), ended.stderr
            told.append(json.loads(ended.stdout))
    golden(f"json/{name}.json", json_outline.outline(told, only=CONSTANT, cut=CUT))
