"""Loads over an emulated network, as far as nothing has to be made for them: study, order, rules, report,
refusals."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec
import pytest
from judged import QUIET, findings_of
from made_runs import case, measurement, plan, run, server, trial
from msgspec import structs

from assay.cli import before_run
from assay.core.errors import EnvironmentLacks, InputError
from assay.core.settings import Settings
from assay.model.design import Choices
from assay.model.run import Run
from assay.model.trial import Carried, Emulation, Link
from assay.plan.next.schedule import is_interleavable
from assay.plan.resolved import ResolvedRun
from assay.plan.study import load_study, resolve
from assay.plan.study.additions import interleave_of
from assay.plan.study.load import write_example
from assay.plan.study.schema import EmulationSetting, LoadSetting, Profile
from assay.report.model.circumstances import circumstances
from assay.report.model.rows import sections
from assay.report.model.tables import results
from assay.runner import doctor
from assay.verdict.compare import compare

FAR = Emulation(round_trip_ns=20_000_000, loss=0.01)
NEAR_LOAD = "{ connections = 16, measure_s = 10, warm_up_min_s = 1, warm_up_max_s = 5 }"
EMULATION = "emulation = { round_trip_ms = 20, loss = 0.01 }"
CARRIED = Carried(packets=100_000, lost=1_000, overflowed=0, late=0, latest_ns=100_000, cpu_ns=10**9)


def written(folder: Path, more: str) -> Settings:
    """A study with the load of every study's example, and the same with `more` to it."""
    settings = structs.replace(Settings.resolve(here=folder, environ={}), cache=folder / "cache")
    path = write_example("mine", folder)[0]
    text = path.read_text()
    assert NEAR_LOAD in text
    path.write_text(text.replace(NEAR_LOAD, f"{NEAR_LOAD}, {NEAR_LOAD.replace(' }', f', {more} }}')}"))
    return settings


def resolved(folder: Path, more: str = EMULATION, choices: Choices | None = None) -> ResolvedRun:
    settings = written(folder, more)
    return resolve(load_study("mine", settings), settings, choices)


