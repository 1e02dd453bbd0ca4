"""The clinic's small Lua framework, in both Luas that it runs on: templates, routes, forms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lupa import lua54, luajit21

FOLDER = Path(__file__).resolve().parents[2] / "servers" / "petclinic" / "lua"
LUAS = {"Lua 5.4": lua54, "LuaJIT": luajit21}
Render = Callable[..., str]


class Lua:
    """A fresh interpreter that finds the framework's modules."""

    def __init__(self, kind: str) -> None:
        self.module = LUAS[kind]
        self.runtime = self.module.LuaRuntime()
        self.runtime.globals().package.path = f"{FOLDER}/?.lua"

    def table(self, value: Any) -> Any:  # noqa: ANN401  (any Python value there is a Lua one for)
        """Dictionaries and lists as Lua tables, all the way down."""
        if isinstance(value, dict):
            return self.runtime.table_from({key: self.table(inner) for key, inner in value.items()})
        if isinstance(value, list):
            return self.runtime.table_from([self.table(inner) for inner in value])
        return value

    def require(self, name: str) -> Any:  # noqa: ANN401  (a Lua module)
        """A module of the framework."""
        return self.runtime.eval(f'(require "{name}")')

    def render(self, templates: dict[str, str], context: dict[str, object]) -> str:
        """`page` of `templates`."""
        page = self.require("web.template").set(templates.__getitem__)
        text: str = page("page", self.table(context))
        return text

    def error_of(self, templates: dict[str, str], context: dict[str, object]) -> str:
        """What rendering says that is wrong."""
        with pytest.raises(self.module.LuaError) as caught:
            self.render(templates, context)
        return str(caught.value)


@pytest.fixture(params=sorted(LUAS), scope="module")
def lua(request: pytest.FixtureRequest) -> Lua:
    return Lua(request.param)


# --- templates ----------------------------------------------------------------------------


@given(text=st.text())
def test_what_is_printed_cannot_leave_its_place(lua: Lua, text: str) -> None:
    page = lua.render({"page": '<p title="{{ x }}">{{ x }}</p>'}, {"x": text})
    inside = page.removeprefix('<p title="').removesuffix("</p>")
    assert not set(inside.replace('">', "", 1)) & set("<>\"'")
    escaped = text
    for letter, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        escaped = escaped.replace(letter, entity)
    assert page == f'<p title="{escaped}">{escaped}</p>'


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="{")))
def test_text_without_braces_stays_as_it_is(lua: Lua, text: str) -> None:
    assert lua.render({"page": text}, {}) == text


def test_a_child_fills_its_parents_blocks_and_leaves_the_others(lua: Lua) -> None:
    templates = {
        "layout": "<{% block title %}none{% endblock %}|{% block body %}empty{% endblock %}>",
        "middle": '{% extends "layout" %}{% block title %}middle{% endblock %}',
        "page": '{% extends "middle" %}{% block body %}{{ x }}{% endblock %} outside a block',
    }
    assert lua.render(templates, {"x": 3}) == "<middle|3>"


def test_statements_alone_on_a_line_take_the_line_with_them(lua: Lua) -> None:
    row = "  {% if x.shown %}\n  <li>{{ x.name }}</li>\n  {% endif %}\n"
    page = "<ul>\n  {% for x in xs %}\n" + row + "  {% endfor %}\n</ul>\n"
    xs = [{"name": "a", "shown": True}, {"name": "b", "shown": False}, {"name": "c", "shown": True}]
    assert lua.render({"page": page}, {"xs": xs}) == "<ul>\n  <li>a</li>\n  <li>c</li>\n</ul>\n"


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("x == 'a'", "yes"),
        ("x ~= 'a'", "no"),
        ("not x", "no"),
        ("y and x", "no"),
        ("y or x", "yes"),
        ("not (y or x == 'b')", "yes"),
        ("z.inner.value == 2", "yes"),
    ],
)
def test_conditions(lua: Lua, expression: str, shown: str) -> None:
    page = "{% if " + expression + " %}yes{% elif false %}never{% else %}no{% endif %}"
    context: dict[str, object] = {"x": "a", "y": False, "z": {"inner": {"value": 2}}}
    assert lua.render({"page": page}, context) == shown


def test_a_loops_name_hides_a_value_of_that_name_inside_the_loop_only(lua: Lua) -> None:
    page = "{{ x }}{% for x in xs %}{{ x }}{% endfor %}{{ x }}"
    assert lua.render({"page": page}, {"x": "-", "xs": ["a", "b"]}) == "-ab-"


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("{{ x }}", "a template prints a value that is not set"),
        ("a\n{% if x %}", "page line 2: if is never closed"),
        ("a\n\n{% endfor %}", "page line 3: endfor closes no for"),
        ("{% if x %}{% endfor %}", "page line 1: endfor closes no for"),
        ("{% shout x %}", "page line 1: unknown statement shout x"),
        ("{% for x %}{% endfor %}", "page line 1: for wants: for NAME in LIST"),
        ("{{ os.exit() }}", "not set|cannot read|attempt to"),
        ("{{ x; os.exit() }}", "page line 1: cannot read the expression"),
        ("{{ [[x]] }}", "page line 1: cannot read the expression"),
        ("{% extends layout %}", "page line 1: extends wants a name in double quotes"),
        ("a {{ x", "line 1: {{ without }}"),
    ],
)
def test_a_wrong_template_is_told_by_its_line(lua: Lua, page: str, problem: str) -> None:
    said = lua.error_of({"page": page}, {})
    assert any(part in said for part in problem.split("|")), said


