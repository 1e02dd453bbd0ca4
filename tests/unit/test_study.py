"""Study files and what they resolve to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from assay.core import vault
from assay.core.errors import InputError
from assay.core.settings import Settings
from assay.model.design import Choices, Design, RuleSetting, StudyDesign
from assay.model.finding import Claim
from assay.model.plan import Closed, Open, StopAfter, StopAtCount
from assay.plan.resolved import ResolvedRun
from assay.plan.study import json_schema, list_studies, load_study, resolve
from assay.servers import CoreSplit

CONTRACT = """
format = 1
name = "c"
title = "C"
[services.redis]
[[routes]]
name = "r"
target = "/r"
[routes.answer]
[[routes]]
name = "s"
method = "POST"
target = "/s"
body = "b"
optional = true
[routes.answer]
status = 201
"""

SERVER = """
format = 1
title = "Server {name}"
language = "C"
framework = "none"
{more}
[version]
command = ["true"]
[run]
command = ["server", "{{port}}"]
[facts]
workers = "{{cores}}"
[variants.published]
facts = {{ workers = "16" }}
"""

STUDY = """
format = 1
name = "n"
title = "T"
question = "Q?"

[[servers]]
server = "c/a"
figures = [{ throughput_per_s = 12.5 }]

[[servers]]
server = "c/b"
label = "B"

[[servers]]
server = "c/b"
name = "big"
env = { HEAP = "1g" }
args = ["--big"]
facts = { heap = "1g" }
profiles = ["fair"]

[[servers]]
server = "c/null"

[[workloads]]
name = "w"
routes = ["r"]

[profiles.fair]
blocks = 8
ceiling_s = 3
loads = [{ connections = 64, measure_s = 10, warm_up_min_s = 1, warm_up_max_s = 5 }]

[profiles.published]
blocks = 1
[[profiles.published.loads]]
connections = [10, 500]
threads = [5, 10]
requests = 1000
timeout_s = 2
[[profiles.published.loads]]
name = "open"
connections = 100
rate_per_s = 2000.0
arrivals = "constant"
measure_s = 4
servers = ["c/a"]

[[claims]]
id = "x"
statement = "A beats B"
comparisons = [{ a = "c/a", b = "c/b", published_ratio = 2.0 }]

[[claims]]
id = "y"
statement = "fewer threads help A"
comparisons = [{ a = "c/a", b = "c/a", load_a = "t5-c500", load_b = "t10-c500" }]

