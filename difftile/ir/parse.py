"""The text of programs, read again: the inverse of `printer`.

Each statement has a line of its own, and indentation makes blocks. Every name is defined once in a
text, before its first use. A `#` begins a comment. Statements get spans that point into the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from dataclasses import replace

from difftile.diagnostics import Span, counted, did_you_mean
from difftile.ir.build import element_type
from difftile.ir.failures import (
    AssertionFailed,
    BadIndex,
    BrokenPromise,
    Failure,
    TooLarge,
    ZeroDivisor,
)
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    Const,
    Derivative,
    Fail,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Print,
    Program,
    Rule,
    Ruled,
    Shown,
    Size,
    Stmt,
    Store,
    Text,
    Value,
    Var,
    While,
)
from difftile.ir.tokens import Token, TokenCursor, lines_of
from difftile.ir.types import FLOATS, I32, SCALARS, FieldType, Scalar, Type, scalar_of, shaped
from difftile.records import dataclass

_FAILURES: dict[str, Callable[..., Failure]] = {
    kind.__name__: kind
    for kind in (AssertionFailed, BadIndex, BrokenPromise, TooLarge, ZeroDivisor)
}


def parse(text: str, ops: Collection[str] | None = None, *, file: str = "<program>") -> Program:
    """Return the program with a text.

    Args:
        text: The text, as `print_program` writes it.
        ops: The names of all ops; by default any word is taken for one.
        file: The name of the file in spans.

    Raises:
        MalformedProgram: The text does not describe a program.
    """
    return _ProgramParser(lines_of(text, file), ops).program()


@dataclass(frozen=True, slots=True)
class _Declaration:
    """An array as it is declared; the others that it names may be declared after it."""

    type: FieldType
    size: int | None
    others: dict[str, Token]
    incoming: bool
    late: bool
    axes: tuple[int, ...]


class _ProgramParser(TokenCursor):
    """Reads each part of a program by a method of its own."""

    def __init__(self, lines: list[list[Token]], ops: Collection[str] | None) -> None:
        super().__init__(lines)
        self.ops = ops
        self.names: dict[str, Var | Array] = {}

    # Types and values

    def scalar(self) -> Scalar:
        token = self.name()
        if token.text not in SCALARS:
            self.fail("no type has this name", token, did_you_mean(token.text, SCALARS))
        return SCALARS[token.text]

    def type(self) -> Type:
        match = re.fullmatch(r"vec(\d+)|mat(\d+)x(\d+)", self.token.text)
        if match is None:
            return self.scalar()
        self.at += 1
        self.want("<")
        scalar = self.scalar()
        self.want(">")
        return shaped(tuple(int(size) for size in match.groups() if size), scalar)

    def define(self, token: Token, type_: Type) -> Var:
        if token.text in self.names:
            self.fail(f"'{token.text}' is defined twice", token)
        self.names[token.text] = found = Var(token.text, type_)
        return found

    def known(self, token: Token) -> Var | Array:
        thing = self.names.get(token.text)
        if thing is None:
            hint = did_you_mean(token.text, self.names)
            self.fail(f"'{token.text}' is not defined", token, hint)
        return thing

    def array(self) -> Array:
        token = self.name()
        thing = self.known(token)
        if isinstance(thing, Var):
            self.fail(f"'{token.text}' is not an array", token)
        return thing

    def value(self) -> Value:
        token = self.token
        is_literal = token.kind == "number" or token.text in ("True", "False", "zero")
        if not is_literal:
            thing = self.known(self.take("name", "a value"))
            if isinstance(thing, Array):
                self.fail(f"'{token.text}' is an array; expected a value", token)
            return thing
        self.at += 1
        self.want(":")
        type_ = self.type()
        if token.text == "zero":
            return Const(0.0 if scalar_of(type_) in FLOATS else 0, type_, structural=True)
        if token.kind == "name":
            return Const(token.text == "True", type_)
        whole = re.fullmatch(r"-?\d+", token.text)
        return Const(int(token.text) if whole else float(token.text), type_)

    def values(self) -> tuple[Value, ...]:
        return self.enclosed(self.value)

    def place(self) -> tuple[Array, tuple[Value, ...]]:
        token = self.token
        array, index = self.array(), self.enclosed(self.value, "[]")
        try:
            element_type(array, index)
        except ValueError as error:
            self.fail(str(error), token)
        return array, index

    # The program and its declarations

    def program(self) -> Program:
        self.want("program")
        name = self.string() if self.token.kind == "string" else self.name().text
        declared: dict[str, _Declaration] = {}
        params = self.enclosed(lambda: self.declaration(declared))
        self.end_of_line()
        temps: list[Token] = []
        while self.token.text in ("temp", "outside"):
            is_temp = self.token.text == "temp"
            self.at += 1
            token = self.declaration(declared)
            temps += [token] * is_temp
            self.end_of_line()
        for one in declared:
            self.declare(one, declared)
        body = self.block(0)
        if self.indent >= 0:
            self.fail("expected an indented statement")
        made = [self.names[token.text] for token in params]
        return Program(name, tuple(made), body, tuple(self.declare(t.text, {}) for t in temps))

    def declaration(self, declared: dict[str, _Declaration]) -> Token:
        """Note an array, or define a number that is passed in."""
        token = self.name()
        if token.text in declared or token.text in self.names:
            self.fail(f"'{token.text}' is declared twice", token)
        self.want(":")
        if self.token.text != "field":
            type_ = self.type()
            if self.token.text != "[":
                self.define(token, type_)
                return token
            declared[token.text] = self.relations(type_)
        else:
            declared[token.text] = self.relations(None)
        return token

    def relations(self, element: Type | None) -> _Declaration:
        """Return the rest of a declaration: the type, and the relations to other arrays.

        Args:
            element: The type of the elements of a local array; None for a field, whose type comes.
        """
        size, axes = None, ()
        if element is None:
            self.want("field")
            self.want("<")
            element = self.type()
            self.want(",")
            ndim = self.integer()
            self.want(">")
        else:
            sizes = self.enclosed(self.integer, "[]")
            size, ndim = math.prod(sizes), len(sizes)
            axes = tuple(sizes) if ndim > 1 else ()
        others: dict[str, Token] = {}
        if self.accept("like"):
            others["like"] = self.name()
        incoming, late = self.accept("incoming"), self.accept("late")
        for word in ("gradient", "contents"):
            if self.accept(word):
                self.want("of")
                others[f"{word}_of"] = self.name()
        return _Declaration(FieldType(element, ndim), size, others, incoming, late, axes)

    def declare(self, name: str, declared: dict[str, _Declaration]) -> Array:
        """Return the array with a name; the arrays that its declaration names are made first."""
        if name not in declared or name in self.names:
            found = self.names[name]
            assert isinstance(found, Array)
            return found
        one = declared[name]
        others: dict[str, Array] = {}
        for role, token in one.others.items():
            if token.text not in declared and not isinstance(self.names.get(token.text), Array):
                self.fail(f"'{token.text}' is not declared", token)
            others[role] = self.declare(token.text, declared)
        made = Array(
            name,
            one.type,
            one.size,
            **others,
            incoming=one.incoming,
            late=one.late,
            axes=one.axes,
        )
        self.names[name] = made
        return made

    # Blocks and statements

    def opened(self, indent: int) -> Block:
        """Return the block after the ':' that ends a header."""
        self.want(":")
        self.end_of_line()
        return self.block(indent)

    def block(self, outer: int) -> Block:
        """Return the lines that are indented more than the line before."""
        if self.indent <= outer:
            return Block(())
        indent = self.indent
        stmts: list[Stmt] = []
        results: tuple[Value, ...] = ()
        while self.indent >= indent:
            if self.indent > indent:
                self.fail("this line is indented too far")
            if self.accept("yield"):
                results = self.several(self.value, "")
                self.end_of_line()
                break
            stmts.append(self.statement())
        if self.indent > outer:
            message = "after 'yield' the block ends" if results else "this line fits no block"
            self.fail(message)
        return Block(tuple(stmts), results)

    def statement(self) -> Stmt:
        span = self.whole_line()
        outs: tuple[Token, ...] = ()
        if self.following in (",", "="):
            outs = self.several(self.name, "=")
            self.want("=")
        elif self.following == ":" and self.token.text != "while":
            return self.typed(span)
        rule = _STATEMENTS.get(self.token.text)
        if rule is None:
            return self.write(outs, span)
        self.at += 1
        return rule(self, outs, span)

    def results(self, outs: tuple[Token, ...], values: tuple[Value, ...]) -> tuple[Var, ...]:
        """Define the results of a statement, with the types of some values."""
        if len(outs) != len(values):
            message = f"expected names for {counted(len(values), 'result')}, found {len(outs)}"
            self.fail(message, outs[0] if outs else self.lines[self.row - 1][0])
        return tuple(self.define(o, v.type) for o, v in zip(outs, values, strict=True))

    def no_results(self, outs: tuple[Token, ...]) -> None:
        if outs:
            self.fail("this statement has no results", outs[0])

    def typed(self, span: Span) -> Stmt:
        """Return an op or a load: `name: type = ...`."""
        name = self.name()
        self.want(":")
        type_ = self.type()
        self.want("=")
        word = self.token
        if self.following == "[":
            array, index = self.place()
            self.end_of_line()
            return Load(self.define(name, type_), array, index, span)
        op = self.name().text
        if self.ops is not None and op not in self.ops:
            self.fail(f"no op is named '{op}'", word, did_you_mean(op, self.ops))
        args = self.values()
        self.end_of_line()
        return Let(self.define(name, type_), op, args, span)

    def write(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        if self.following != "[":
            self.expected("a statement")
        array, index = self.place()
        if self.accept("+="):
            self.no_results(outs)
            value = self.value()
            exclusive, *flags = self.marks("exclusive", "single write", "aggregated")
            self.end_of_line()
            return Accumulate(array, index, value, span, not exclusive, *flags)
        if self.accept("="):
            self.no_results(outs)
            value = self.value()
            self.end_of_line()
            return Store(array, index, value, span)
        op = self.name().text
        self.want("=")
        value = self.value()
        self.end_of_line()
        defined = [self.define(out, element_type(array, index)) for out in outs]
        return Combine(defined[0] if defined else None, op, array, index, value, span)

    def size(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        self.want("(")
        array = self.array()
        self.want(",")
        axis = self.integer()
        self.want(")")
        self.end_of_line()
        (out,) = self.results(outs, (Const(0, I32),))
        return Size(out, array, axis, span)

    def local(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        self.no_results(outs)
        declared: dict[str, _Declaration] = {}
        token = self.declaration(declared)
        if token.text not in declared:
            self.expected("the size of the array in '[]'")
        array = self.declare(token.text, declared)
        self.end_of_line()
        return Alloc(array, span)

    def shared(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        alloc = self.local(outs, span)
        assert isinstance(alloc, Alloc)
        return replace(alloc, shared=True)

    def print(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        self.no_results(outs)
        parts = self.several(self.shown, "")
        self.end_of_line()
        return Print(parts, span)

    def stop(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        self.no_results(outs)
        parts = () if self.token.kind == "end" else self.several(self.shown, "")
        self.end_of_line()
        return Print(parts, span, stops=True)

    def shown(self) -> Text:
        if self.token.kind == "string":
            return self.string()
        value = self.value()
        return Shown(value, self.string() if self.accept("as") else "")

    def failure(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        self.no_results(outs)
        token = self.name()
        if token.text not in _FAILURES:
            self.fail("no failure has this name", token, did_you_mean(token.text, _FAILURES))
        said = self.enclosed(self.said)
        try:
            failure = _FAILURES[token.text](*said)
        except TypeError:
            self.fail(f"these are not the texts of a {token.text}", token)
        self.want("with")
        values = self.values()
        self.end_of_line()
        return Fail(failure, values, span)

    def said(self) -> str | tuple[str, ...]:
        """Return a text, or a tuple of texts as Python writes it."""
        if self.token.text != "(":
            return self.string()
        self.at += 1
        found: list[str] = []
        while not self.accept(")"):
            found.append(self.string())
            if not self.accept(","):
                self.want(")")
                break
        return tuple(found)

    def branch(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        cond = self.value()
        then = self.opened(span.column)
        orelse = Block(())
        if self.continues("else", span):
            orelse = self.opened(span.column)
        return If(cond, then, orelse, self.results(outs, then.results), span)

    def continues(self, word: str, span: Span) -> bool:
        """Take a word that goes on with a statement, if it follows."""
        return self.indent == span.column and self.accept(word)

    def range(self) -> tuple[Token, Value, Value]:
        index = self.name()
        self.want("in")
        start = self.value()
        self.want("..")
        return index, start, self.value()

    def carried(self) -> tuple[Token, Token, Value]:
        out = self.name()
        self.want("<-")
        carry = self.name()
        self.want("=")
        return out, carry, self.value()

    def loop(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        self.no_results(outs)
        index, start, stop = self.range()
        carried = self.several(self.carried, ":") if self.accept(",") else ()
        i = self.define(index, I32)
        carries = tuple(self.define(carry, init.type) for _, carry, init in carried)
        body = self.opened(span.column)
        inits = tuple(init for _, _, init in carried)
        ends = self.results(tuple(out for out, _, _ in carried), inits)
        return For(i, start, stop, carries, inits, body, ends, span)

    def by_lanes(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        self.want("for")
        loop = self.loop(outs, span)
        assert isinstance(loop, For)
        return replace(loop, by_lanes=True)

    def repeat(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        self.no_results(outs)
        carried: list[tuple[Token, Token, Value]] = []
        while self.token.text not in (":", "("):
            if carried:
                self.want(",")
            carried.append(self.carried())
        (is_finite,) = self.marks("ends")
        carries = tuple(self.define(carry, init.type) for _, carry, init in carried)
        cond = self.opened(span.column)
        if not self.continues("do", span):
            self.expected("'do:'")
        body = self.opened(span.column)
        inits = tuple(init for _, _, init in carried)
        ends = self.results(tuple(out for out, _, _ in carried), inits)
        return While(carries, inits, cond, body, ends, span, is_finite)

    def parallel(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        self.no_results(outs)
        self.want("for")
        box = self.several(self.range, ":")
        indices = tuple(self.define(index, I32) for index, _, _ in box)
        starts, stops = tuple(start for _, start, _ in box), tuple(stop for _, _, stop in box)
        return ParallelFor(indices, starts, stops, self.opened(span.column), span)

    def by_warps(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        loop = self.parallel(outs, span)
        assert isinstance(loop, ParallelFor)
        return replace(loop, by_warps=True)

    def ordered(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        loop = self.parallel(outs, span)
        assert isinstance(loop, ParallelFor)
        return replace(loop, ordered=True)

    def ruled(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        name, args = self.string(), self.values()
        body = self.opened(span.column)
        backward = self.rule("backward", span)
        forward = self.rule("forward", span)
        found = self.results(outs, body.results)
        return Ruled(found, args, body, backward, forward, name, span)

    def rule(self, word: str, span: Span) -> Rule | None:
        where = self.whole_line()
        if not self.continues(word, span):
            return None
        params = self.enclosed(self.parameter)
        (approximate,) = self.marks("approximate")
        return Rule(params, self.opened(span.column), approximate, where)

    def parameter(self) -> Var:
        name = self.name()
        self.want(":")
        return self.define(name, self.type())

    def derivative(self, outs: tuple[Token, ...], span: Span) -> Stmt:
        forward = self.accept("forward")
        if not forward:
            self.want("backward")
        bindings = self.enclosed(self.binding)
        self.want("with")
        seeds = self.values()
        gradients = self.enclosed(self.gradient) if self.accept("into") else ()
        params = tuple(self.define(name, arg.type) for name, arg in bindings)
        body = self.opened(span.column)
        args = tuple(arg for _, arg in bindings)
        found = self.results(outs, body.results if forward else args)
        return Derivative(found, params, args, seeds, body, forward, gradients, span)

    def binding(self) -> tuple[Token, Value]:
        name = self.name()
        self.want("=")
        return name, self.value()

    def gradient(self) -> tuple[Array, Array]:
        array = self.array()
        self.want(":")
        return array, self.array()


# Statements by their first word, or by the first one after '='.
_STATEMENTS: dict[str, Callable[[_ProgramParser, tuple[Token, ...], Span], Stmt]] = {
    "breakpoint": _ProgramParser.stop,
    "shape": _ProgramParser.size,
    "local": _ProgramParser.local,
    "shared": _ProgramParser.shared,
    "print": _ProgramParser.print,
    "fail": _ProgramParser.failure,
    "if": _ProgramParser.branch,
    "for": _ProgramParser.loop,
    "while": _ProgramParser.repeat,
    "lanes": _ProgramParser.by_lanes,
    "parallel": _ProgramParser.parallel,
    "warps": _ProgramParser.by_warps,
    "ordered": _ProgramParser.ordered,
    "ruled": _ProgramParser.ruled,
    "derivative": _ProgramParser.derivative,
}
