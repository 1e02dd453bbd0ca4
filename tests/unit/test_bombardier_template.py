"""Go templates: what is understood is filled in as Go does it, what is not is named with its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.dropin.bombardier.template import TemplateError, parse, render
from assay.dropin.bombardier.template.functions import CORE, Duration, printf

FUNCTIONS = {**CORE, "Fail": lambda: [][1]}
DATA = {
    "Name": "x",
    "Zero": 0,
    "List": ["a", "b", "c"],
    "Empty": [],
    "Map": {0.5: 10, 0.1: 20},
    "Time": Duration(90 * 10**9),
    "Half": 0.5,
    "Nothing": None,
    "Deep": {"Er": {"Est": 3}, "Twice": lambda value: value * 2},
}


def filled(text: str) -> str:
    return render(parse(text, frozenset(FUNCTIONS)), DATA, FUNCTIONS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain }} text", "plain }} text"),
        ("a {{- .Name -}} b", "axb"),
        ("a {{/* note\n*/}}b {{- /* note */ -}} c", "a bc"),
        ("{{.Deep.Er.Est}} {{$.Deep.Er.Est}} {{(.Deep).Er.Est}}", "3 3 3"),
        ("{{.Deep.Twice 4}} {{5 | .Deep.Twice}}", "8 10"),
        ("{{if .Zero}}y{{else if .Name}}n{{else}}z{{end}}", "n"),
        ("{{with .Empty}}y{{else}}n {{.Name}}{{end}}", "n x"),
        ("{{with .Deep}}{{.Er.Est}}{{end}}", "3"),
        ("{{with $n := .Name}}{{$n}}{{.}}{{end}}", "xx"),
        ("{{range .List}}{{.}},{{end}}{{range .Empty}}y{{else}}none{{end}}", "a,b,c,none"),
        ("{{range $i, $e := .List}}{{if $i}}, {{end}}{{$i}}={{$e}}{{end}}", "0=a, 1=b, 2=c"),
        ("{{range $k, $v := .Map}}{{$k}}:{{$v}} {{end}}", "0.1:20 0.5:10 "),
        ("{{range .List}}{{if eq . `b`}}{{continue}}{{end}}{{.}}{{end}}", "ac"),
        ("{{range .List}}{{if eq . `b`}}{{break}}{{end}}{{.}}{{end}}", "a"),
        ("{{$x := 1}}{{range .List}}{{$x = len .}}{{$y := 7}}{{end}}{{$x}}", "1"),
        ("{{$x := 0}}{{if true}}{{$x = 5}}{{end}}{{$x}}", "5"),
        (
            "{{eq 1 2 1}} {{ne 1 2}} {{lt 1 1.5}} {{le 2 2}} {{gt `b` `a`}} {{ge 1 2}}",
            "true true true true true false",
        ),
        ("{{and 1 0 2}} {{or 0 `` 3}} {{not 0}} {{and true (eq .Name `x`)}}", "0 3 true true"),
        ("{{and .Zero Fail}} {{or 1 Fail}}", "0 1"),
        ("{{len .List}} {{len `äb`}} {{index .List 1}} {{index .Map 0.5}}", "3 3 b 10"),
        ("{{print 1 2 `a` `b` 3}}|{{println 1 `a`}}", "1 2ab3|1 a\n"),
        (
            "{{.Time}} {{.Time.Seconds}} {{.Half}} {{.List}} {{.Map}} {{true}}",
            "1m30s 90 0.5 [a b c] map[0.1:20 0.5:10] true",
        ),
        ('{{.Nothing}} {{\'a\'}} {{1e3}} {{0x10}} {{"q\\"\\n"}}', '<nil> 97 1000 16 q"\n'),
    ],
)
def test_what_is_understood_is_filled_in(text: str, expected: str) -> None:
    assert filled(text) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("\n\n{{template `x`}}", "line 3: {{template}} is not supported here"),
        ("{{block `x` .}}", "line 1: {{block}} is not supported here"),
        ("{{\n urlquery .Name}}", "line 2: function 'urlquery' is not supported here"),
        ("{{end}}", "line 1: unexpected {{end}}"),
        ("{{with .Name}}", "line 1: {{with}} without its {{end}}"),
        ("{{break}}", "line 1: {{break}} outside of {{range}}"),
        ("{{$x}}", "line 1: undefined variable $x"),
        ("{{range $i, $e := .List}}{{end}}{{$i}}", "line 1: undefined variable $i"),
        ("{{.Name", "line 1: unclosed action"),
        ("{{/* x", "line 1: unclosed comment"),
        ("{{}}", "line 1: a value is missing"),
        ("{{%}}", "line 1: unexpected '%' in an action"),
        ("{{.Missing}}", "line 1: can't evaluate field Missing"),
        ("{{.Nothing.X}}", "line 1: nil pointer evaluating .X"),
        ("{{.Name 1}}", "line 1: Name is not a method but has arguments"),
        ("{{range .Half}}{{end}}", "line 1: range can't iterate over 0.5"),
        ("{{eq 1 `a`}}", "line 1: error calling eq: incompatible types for comparison"),
        ("{{index .List 9}}", "line 1: error calling index: index out of range: 9"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(TemplateError) as found:
        filled(text)
    assert str(found.value) == problem


@pytest.mark.parametrize(
    ("form", "values", "expected"),
    [
        ("%5d|%-5d|%05d|%+d", (42, 42, 42, 42), "   42|42   |00042|+42"),
        ("%8.2f|%e|%g", (3.14159, 1500.0, 0.5), "    3.14|1.500000e+03|0.5"),
        ("%-10v|%10v|%v", ("ab", "cd", [1, 2]), "ab        |        cd|[1 2]"),
        ("%s %q %x %t %%", ("a", 'b"', "hi", True), 'a "b\\"" 6869 true %'),
        ("%v %v", (1.0, 1e21), "1 1e+21"),
        ("%d", (1.5,), "%!d(float64=1.5)"),
        ("%f", (3,), "%!f(int=3)"),
        ("%d %d", (1,), "1 %!d(MISSING)"),
        ("%d", (1, "x"), "1%!(EXTRA string=x)"),
    ],
)
def test_printf_writes_as_go_does(form: str, values: tuple[object, ...], expected: str) -> None:
    assert printf(form, *values) == expected


@given(st.text('{}-.$ \n()|`"abif range end with else 12:=,/*', max_size=40))
def test_no_template_ends_in_anything_but_its_text_or_its_error(text: str) -> None:
    try:
        filled(text)
    except TemplateError as problem:
        assert str(problem).startswith("line ")


@given(st.text(st.characters(exclude_characters="{", codec="utf-8")))
def test_text_without_actions_comes_out_as_it_is(text: str) -> None:
    assert filled(text) == text
