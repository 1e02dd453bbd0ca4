"""Python's types of plans and measurements are the Rust structs'; an engine that has others is refused."""

from __future__ import annotations

import msgspec
import pytest
import schema

from assay import _engine
from assay.core.errors import EnvironmentLacks
from assay.engine import driver, merge
from assay.model import plan
from assay.model.measurement import Measurement


@pytest.mark.parametrize("module", schema.ROOTS)
def test_python_s_types_are_the_engine_s(module: str) -> None:
    written = (schema.MODEL / f"{module}.py").read_text(encoding="utf-8")
    assert written == schema.modules()[module], "make schema"


def test_a_default_that_python_cannot_say_is_told() -> None:
    types = {"Inner": {"properties": {"size": {"type": "integer", "default": 1}}}}
    held = {"$ref": "#/$defs/Inner"}
    assert schema.default_of({"size": 1}, held, types) == "Inner()"
    with pytest.raises(SystemExit, match="a default of Inner is not what Inner is by itself"):
        schema.default_of({"size": 2}, held, types)


def test_an_engine_of_another_schema_is_refused_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "SCHEMA", "00000000")
    with pytest.raises(EnvironmentLacks, match="the load engine has another schema"):
        driver._WhenUsed().version  # noqa: B018


def test_words_are_no_part_of_what_tells_schemas_apart() -> None:
    assert _engine.schema_digest() == plan.SCHEMA
    assert len(plan.SCHEMA) == 8


def test_figures_of_another_schema_are_not_added_up() -> None:
    class Other(Measurement, frozen=True, kw_only=True):
        last_byte_time: int = 0

    with pytest.raises(merge.NotOneLoad, match="figures of an engine of another version: .*last_byte_time"):
        merge.merged([msgspec.convert(_measurement(), Other)])


def _measurement() -> dict[str, object]:
    from made_runs import measurement

    return dict(msgspec.to_builtins(measurement()))