class TestStudy:
    def test_its_cases_know_how_far_their_servers_are_and_the_others_do_not(self, tmp_path: Path) -> None:
        cases = [one.case for one in resolved(tmp_path).cases if one.case.role != "control"]
        assert {one.load: one.emulation for one in cases} == {"c16": None, "c16-20ms-1%": FAR}

    def test_a_load_keeps_its_own_name_and_loss_may_be_left_out(self, tmp_path: Path) -> None:
        more = 'name = "far", emulation = { round_trip_ms = 0.5 }'
        far = [one.case for one in resolved(tmp_path, more).cases if one.case.load == "far"]
        assert far and all(one.emulation == Emulation(round_trip_ns=500_000) for one in far)

    def test_tcp_s_answer_to_loss_may_be_chosen(self, tmp_path: Path) -> None:
        more = 'emulation = { round_trip_ms = 20, congestion = "reno" }'
        far = [one.case for one in resolved(tmp_path, more).cases if one.case.load == "c16-20ms"]
        assert far and all(one.emulation and one.emulation.congestion == "reno" for one in far)

    def test_loads_over_an_emulated_network_take_no_slices_and_no_part_in_open_loops(
        self, tmp_path: Path
    ) -> None:
        study = resolved(tmp_path, choices=Choices(latency=True))
        slices = {one.case.load for group in study.interleaved for one in group}
        later = {one.case.rate.load for one in study.cases if one.case.rate is not None}
        assert slices == later == {"c16"}
        assert [is_interleavable(case("a", emulation=far), plan()) for far in (None, FAR)] == [True, False]

    def test_they_make_nobody_s_slices_longer(self) -> None:
        near = LoadSetting(connections=1, measure_s=8)
        far = LoadSetting(connections=1, measure_s=40, emulation=EmulationSetting(round_trip_ms=20))
        interleaved = [interleave_of(Profile(loads=loads), Choices()) for loads in ((near,), (near, far))]
        assert interleaved[0] == interleaved[1] is not None

    @pytest.mark.parametrize(
        ("more", "said"),
        [
            ("emulation = { round_trip_ms = 0 }", "round_trip_ms must be between 0.1 and 10000"),
            ("emulation = { round_trip_ms = nan }", "round_trip_ms must be between 0.1 and 10000"),
            ("emulation = { loss = 0.1 }", "round_trip_ms"),
            (
                "emulation = { round_trip_ms = 20, loss = 1 }",
                "loss is a share of the packets: between 0 and 0.5",
            ),
            ("emulation = { round_trip_ms = 20, loss = -0.1 }", "loss is a share of the packets"),
            ("emulation = { round_trip_ms = 20, delay = 1 }", "delay: unknown key"),
            ("emulation = 20", "emulation"),
            ('emulation = { round_trip_ms = 20, congestion = "../x" }', "names an algorithm of the kernel"),
            (f"{EMULATION}, latency = true", "what a server can do at most: leave emulation out"),
            (f'{EMULATION}, objective = "p99<50ms"', "what a server can do at most: leave emulation out"),
            (
                "emulation = { round_trip_ms = 2000 }",
                "timeout_s must be 4 round trips of its emulation or more",
            ),
        ],
    )
    def test_nonsense_is_told_in_a_line(self, tmp_path: Path, more: str, said: str) -> None:
        settings = written(tmp_path, more)
        with pytest.raises(InputError) as caught:
            load_study("mine", settings)
        assert said in str(caught.value) and "loads[1]" in str(caught.value)

    def test_a_server_there_has_no_way_to_its_service(self, tmp_path: Path) -> None:
        settings = written(tmp_path, EMULATION)
        contract = tmp_path / "servers" / "mine" / "contract.toml"
        contract.write_text(contract.read_text() + "\n[services.redis]\n")
        with pytest.raises(InputError, match=r"'c16-20ms-1%' is over an emulated network: mine/.* 'redis'"):
            resolve(load_study("mine", settings), settings)

    def test_a_cluster_has_no_such_links(self, tmp_path: Path) -> None:
        args = argparse.Namespace(ray="127.0.0.1:6379", generators=None)
        somewhere = before_run.somewhere(
            args, resolved(tmp_path), Settings.resolve(here=tmp_path, environ={})
        )
        with (
            pytest.raises(InputError, match="--ray: load 'c16-20ms-1%' needs network emulation"),
            somewhere,
        ):
            raise AssertionError("it is refused before")


def over(carried: Carried, **changes: object) -> Run:
    """Six trials of a case over a link with a delay."""
    link = Link(same_machine=True, emulation=FAR, carried=carried, congestion="cubic")
    trials = [trial("a", block, None, link=link, **changes) for block in range(6)]
    return run([case("a", emulation=FAR)], trials)