[rules.S7]
thresholds = { window = 3.0 }
reason = "nothing here takes longer"
"""

SPLIT = CoreSplit(client=(2, 3), server=(0, 1), cores=4)


def settings(tmp_path: Path) -> Settings:
    made = Settings.resolve(here=tmp_path, environ={})
    return replace(made, server_folders=(tmp_path / "servers",), study_folders=(tmp_path / "studies",))


def write(tmp_path: Path, text: str = STUDY) -> Path:
    contract = tmp_path / "servers" / "c"
    contract.mkdir(parents=True)
    (contract / "contract.toml").write_text(CONTRACT)
    for name, more in (("a", 'routes = ["s"]'), ("b", ""), ("null", 'role = "ceiling"')):
        (contract / name).mkdir()
        (contract / name / "server.toml").write_text(SERVER.format(name=name, more=more))
    (tmp_path / "studies").mkdir()
    path = tmp_path / "studies" / "n.toml"
    path.write_text(text)
    return path


def resolved(tmp_path: Path, text: str = STUDY, **chosen: Any) -> ResolvedRun:  # noqa: ANN401 - handed on to resolve
    write(tmp_path, text)
    return resolve(load_study("n", settings(tmp_path)), settings(tmp_path), Choices(**chosen), split=SPLIT)


def test_the_fair_profile_is_every_server_at_its_load(tmp_path: Path) -> None:
    study = resolved(tmp_path, seed=7)
    assert [case.case.id for case in study.cases] == ["c/a", "c/b", "c/b+big", "c/null", "c/a+again"]
    assert (study.blocks, study.design.seed, design(study).choices.profile) == (8, 7, "fair")
    first, second, big, null, _ = study.cases
    assert first.case.facts == {"workers": 2}
    assert first.case.role == "candidate"
    assert null.case.role == "ceiling"
    assert second.case.label == "B"
    assert big.server.env == {"HEAP": "1g"}
    assert big.server.command == ("server", "{port}", "--big")
    assert big.case.facts == {"workers": 2, "heap": "1g"}
    plan = first.plan
    assert plan.load == Closed(connections=64)
    assert plan.stop == StopAfter(ns=10 * 10**9)
    assert plan.threads == 2
    assert plan.warmup_max_ns > first.warm_up.max_ns == 5 * 10**9
    assert plan.requests[0].target == "/r"
    assert null.plan.stop == StopAfter(ns=3 * 10**9)
    assert null.warm_up.max_ns == null.warm_up.min_ns == 10**9


def test_sweeps_become_loads_and_limited_loads_keep_to_their_servers(tmp_path: Path) -> None:
    study = resolved(tmp_path, profile="published")
    loads = ["t5-c10", "t5-c500", "t10-c10", "t10-c500"]
    expected = [f"c/a@{load}" for load in [*loads, "open"]]
    expected += [f"{server}@{load}" for server in ("c/b", "c/null") for load in loads]
    assert [case.case.id for case in study.cases] == expected
    swept = study.cases[1].plan
    assert (swept.load, swept.threads, swept.stop) == (
        Closed(connections=500),
        5,
        StopAtCount(count=1000),
    )
    assert swept.warmup_max_ns == 0
    assert swept.timeout_ns == 2 * 10**9
    assert study.cases[0].case.facts == {"workers": 16}
    opened = study.cases[4].plan.load
    assert isinstance(opened, Open)
    assert (opened.max_connections, opened.arrivals) == (100, "constant")
    assert [(stage.from_per_s, stage.to_per_s) for stage in opened.stages] == [(2000, 2000)]
    assert opened.stages[0].duration_ns >= 4 * 10**9


def claims(study: ResolvedRun) -> dict[str, Claim]:
    return {claim.id: claim for claim in design(study).claims}


def design(study: ResolvedRun) -> StudyDesign:
    assert isinstance(study.design, StudyDesign)
    return study.design


@pytest.mark.parametrize(("http", "url"), [("2", "http://127.0.0.1/"), ("3", "https://127.0.0.1/")])
def test_a_load_may_be_of_another_http(tmp_path: Path, http: str, url: str) -> None:
    old, more = "connections = 100\n", f'http = "{http}"\nstreams = 8\n'
    cases = resolved(tmp_path, STUDY.replace(old, old + more, 1), profile="published").cases
    spoken = {(case.plan.http, case.plan.streams, case.plan.url) for case in cases}
    assert spoken == {("1", 1, "http://127.0.0.1/"), (http, 8, url)}
    assert {case.contract.spoken.http for case in cases} == {"1", http}


def test_claims_are_about_cases(tmp_path: Path) -> None:
    fair = claims(resolved(tmp_path))
    assert [(one.a, one.b, one.published_ratio) for one in fair["x"].comparisons] == [("c/a", "c/b", 2.0)]
    assert fair["y"].comparisons == ()  # the profile has no such loads


def test_a_claim_without_a_load_is_about_every_load(tmp_path: Path) -> None:
    published = claims(resolved(tmp_path, profile="published"))
    pairs = [(one.a, one.b) for one in published["x"].comparisons]
    assert ("c/a@t5-c10", "c/b@t5-c10") in pairs
    assert len(pairs) == 5
    assert [(one.a, one.b) for one in published["y"].comparisons] == [("c/a@t5-c500", "c/a@t10-c500")]


def test_quick_is_shorter_and_says_what_that_costs(tmp_path: Path) -> None:
    study = resolved(tmp_path, quick=True)
    assert study.blocks == 3
    assert study.cases[0].plan.stop == StopAfter(ns=4 * 10**9)
    assert study.cases[0].warm_up.max_ns == 2 * 10**9
    assert study.cases[3].plan.stop == StopAfter(ns=2 * 10**9)
    # t(0.975, 2)/sqrt(3) over t(0.975, 7)/sqrt(8), from printed tables: 2.484 / 0.836
    assert study.notes[0].startswith(
        "quick: 3 blocks of shorter trials instead of 8 (intervals about 3.0 times as wide)"
    )
    assert "no ranking" not in study.notes[0]  # three blocks are enough for one
    fewer = resolved(tmp_path / "fewer", quick=True, blocks=2)
    assert "as wide, no ranking)" in fewer.notes[0]
    assert not any(
        "quick" in note for note in resolve(load_study("n", settings(tmp_path)), settings(tmp_path)).notes
    )


def test_chosen_servers_keep_the_null_server(tmp_path: Path) -> None:
    assert [case.case.id for case in resolved(tmp_path, servers=("c/b",)).cases] == ["c/b", "c/null"]
    with pytest.raises(InputError, match="profile 'fair' has no server 'c/x'"):
        resolve(load_study("n", settings(tmp_path)), settings(tmp_path), Choices(servers=("c/x",)))


def test_optional_routes_are_asked_of_the_servers_that_have_them(tmp_path: Path) -> None:
    text = STUDY + '[[workloads]]\nname = "x"\nroutes = ["r", "s"]\nweights = [3, 1]\norder = "random"\n'
    study = resolved(tmp_path, text)
    assert [case.case.id for case in study.cases if case.case.workload == "x"] == ["c/a@x"]
    mixed = next(case for case in study.cases if case.case.id == "c/a@x").plan
    assert [(one.method, one.target, one.body, one.weight) for one in mixed.requests] == [
        ("GET", "/r", None, 3),
        ("POST", "/s", vault.token("b"), 1),
    ]
    assert mixed.request_order == "random"


def test_services_come_from_the_contract(tmp_path: Path) -> None:
    study = resolved(tmp_path, STUDY + '[services.redis]\nurl = "redis://127.0.0.1:1"\n')
    assert [(one.name, one.url) for one in study.services] == [("redis", "redis://127.0.0.1:1")]
    assert study.cases[0].server.services == ("redis",)


def test_the_record_holds_what_a_report_needs(tmp_path: Path) -> None:
    kept = design(resolved(tmp_path))
    assert (kept.title, kept.question) == ("T", "Q?")
    assert kept.rules == {"S7": RuleSetting(thresholds={"window": 3.0}, reason="nothing here takes longer")}
    assert kept.figures["c/a"][0].throughput_per_s == 12.5
    assert msgspec.json.decode(msgspec.json.encode(kept), type=Design) == kept


def test_what_a_profile_varies_on_purpose_it_allows_by_itself(tmp_path: Path) -> None:
    swept = 'rules.W6 = { thresholds = { allowed = 1 }, reason = "swept" }\n'
    text = STUDY.replace("blocks = 8\n", f"blocks = 8\n{swept}", 1)
    rules = resolved(tmp_path, text).design.rules
    assert rules["W6"] == RuleSetting(thresholds={"allowed": 1.0}, reason="swept") and "S7" in rules
    assert "W6" not in resolved(tmp_path / "again", text, profile="published").design.rules


def test_a_server_of_another_profile_is_said_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        resolved(tmp_path, profile="published", servers=("c/b+big",))
    assert "profile 'published' has no server 'c/b+big'; it is in: --profile fair" in str(caught.value)


def test_the_time_it_takes_is_told(tmp_path: Path) -> None:
    least, most = resolved(tmp_path).expected_s()
    assert 8 * (3 * 10 + 3) < least < most < 8 * (4 * (10 + 5 + 5 + 10))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('server = "c/a"\n', 'server = "c/aa"\n', ":8: servers[0].server: there is no server 'c/aa'"),
        ('name = "big"\n', "", ":15: servers[2].name: 'c/b' is there twice"),
        ('routes = ["r"]', 'routes = ["q"]', ":28: workloads[0].routes: there is no route 'q'"),
        ("measure_s = 10, ", "", "profiles.fair.loads[0]: give either measure_s or requests"),
        (
            "connections = 100\n",
            "connections = 100\nstreams = 2\n",
            "loads[1]: streams belong to HTTP/2 and HTTP/3: add http",
        ),
        ("connections = 100\n", "connections = 0\n", "loads[1]: connections must be above 0"),
        ("blocks = 8", "block = 8", ":31: profiles.fair.block: unknown key; did you mean 'blocks'?"),
        (
            "[profiles.published]\nblocks",
            "[profiles.publish]\nblocks",
            ":35: profiles.publish: 'publish' is not known",
        ),
        ('a = "c/a", b = "c/b"', 'a = "c/a", b = "c/bb"', "comparisons[0].b: there is no server 'c/bb'"),
        ('load_b = "t10-c500"', 'load_b = "t10"', "load_b: there is no load 't10'; did you mean"),
        ("[rules.S7]", "[rules.S77]", ":60: rules.S77: there is no rule 'S77'"),
        (
            "blocks = 8",
            "rules.W66 = { thresholds = {}, reason = 'r' }\nblocks = 8",
            "profiles.fair.rules.W66: there is no rule",
        ),
        ("window = 3.0", "windwo = 3.0", "rules.S7: rule S7 has no threshold 'windwo'"),
        ('servers = ["c/a"]', 'servers = ["a"]', "loads[1].servers: there is no server 'a'"),
        ('name = "open"\n', 'name = "t5-c10"\n', "profiles.published.loads: 't5-c10' is there twice"),
    ],
)
def test_a_wrong_study_is_told_with_line_and_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in STUDY
    path = write(tmp_path, STUDY.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        load_study("n", settings(tmp_path))
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_an_unknown_variant_is_told_where_the_study_names_it(tmp_path: Path) -> None:
    write(tmp_path, STUDY.replace('label = "B"', 'variant = { fair = "fiar" }'))
    with pytest.raises(InputError, match=r"n.toml:13: servers\[1\].variant.fair: server c/b has no variant"):
        load_study("n", settings(tmp_path))


def test_an_unknown_study_or_profile_is_told(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(InputError, match="there is no study 'm'"):
        load_study("m", settings(tmp_path))
    with pytest.raises(InputError, match="has no profile 'unfair'; did you mean 'fair'"):
        resolve(load_study("n", settings(tmp_path)), settings(tmp_path), Choices(profile="unfair"))


def test_an_entry_and_a_load_may_have_any_sign_in_their_names(tmp_path: Path) -> None:
    text = STUDY.replace('name = "big"', 'name = "me@home"').replace('name = "open"', 'name = "open@2000"')
    cases = [one.case for one in resolved(tmp_path, text, profile="published").cases]
    ours = next(case for case in cases if case.load == "open@2000")
    assert (ours.entry, ours.where, ours.name) == ("c/a", ("open@2000",), "c/a@open@2000")
    again = resolve(load_study("n", settings(tmp_path)), settings(tmp_path), Choices()).cases
    entries = [one.case.server_name for one in again]
    assert entries == ["c/a", "c/b", "c/b+me@home", "c/null", "c/a+again"]


def test_studies_are_found_by_name_and_path(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert list_studies(settings(tmp_path)) == (path,)
    assert load_study(str(path), settings(tmp_path)).file.name == "n"


def test_every_study_of_this_checkout_resolves() -> None:
    here = Settings.resolve(environ={})
    for path in list_studies(here):
        study = load_study(str(path), here)
        assert study.file.name == path.stem
        for profile in study.file.profiles:
            assert resolve(study, here, Choices(profile=profile), split=SPLIT).cases


def test_the_schema_is_of_a_study() -> None:
    assert "StudyFile" in json_schema()["$defs"]


def test_a_workload_names_its_bottleneck_and_the_one_whose_input_it_repeats(tmp_path: Path) -> None:
    more = '[[workloads]]\nname = "same"\nroutes = ["r"]\nsame_input_of = "w"\nbottleneck = "a wait"\n'
    study = resolved(tmp_path, STUDY.replace("[profiles.fair]", f"{more}\n[profiles.fair]", 1), seed=1)
    facts = {case.case.id: case.case.facts for case in study.cases}
    assert facts["c/a@same"] == {"workers": 2, "same_input_of": "c/a@w", "bottleneck": "a wait"}
    assert facts["c/a@w"] == {"workers": 2}


def test_a_workload_cannot_repeat_an_input_that_is_not_there(tmp_path: Path) -> None:
    more = '[[workloads]]\nname = "same"\nroutes = ["r"]\nsame_input_of = "x"\n'
    with pytest.raises(InputError, match="there is no other workload 'x'"):
        resolved(tmp_path, STUDY.replace("[profiles.fair]", f"{more}\n[profiles.fair]", 1))