def test_a_template_is_read_once(lua: Lua) -> None:
    read: list[str] = []

    def source(name: str) -> str:
        read.append(name)
        return "page"

    page = lua.require("web.template").set(source)
    assert [page("x", lua.table({})), page("x", lua.table({}))] == ["page", "page"]
    assert read == ["x"]


# --- routes -------------------------------------------------------------------------------

ROUTES = """
local router = require("web.router").new()
router:add("GET", "/", "front")
router:add("GET", "/owners/new", "new")
router:add("POST", "/owners/new", "add")
router:add("GET", "/owners/:owner_id[%d]", "owner")
router:add("GET", "/owners/:owner_id[%d]/pets/:pet[%w]/edit", "pet")
router:add("GET", "/files/:name", "file")
return function(method, path)
  local handler, params, allowed = router:match(method, path)
  local said = {}
  for name, value in pairs(params or {}) do said[#said + 1] = name .. "=" .. value end
  table.sort(said)
  return handler or allowed or "nothing", table.concat(said, " ")
end
"""


@pytest.mark.parametrize(
    ("method", "path", "leads_to"),
    [
        ("GET", "/", ("front", "")),
        ("HEAD", "/", ("front", "")),
        ("POST", "/", ("GET, HEAD", "")),
        ("GET", "/owners/new", ("new", "")),
        ("POST", "/owners/new", ("add", "")),
        ("DELETE", "/owners/new", ("GET, HEAD, POST", "")),
        ("GET", "/owners/12", ("owner", "owner_id=12")),
        ("PUT", "/owners/12", ("GET, HEAD", "")),
        ("GET", "/owners/12/pets/b7/edit", ("pet", "owner_id=12 pet=b7")),
        ("GET", "/owners/twelve", ("nothing", "")),
        ("GET", "/owners/12/", ("nothing", "")),
        ("GET", "/owners/", ("nothing", "")),
        ("GET", "/files/a.b-c", ("file", "name=a.b-c")),
        ("GET", "/files/a/b", ("nothing", "")),
        ("GET", "/filesXa", ("nothing", "")),
    ],
)
def test_routes(lua: Lua, method: str, path: str, leads_to: tuple[str, str]) -> None:
    assert tuple(lua.runtime.execute(ROUTES)(method, path)) == leads_to


# --- forms --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "value", "message"),
    [
        ("required", "", "Required"),
        ("required", "x", None),
        ("at_most(3)", "äöü", None),
        ("at_most(3)", "äöüß", "At most 3 characters"),
        ("at_most(3)", "日本語", None),
        ('matches("^%d$", "one digit")', "12", "one digit"),
        ("date", "2024-02-29", None),
        ("date", "2023-02-29", "A date such as 2024-05-31"),
        ("date", "1900-02-29", "A date such as 2024-05-31"),
        ("date", "2000-02-29", None),
        ("date", "2024-13-01", "A date such as 2024-05-31"),
        ("date", "2024-00-01", "A date such as 2024-05-31"),
        ("date", "2024-04-31", "A date such as 2024-05-31"),
        ("date", "2024-04-00", "A date such as 2024-05-31"),
        ("date", "24-04-01", "A date such as 2024-05-31"),
        ("date", "2024-4-1", "A date such as 2024-05-31"),
        ("not_in_the_future", "1970-01-01", None),
        ("not_in_the_future", "9999-12-31", "Not in the future"),
        ('one_of({ { value = "1" } })', "1", None),
        ('one_of({ { value = "1" } })', "2", "Choose one"),
    ],
)
def test_rules(lua: Lua, rule: str, value: str, message: str | None) -> None:
    assert lua.runtime.eval(f'require("web.form").rules.{rule}')(value) == message


def test_the_first_broken_rule_speaks_and_values_are_trimmed(lua: Lua) -> None:
    read = lua.runtime.execute(
        """
        local form = require "web.form"
        local rules = form.rules
        local strict = { rules.required, rules.at_most(2) }
        local fields = { { name = "a", rules = strict }, { name = "b", rules = {} } }
        return function(param)
          local values, problems = form.read(fields, param)
          return values.a, values.b, problems and problems.a
        end
        """
    )
    assert tuple(read({"a": " \t ", "b": " x y "}.get)) == ("", "x y", "Required")
    assert tuple(read({"a": "abc"}.get)) == ("abc", "", "At most 2 characters")
    assert tuple(read({"a": " ab\n"}.get))[0] == "ab"
    assert tuple(read({"a": " ab\n"}.get))[2] is None