class TestRules:
    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({}, None),
            ({"overflowed": 100}, None),
            ({"overflowed": 101}, "lost 0.10 % of its packets as they found no room"),
            ({"late": 5_000}, None),
            ({"late": 5_001, "latest_ns": 7_000_000}, "sent 5.0 % of its packets late, by up to 7.00 ms"),
        ],
    )
    def test_a_link_that_was_not_as_asked_was_full(self, changes: dict[str, int], said: str | None) -> None:
        found = findings_of(over(msgspec.structs.replace(CARRIED, **changes))).get("G6")
        assert (found is None) == (said is None)
        if found is not None and said is not None:
            assert said in found.evidence
            assert (found.on_throughput, found.on_times) == ("at least", "at most")

    def test_packets_lost_by_chance_are_what_was_asked_for(self) -> None:
        assert "G6" not in findings_of(over(msgspec.structs.replace(CARRIED, lost=50_000)))

    def test_the_program_of_the_link_is_no_other_program(self) -> None:
        busy = msgspec.structs.replace(QUIET, busy_cores=1.99, server_cpus_idle_share=0.01)
        idle = msgspec.structs.replace(CARRIED, cpu_ns=0)
        much = msgspec.structs.replace(CARRIED, cpu_ns=6 * 10**9)
        busy = msgspec.structs.replace(busy, client_cpus_idle_share=0.0)
        assert "H2" in findings_of(over(idle, host=busy))
        assert "H2" not in findings_of(over(much, host=busy))

    def test_a_generator_without_time_for_its_link_is_not_told_to_stop_other_programs(self) -> None:
        host = msgspec.structs.replace(QUIET, client_cpus_idle_share=0.02)
        much = msgspec.structs.replace(CARRIED, cpu_ns=55 * 10**8)
        found = findings_of(over(much, host=host))["G6"]
        assert "the link's program used 55 % of the client's cores, the generator 40 %" in found.evidence
        assert found.remedy.startswith("ask for less over it")
        assert (found.on_throughput, found.on_times) == ("at least", "at most")
        assert "other programs" in findings_of(over(CARRIED, host=host))["H2"].remedy

    def test_answers_that_are_cut_off_at_the_ends_are_no_other_answers(self) -> None:
        def found(emulation: Emulation | None) -> bool:
            cases = [case(name, emulation=emulation) for name in "ab"]
            trials = [
                trial(name, block, measurement(20, connections=8, bytes_each=size), plan=plan(8))
                for block in range(6)
                for name, size in (("a", 100_000), ("b", 107_000))  # 200 answers, 8 under way at the end
            ]
            return "W3" in findings_of(run(cases, trials))

        assert found(None) and not found(FAR)

    def test_the_way_sets_the_pace_on_purpose(self) -> None:
        idle = server(cpu_share=0.02)
        near = run([case("a")], [trial("a", block, server=idle) for block in range(6)])
        assert "M7" in findings_of(near)
        assert "M7" not in findings_of(over(CARRIED, server=idle))


class TestReport:
    def test_the_circumstances_say_how_far_and_what_was_carried(self) -> None:
        told = list(circumstances(over(CARRIED)))
        [load] = [how for what, how in told if what == "load"]
        assert load.endswith(", over a link of 20 ms there and back, 1 % of packets lost each way")
        [link] = [how for what, how in told if what == "link"]
        assert link == (
            "20 ms there and back, 1 % of packets lost each way: 600,000 packets, 1.0 % lost by chance, "
            "0 % for want of room, 0 % sent late; TCP by cubic"
        )

    def test_a_near_load_beside_it_says_nothing_of_it(self) -> None:
        far, near = over(CARRIED), run([case("b")], [trial("b", block) for block in range(6)])
        cases = (*far.header.cases, *near.header.cases)
        header = msgspec.structs.replace(far.header, cases=cases)
        made = msgspec.structs.replace(far, header=header, trials=(*far.trials, *near.trials))
        loads = [how for what, how in circumstances(made) if what == "load"]
        assert ["link of" in one for one in loads] == [True, False]

    def test_the_table_says_that_the_way_is_in_the_times(self) -> None:
        [section] = sections(over(CARRIED))
        note = results(section).note
        assert note.startswith("asked over a link of 20 ms there and back, 1 % of packets lost each way; ")
        assert "service time, the way there and back in it" in note
        assert measurement().completed  # times are shown at all


def test_runs_whose_loads_differ_in_emulation_are_warned_of() -> None:
    near = run([case("a")], [trial("a", block) for block in range(6)])
    said = "a: loads over different networks, none and 20 ms there and back, 1 % of packets lost each way"
    assert said in compare(near, over(CARRIED), {}).warnings
    assert not [one for one in compare(near, near, {}).warnings if "emulation" in one]


def test_the_doctor_minds_only_where_a_study_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacks = EnvironmentLacks("a link with a delay needs what is not there", "run as root")
    monkeypatch.setattr(doctor, "lacking", lambda: lacks)
    far = resolved(tmp_path)
    near = structs.replace(far, cases=tuple(one for one in far.cases if one.case.emulation is None))
    settings = Settings.resolve(here=tmp_path, environ={})

    def seen(study: ResolvedRun) -> doctor.Fitness:
        return next(one for one in doctor.machine(settings, study) if one.name == "links with a delay")

    assert (seen(far).fit, seen(far).remedy) == (False, "run as root")
    assert seen(near).fit and "not there" in seen(near).state
