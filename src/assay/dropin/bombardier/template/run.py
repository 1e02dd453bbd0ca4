"""A template's tree, filled in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assay.dropin.bombardier.template.functions import Duration, truth, written
from assay.dropin.bombardier.template.lexer import TemplateError
from assay.dropin.bombardier.template.parser import Branch, Jump, Node, Operand, Pipe, Text

Functions = Mapping[str, Callable[..., object]]
_LAZY = ("and", "or")


class _Break(Exception):
    """`{{break}}`."""


class _Continue(Exception):
    """`{{continue}}`."""


@dataclass
class _Scope:
    """Variables of a branch; an assignment reaches those outside of it."""

    values: dict[str, object]
    outer: _Scope | None = None

    def find(self, name: str) -> dict[str, object]:
        if name in self.values or self.outer is None:
            return self.values
        return self.outer.find(name)


def render(nodes: Sequence[Node], data: object, functions: Functions) -> str:
    """Fill a template in; `TemplateError` says where the data is not as it expects."""
    filling = _Filling(functions)
    filling.nodes(nodes, data, _Scope({"$": data}))
    return "".join(filling.text)


class _Filling:
    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self.text: list[str] = []

    def nodes(self, nodes: Sequence[Node], dot: object, scope: _Scope) -> None:
        for node in nodes:
            match node:
                case Text():
                    self.text.append(node.value)
                case Pipe():
                    value = self.value(node, dot, scope)
                    if not node.names:
                        self.text.append(written(value))
                case Jump("break"):
                    raise _Break
                case Jump():
                    raise _Continue
                case Branch("range"):
                    self.loop(node, dot, scope)
                case Branch():
                    self.branch(node, dot, scope)

    def branch(self, node: Branch, dot: object, scope: _Scope) -> None:
        inner = _Scope({}, scope)
        value = self.value(node.pipe, dot, inner)
        inside = value if node.kind == "with" else dot
        if truth(value):
            self.nodes(node.body, inside, _Scope({}, inner))
        else:
            self.nodes(node.otherwise, dot, _Scope({}, inner))

    def loop(self, node: Branch, dot: object, scope: _Scope) -> None:
        found = self.value(Pipe(node.pipe.commands, (), False, node.pipe.line), dot, scope)
        if isinstance(found, Mapping):
            items = sorted(found.items())
        elif isinstance(found, list | tuple):
            items = list(enumerate(found))
        elif isinstance(found, int) and not isinstance(found, bool):
            items = [(index, index) for index in range(found)]
        elif found is None:
            items = []
        else:
            raise TemplateError(node.pipe.line, f"range can't iterate over {written(found)}")
        if not items:
            self.nodes(node.otherwise, dot, _Scope({}, scope))
        for key, value in items:
            values = (key, value) if len(node.pipe.names) > 1 else (value,)
            inner = _Scope({}, scope)
            for name, one in zip(node.pipe.names, values, strict=False):
                (scope.find(name) if node.pipe.assigns else inner.values)[name] = one
            try:
                self.nodes(node.body, value, inner)
            except _Break:
                return
            except _Continue:
                continue

    def value(self, pipe: Pipe, dot: object, scope: _Scope) -> object:
        value: object = None
        for index, command in enumerate(pipe.commands):
            final = (value,) if index else ()
            value = self.command(command, final, dot, scope)
        for name in pipe.names:
            (scope.find(name) if pipe.assigns else scope.values)[name] = value
        return value

    def command(
        self, command: Sequence[Operand], final: tuple[object, ...], dot: object, scope: _Scope
    ) -> object:
        first, *rest = command
        if first.kind == "function" and first.value in _LAZY:
            return self.lazy(str(first.value), rest, final, dot, scope)
        arguments = (*(self.operand(one, dot, scope) for one in rest), *final)
        if first.kind == "function":
            return self.call(self.functions[str(first.value)], arguments, str(first.value), first.line)
        if first.fields:
            return self.fields(first, arguments, dot, scope)
        if arguments:
            raise TemplateError(first.line, "can't give argument to non-function")
        return self.operand(first, dot, scope)

    def lazy(
        self, name: str, rest: Sequence[Operand], final: tuple[object, ...], dot: object, scope: _Scope
    ) -> object:
        """`and` ends at the first value that is not true, `or` at the first that is."""
        value: object = None
        for one in rest:
            value = self.operand(one, dot, scope)
            if truth(value) == (name == "or"):
                return value
        return final[0] if final else value

    def operand(self, operand: Operand, dot: object, scope: _Scope) -> object:
        if operand.kind == "function":
            return self.call(self.functions[str(operand.value)], (), str(operand.value), operand.line)
        return self.fields(operand, (), dot, scope)

    def fields(self, operand: Operand, arguments: tuple[object, ...], dot: object, scope: _Scope) -> object:
        value = self.base(operand, dot, scope)
        for index, name in enumerate(operand.fields):
            value = self.field(value, name, operand.line)
            given = arguments if index == len(operand.fields) - 1 else ()
            if callable(value):
                value = self.call(value, given, name, operand.line)
            elif given:
                raise TemplateError(operand.line, f"{name} is not a method but has arguments")
        return value

    def base(self, operand: Operand, dot: object, scope: _Scope) -> object:
        match operand.kind:
            case "literal":
                return operand.value
            case "variable":
                name = str(operand.value)
                return scope.find(name).get(name)
            case "pipe" if isinstance(operand.value, Pipe):
                return self.value(operand.value, dot, scope)
            case _:
                return dot

    def field(self, value: object, name: str, line: int) -> object:
        if isinstance(value, Mapping):
            if name in value:
                return value[name]
        elif isinstance(value, Duration) and name in value.methods:
            return value.methods[name]
        elif value is None:
            raise TemplateError(line, f"nil pointer evaluating .{name}")
        raise TemplateError(line, f"can't evaluate field {name}")

    def call(
        self, function: Callable[..., object], arguments: tuple[object, ...], name: str, line: int
    ) -> object:
        try:
            return function(*arguments)
        except (TypeError, ValueError, IndexError, KeyError, AttributeError) as problem:
            raise TemplateError(line, f"error calling {name}: {problem}") from None
