"""Go templates: what is understood is filled in as Go does it, what is not is named with its line."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.dropin.bombardier.custom import _TRIED, report, understood
from assay.dropin.bombardier.flags import read
from assay.dropin.bombardier.printing import Duration, equal, printf, sprint
from assay.dropin.bombardier.template import TemplateError, parse, render

OF_PYTHON = re.compile(r"0x[0-9a-f]{6}|function |lambda|<class|positional argument|Duration\(")
"""Words that only Python says."""
FUNCTIONS: dict[str, Callable[..., object]] = {
    "printf": printf,
    "print": sprint,
    "eq": equal,
    "Fail": lambda: [][1],
}
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
        ("{{range .List}}{{.}},{{end}}{{range .Empty}}y{{else}}none{{end}}", "a,b,c,none"),
        ("{{range $i, $e := .List}}{{if $i}}, {{end}}{{$i}}={{$e}}{{end}}", "0=a, 1=b, 2=c"),
        ("{{range $k, $v := .Map}}{{$k}}:{{$v}} {{end}}", "0.1:20 0.5:10 "),
        ("{{eq 1 1.0}} {{eq `a` .Name}} {{if eq .Name `x`}}y{{end}}", "true false y"),
        ('{{printf "%-4v|%5.1f|%q" .Name .Half `a"`}}', 'x   |  0.5|"a\\""'),
        ("{{print 1 2 `a` `b` 3}}", "1 2ab3"),
        (
            "{{.Time}} {{.Time.Seconds}} {{.Half}} {{.List}} {{.Map}} {{true}}",
            "1m30s 90 0.5 [a b c] map[0.1:20 0.5:10] true",
        ),
        ('{{.Nothing}} {{1.50}} {{-3}} {{"q\\"\\n"}}', '<nil> 1.5 -3 q"\n'),
    ],
)
def test_what_is_understood_is_filled_in(text: str, expected: str) -> None:
    assert filled(text) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("\n\n{{template `x`}}", "line 3: {{template}} is not supported here"),
        ("{{block `x` .}}", "line 1: {{block}} is not supported here"),
        ("{{\n urlquery .Name}}", "line 1: function 'urlquery' is not supported here"),
        ("{{end}}", "line 1: unexpected {{end}}"),
        ("{{with .Name}}", "line 1: {{with}} without its {{end}}"),
        ("{{range .List}}{{break}}{{end}}", "line 1: {{break}} is not supported here"),
        ("{{$x := 1}}", "line 1: variable $x is not supported here"),
        ("{{len .List}}", "line 1: function 'len' is not supported here"),
        ("{{.Name 1 := 2}}", "line 1: ':=' is not supported here"),
        ('{{printf "%+d" 1}}', "line 1: printf's %+d is not supported here"),
        ('{{printf "%x" 1}}', "line 1: printf's %x is not supported here"),
        ("{{$x}}", "line 1: variable $x is not supported here"),
        ("{{range $i, $e := .List}}{{end}}{{$i}}", "line 1: variable $i is not supported here"),
        ("{{.Name", "line 1: unclosed action"),
        ("{{/* x", "line 1: unclosed action"),
        ("{{}}", "line 1: a value is missing"),
        ("{{%}}", "line 1: unexpected '%' in an action"),
        ("{{.Missing}}", "line 1: can't evaluate field Missing"),
        ("{{.Nothing.X}}", "line 1: nil pointer evaluating .X"),
        ("{{.Name 1}}", "line 1: can't give argument to non-function"),
        ("{{range .Half}}{{end}}", "line 1: range can't iterate over 0.5"),
        ("{{.Deep}}", "line 1: what has fields is not printed here: name one of them"),
        (
            "{{print .Deep}}",
            "line 1: error calling print: what has fields is not printed here: name one of them",
        ),
        ("{{range .Deep}}{{end}}", "line 1: what has fields is not printed here: name one of them"),
        ("{{.Deep.Twice}}", "line 1: error calling Twice: wrong number or kind of arguments"),
        ("{{print Fail}}", "line 1: error calling Fail: list index out of range"),
        ("{{eq 1 `a`}}", "line 1: error calling eq: incompatible types for comparison"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(TemplateError) as found:
        filled(text)
    assert str(found.value) == problem


@pytest.mark.parametrize(
    ("form", "values", "expected"),
    [
        ("%5d|%-5d|%d", (42, 42, 42), "   42|42   |42"),
        ("%8.2f|%f|%v", (3.14159, 0.5, 0.5), "    3.14|0.500000|0.5"),
        ("%-10v|%10v|%v", ("ab", "cd", [1, 2]), "ab        |        cd|[1 2]"),
        ("%s %q %%", ("a", 'b"'), 'a "b\\"" %'),
        ("%v %v", (1.0, 1e21), "1 1e+21"),
    ],
)
def test_printf_writes_as_go_does(form: str, values: tuple[object, ...], expected: str) -> None:
    assert printf(form, *values) == expected


@pytest.mark.parametrize(
    ("form", "values"), [("%d", (1.5,)), ("%f", (3,)), ("%d %d", (1,)), ("%d", (1, "x"))]
)
def test_values_that_do_not_fit_are_refused(form: str, values: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match="cannot print|has no"):
        printf(form, *values)


@given(st.text('{}-.$ \n()|`"abif range end with else 12:=,/*', max_size=40))
def test_no_template_ends_in_anything_but_its_text_or_its_error(text: str) -> None:
    try:
        assert not OF_PYTHON.search(filled(text))
    except TemplateError as problem:
        assert str(problem).startswith("line ") and not OF_PYTHON.search(str(problem))


PATHS = st.sampled_from(
    (
        ".", "$", ".Spec", ".Result", "$.Spec.Headers", ".Spec.RequestURL", ".Spec.Timeout", ".Result.Errors",
        ".Result.LatenciesStats", ".Result.RequestsStats", ".Result.Throughput", "print", "printf", "eq", "1",
        "FormatBinary", "FloatsToArray", "WithLatencies", "UUIDV4", "Multiply", "0.5", "`a`", "nil",
    )
)  # fmt: skip
PIPES = st.lists(st.lists(PATHS, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=2).map(
    " | ".join
)


@given(
    PIPES,
    st.sampled_from(["{{%s}}", "{{range %s}}{{.}}{{end}}", "{{with %s}}{{.}}{{end}}", "{{if %s}}x{{end}}"]),
)
def test_what_bombardiers_template_is_given_is_printed_or_refused_before_the_load(
    pipe: str, form: str
) -> None:
    flags = read(["http://u", "-n3", "-H", "A: b"])
    try:
        nodes = understood(form % pipe, flags)
    except TemplateError as problem:
        assert str(problem).startswith("line 1: ") and not OF_PYTHON.search(str(problem))
    else:
        assert not OF_PYTHON.search(report(nodes, flags, _TRIED))


@given(st.text(st.characters(exclude_characters="{", codec="utf-8")))
def test_text_without_actions_comes_out_as_it_is(text: str) -> None:
    assert filled(text) == text
