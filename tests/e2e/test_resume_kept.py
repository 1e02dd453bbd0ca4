"""`assay run --resume` of a study that an older version recorded and that was cut off in mid-line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest
from made_rivals import assay

from assay import store
from assay.core.settings import Settings
from assay.servers import find_server, host, split_cores
from assay.servers.requires import check_all

CHECKOUT = Settings.resolve(environ={})
KEPT = Path(__file__).parents[1] / "golden" / "records" / "format-1-franklin" / "run.jsonl"
GO = check_all(find_server("quotes/go", CHECKOUT).manifest.requires)
SPLIT = split_cores()

pytestmark = [
    pytest.mark.contract,
    pytest.mark.skipif((SPLIT.client, SPLIT.server) != ((1,), (0,)), reason="recorded on other cores"),
    pytest.mark.skipif(any(tool.problem for tool in GO), reason="Go is not installed"),
]


def test_a_study_of_format_1_goes_on_behind_its_last_whole_trial(tmp_path: Path) -> None:
    header, *trials = KEPT.read_bytes().splitlines(keepends=True)[:-1]
    here = json.loads(header)
    here["environment"] |= msgspec.to_builtins(host.environment(SPLIT, {}))
    folder = tmp_path / "results" / here["run_id"]
    folder.mkdir(parents=True)
    cut = folder / "run.jsonl"
    cut.write_bytes(json.dumps(here).encode() + b"\n" + b"".join(trials[:3]) + trials[3][:2000])
    study = (CHECKOUT.root / "studies" / "franklin.toml").read_text()
    then = study.replace("measure_s = 2, warm_up_max_s = 6, ceil", "measure_s = 3, warm_up_max_s = 2.5, ceil")
    then = then.replace("measure_s = 2, warm_up_min_s", "measure_s = 4, warm_up_min_s")
    shutil.copytree(CHECKOUT.root / "servers" / "quotes", tmp_path / "servers" / "quotes")
    (tmp_path / "studies").mkdir()
    file = tmp_path / "studies" / "franklin.toml"
    file.write_text(study)
    changed = assay(tmp_path, "run", "--resume", "latest")
    assert changed.returncode == 2 and "study 'franklin' has changed since" in changed.stderr
    chosen = then.replace("measure_s = 4, warm_up_min_s", "resend = false, measure_s = 4, warm_up_min_s")
    file.write_text(chosen)
    cut.write_bytes(cut.read_bytes().replace(b'"keep_alive": true', b'"resend": true, "keep_alive": true'))
    changed = assay(tmp_path, "run", "--resume", "latest")
    assert changed.returncode == 2 and "study 'franklin' has changed since" in changed.stderr
    cut.write_bytes(cut.read_bytes().replace(b'"resend": true, ', b""))

    file.write_text(then)
    before = store.load(cut)
    ended = assay(tmp_path, "run", "--resume", "latest")
    assert ended.returncode in (0, 1), ended.stderr
    assert "the last line is torn and was left out" in ended.stderr
    after = store.load(cut)
    assert after.trials[:3] == before.trials == store.load(KEPT).trials[:3]
    assert [(trial.case, trial.block) for trial in after.trials[3:]] == [("quotes/go", 1)]
    assert after.trials[3].measurement is not None and after.judgement is not None
    assert after.judgement.complete
    # Requests were not sent again then, and are not in the trial that was to come.
    assert not after.trials[3].plan.resend
