"""As much of Go's text/template as bombardier's own reports are written in.

text ─▶ actions ─▶ parse (nodes) ─▶ render (text), with functions given

Templates that people have begin as copies of those two reports: texts, comments and trim markers,
fields, pipes, calls, `if`, `with` and `range` with `else`, and the variables of a `range`. All else is
refused by its name and its line before anything is sent.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.dropin.bombardier.printing import Duration, check_form, truth, written

Functions = Mapping[str, Callable[..., object]]
_BLOCKS = ("if", "with", "range")
_REFUSED = ("define", "template", "block", "break", "continue")
_CONSTANTS: dict[str, object] = {"true": True, "false": False, "nil": None}
_SPACE = " \t\r\n"
_CHAIN = r"(?:\.[A-Za-z_]\w*)*"
_ACTION = re.compile(
    r"""\{\{(?P<before>-(?=[ \t\r\n]))?
    (?P<inside>(?:"(?:[^"\\\n]|\\.)*"|`[^`]*`|/\*.*?\*/|/(?!\*)|[^"`/])*?)
    (?P<after>[ \t\r\n]-)?\}\}""",
    re.VERBOSE | re.DOTALL,
)
_TOKEN = re.compile(
    rf"""[ \t\r\n]+
  | (?P<string>"(?:[^"\\\n]|\\.)*"|`[^`]*`)
  | (?P<number>[+-]?[0-9]+(?:\.[0-9]+)?)
  | (?P<variable>\$\w*{_CHAIN})
  | (?P<field>(?:\.[A-Za-z_]\w*)+|\.)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<mark>:=|[|(,]|\){_CHAIN})
    """,
    re.VERBOSE,
)


class TemplateError(Exception):
    """A template that is wrong, or beyond what is understood; says where and what."""

    def __init__(self, line: int, problem: str) -> None:
        """`line` counts from 1."""
        super().__init__(f"line {line}: {problem}")


@dataclass(frozen=True)
class Operand:
    """A term and its fields: a literal, the dot, a variable, a function, or a pipe in parentheses."""

    kind: str
    value: object = None
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pipe:
    """Commands, each given the value of the one before as its last argument."""

    commands: tuple[tuple[Operand, ...], ...]
    line: int


@dataclass(frozen=True)
class Branch:
    """if, with or range; `names` are the variables that a range declares."""

    kind: str
    names: tuple[str, ...]
    pipe: Pipe
    body: tuple[Node, ...]
    otherwise: tuple[Node, ...]


Node = str | Pipe | Branch


@dataclass
class _Action:
    """The tokens of one action, each with its kind, and how many of them were read."""

    tokens: list[tuple[str, str]]
    line: int
    at: int = 0

    def peek(self) -> str:
        """The next token's text; "" at the end."""
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def next(self) -> tuple[str, str]:
        """The next token's kind and text."""
        if self.at == len(self.tokens):
            raise TemplateError(self.line, "a value is missing")
        self.at += 1
        return self.tokens[self.at - 1]


def parse(text: str, functions: frozenset[str]) -> tuple[Node, ...]:
    """Read a template that may call `functions`; `TemplateError` names what is wrong, and its line."""
    parser = _TemplateParser(list(_pieces(text)), functions)
    nodes, end = parser.nodes(frozenset("$"))
    if end is not None:
        raise TemplateError(end.line, f"unexpected {{{{{end.peek()}}}}}")
    return nodes


def _pieces(text: str) -> Iterator[str | _Action]:
    """The texts, trimmed, and the actions; comments are left out."""
    at, line, trims = 0, 1, False
    while (start := text.find("{{", at)) >= 0:
        found = _ACTION.match(text, start)
        line += text.count("\n", at, start)
        if found is None:
            raise TemplateError(line, "unclosed action")
        piece = text[at:start].lstrip(_SPACE) if trims else text[at:start]
        yield piece.rstrip(_SPACE) if found["before"] else piece
        if not found["inside"].strip().startswith("/*"):
            yield _Action(list(_tokens(found["inside"], line)), line)
        line += found[0].count("\n")
        at, trims = found.end(), found["after"] is not None
    yield text[at:].lstrip(_SPACE) if trims else text[at:]


def _tokens(inside: str, line: int) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(inside):
        found = _TOKEN.match(inside, at)
        if found is None:
            raise TemplateError(line, f"unexpected {inside[at]!r} in an action")
        if found.lastgroup:
            yield found.lastgroup, found[0]
        at = found.end()


@dataclass
class _TemplateParser:
    left: list[str | _Action]
    functions: frozenset[str]

    def nodes(self, names: frozenset[str]) -> tuple[tuple[Node, ...], _Action | None]:
        """Read up to an `else` or `end`, which is given too; None at the end of the template."""
        nodes: list[Node] = []
        while self.left:
            piece = self.left.pop(0)
            if isinstance(piece, str):
                nodes.append(piece)
            elif piece.peek() in ("else", "end"):
                return tuple(nodes), piece
            elif piece.peek() in _BLOCKS:
                nodes.append(self.branch(piece, names))
            else:
                nodes.append(self.pipe(piece, names))
        return tuple(nodes), None

    def branch(self, action: _Action, names: frozenset[str]) -> Branch:
        _, kind = action.next()
        declared = self.declared(action) if kind == "range" else ()
        pipe = self.pipe(action, names)
        body, end = self.nodes(names | set(declared))
        otherwise: tuple[Node, ...] = ()
        if end is not None and end.peek() == "else":
            end.next()
            if end.peek() == kind != "range":
                return Branch(kind, declared, pipe, body, (self.branch(end, names),))
            self.done(end)
            otherwise, end = self.nodes(names)
        if end is None or end.next()[1] != "end":
            raise TemplateError(action.line, f"{{{{{kind}}}}} without its {{{{end}}}}")
        self.done(end)
        return Branch(kind, declared, pipe, body, otherwise)

    def declared(self, action: _Action) -> tuple[str, ...]:
        """The variables before the ":=" of a range."""
        texts = [text for _, text in action.tokens]
        if ":=" not in texts:
            return ()
        signs = texts[action.at : texts.index(":=")]
        action.at = texts.index(":=") + 1
        if signs[1::2] not in ([], [","]) or not all(re.fullmatch(r"\$\w+", name) for name in signs[::2]):
            raise TemplateError(action.line, "{{range}} declares one variable or two")
        return tuple(signs[::2])

    def pipe(self, action: _Action, names: frozenset[str], closing: str = "") -> Pipe:
        commands: list[tuple[Operand, ...]] = []
        while True:
            operands = []
            while action.peek()[:1] not in (closing, "|", ""):
                operands.append(self.operand(action, names))
            if not operands:
                raise TemplateError(action.line, "a value is missing")
            self.check_form(operands, action.line)
            commands.append(tuple(operands))
            if action.peek() != "|":
                break
            action.next()
        if not closing:
            self.done(action)
        return Pipe(tuple(commands), action.line)

    def operand(self, action: _Action, names: frozenset[str]) -> Operand:
        kind, text = action.next()
        base, *fields = text.split(".") if kind in ("variable", "field") else (text,)
        chain = tuple(name for name in fields if name)
        if kind == "string":
            return Operand("literal", _unquoted(text, action.line))
        if kind == "number":
            return Operand("literal", float(text) if "." in text else int(text))
        if kind == "field":
            return Operand("dot", None, chain)
        if kind == "variable" and base in names:
            return Operand("variable", base, chain)
        if text in _CONSTANTS:
            return Operand("literal", _CONSTANTS[text])
        if text in self.functions:
            return Operand("function", text)
        if text == "(":
            pipe = self.pipe(action, names, closing=")")
            return Operand("pipe", pipe, tuple(name for name in action.next()[1][1:].split(".") if name))
        what = {"variable": f"variable {base}", "word": f"function {text!r}"}.get(kind, f"{text!r}")
        raise TemplateError(
            action.line, f"{f'{{{{{text}}}}}' if text in _REFUSED else what} is not supported here"
        )

    def check_form(self, operands: Sequence[Operand], line: int) -> None:
        """Refuse a format of printf that would fail only when the load is over."""
        if operands[0].value == "printf" and len(operands) > 1 and isinstance(operands[1].value, str):
            try:
                check_form(operands[1].value)
            except ValueError as problem:
                raise TemplateError(line, str(problem)) from None

    def done(self, action: _Action) -> None:
        if action.peek():
            raise TemplateError(action.line, f"{action.peek()!r} is not supported here")


def _unquoted(text: str, line: int) -> str:
    try:
        return text[1:-1] if text.startswith("`") else str(ast.literal_eval(text))
    except (SyntaxError, ValueError):
        raise TemplateError(line, f"bad string {text}") from None


def render(nodes: Sequence[Node], data: object, functions: Functions) -> str:
    """Fill a template in; `TemplateError` says where the data is not as it expects."""
    return "".join(_Filling(functions, {"$": data}).nodes(nodes, data))


@dataclass(frozen=True)
class _Filling:
    functions: Functions
    variables: Mapping[str, object]

    def nodes(self, nodes: Sequence[Node], dot: object) -> Iterator[str]:
        for node in nodes:
            match node:
                case str():
                    yield node
                case Pipe():
                    yield self.printed(self.value(node, dot), node.line)
                case Branch("range"):
                    yield from self.loop(node, dot)
                case Branch():
                    value = self.value(node.pipe, dot)
                    inside = value if node.kind == "with" and truth(value) else dot
                    yield from self.nodes(node.body if truth(value) else node.otherwise, inside)

    def printed(self, value: object, line: int) -> str:
        try:
            return written(value)
        except ValueError as problem:
            raise TemplateError(line, str(problem)) from None

    def loop(self, node: Branch, dot: object) -> Iterator[str]:
        many = self.value(node.pipe, dot)
        has_fields = isinstance(many, Mapping) and any(isinstance(key, str) for key in many)
        if has_fields or not isinstance(many, Mapping | list | tuple | None):
            raise TemplateError(
                node.pipe.line, f"range can't iterate over {self.printed(many, node.pipe.line)}"
            )
        if not many:
            yield from self.nodes(node.otherwise, dot)
            return
        for key, value in sorted(many.items()) if isinstance(many, Mapping) else enumerate(many):
            values = (key, value) if len(node.names) > 1 else (value,)
            variables = {**self.variables, **dict(zip(node.names, values, strict=False))}
            yield from replace(self, variables=variables).nodes(node.body, value)

    def value(self, pipe: Pipe, dot: object) -> object:
        value: tuple[object, ...] = ()
        for first, *rest in pipe.commands:
            arguments = (*(self.operand(operand, (), dot, pipe.line) for operand in rest), *value)
            value = (self.operand(first, arguments, dot, pipe.line),)
        return value[0]

    def operand(self, operand: Operand, arguments: tuple[object, ...], dot: object, line: int) -> object:
        value = self.base(operand, dot)
        called = str(operand.value)
        for called in operand.fields:
            value = _field(self.call(value, (), called, line), called, line)
        if arguments and not callable(value):
            raise TemplateError(line, "can't give argument to non-function")
        return self.call(value, arguments, called, line)

    def base(self, operand: Operand, dot: object) -> object:
        match operand.kind:
            case "literal":
                return operand.value
            case "variable":
                return self.variables[str(operand.value)]
            case "function":
                return self.functions[str(operand.value)]
            case "pipe" if isinstance(operand.value, Pipe):
                return self.value(operand.value, dot)
            case _:
                return dot

    def call(self, value: object, arguments: tuple[object, ...], name: str, line: int) -> object:
        """A function's, or method's, value; any other value as it is."""
        if not callable(value):
            return value
        try:
            return value(*arguments)
        except TypeError:
            # Python's words name what is ours inside.
            raise TemplateError(line, f"error calling {name}: wrong number or kind of arguments") from None
        except (ValueError, IndexError, KeyError, AttributeError) as problem:
            raise TemplateError(line, f"error calling {name}: {problem}") from None


def _field(value: object, name: str, line: int) -> object:
    if isinstance(value, Mapping) and name in value:
        return value[name]
    if isinstance(value, Duration) and name in value.methods:
        return value.methods[name]
    if value is None:
        raise TemplateError(line, f"nil pointer evaluating .{name}")
    raise TemplateError(line, f"can't evaluate field {name}")
