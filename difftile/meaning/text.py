"""Programs as Python text, one function a program, a line for each statement.

Locals of the program are locals of the function and keep the user's names where they are free;
literals are constants above it. Parallel iterations run in order. `check_index` is asked for an
index that may be negative, which NumPy would count from the end; NumPy itself refuses larger ones.
"""

from __future__ import annotations

import keyword
from collections.abc import Collection, Sequence
from dataclasses import field

from difftile.diagnostics import Span
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
    Ruled,
    Size,
    Stmt,
    Store,
    Text,
    Value,
    Var,
    While,
)
from difftile.ir.printer import Names
from difftile.ir.types import BOOL, F64, FLOATS, Scalar, scalar_of, shape_of
from difftile.meaning.memory import dtype_of, grows
from difftile.meaning.operations import expression, place, type_name
from difftile.records import dataclass

_OWN = ("np", "ops", "check_index", "fail", "stop", "watch", "turn", "turns", "float", "int")
_RESERVED = frozenset((*_OWN, "print", *keyword.kwlist))


@dataclass(frozen=True, slots=True)
class Printed:
    """The text of a program.

    Args:
        text: The constants, and the function; or with a watch its body.
        function: The name of the function.
        names: The names of variables and arrays in it.
        spans: The user's expression that each line comes from.
        fails: The statements that report a failure, by the numbers that the text gives.
        stmts: All statements, by the numbers that are passed to `watch`.
    """

    text: str
    function: str
    names: Names
    spans: tuple[Span | None, ...]
    fails: tuple[Fail, ...]
    stmts: tuple[Stmt, ...]


def print_python(
    program: Program,
    params: Sequence[Array | Var] | None = None,
    *,
    report: tuple[Array, Array] | None = None,
    complex_step: bool = False,
    watched: bool = False,
    counted: bool = False,
) -> Printed:
    """Write a program as Python text.

    Args:
        program: The program.
        params: The parameters of the function; None for the parameters of the program.
        report: Parameters that are passed on to `fail`, ahead of the number of a failure.
        complex_step: Floats are complex numbers.
        watched: Write the body of the function only, with a call of `watch` after each statement,
            so that variables belong to a module.
        counted: Loops go through `turns(start, stop)`, and through `turn()`, which is true.
    """
    printer = _Printer(complex_step, watched, report or (), counted)
    printer.program(program, params or (*program.params, *program.temps))
    lines, constants = printer.lines, printer.constants
    head = [f"{name} = {text}" for text, name in constants.items()]
    spans = (*[None] * len(head), *printer.spans)
    text = "\n".join((*head, *lines)) + "\n"
    return Printed(
        text, printer.title, printer.names, spans, tuple(printer.fails), tuple(printer.stmts)
    )


@dataclass
class _Printer:
    complex_step: bool
    watched: bool
    report: tuple[Array, ...]
    counted: bool = False
    names: Names = field(default_factory=lambda: Names(_RESERVED))
    title: str = ""
    constants: dict[str, str] = field(default_factory=dict[str, str])
    lines: list[str] = field(default_factory=list[str])
    spans: list[Span | None] = field(default_factory=list["Span | None"])
    fails: list[Fail] = field(default_factory=list[Fail])
    stmts: list[Stmt] = field(default_factory=list[Stmt])
    depth: int = 0
    span: Span | None = None
    growing: set[Array] = field(default_factory=set[Array])
    natural: set[Var] = field(default_factory=set[Var])  # integers that are not negative

    def program(self, program: Program, params: Sequence[Array | Var]) -> None:
        self.title = self.names.new(program.name)
        names = [self.names[param] for param in params]
        self.growing.update(filter(grows, program.temps))
        if self.watched:
            self.block(program.body)
            return
        self.open(f"def {self.title}({', '.join(names)}):")
        self.block(program.body)
        self.close()

    def write(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)
        self.spans.append(self.span)

    def open(self, text: str) -> None:
        self.write(text)
        self.depth += 1

    def close(self, levels: int = 1) -> None:
        """End indented lines, and write `pass` where there are none."""
        if self.lines[-1].endswith(":"):
            self.write("pass")
        self.depth -= levels

    # Values

    def value(self, value: Value) -> str:
        if isinstance(value, Var):
            return self.names[value]
        scalar, shape = scalar_of(value.type), shape_of(value.type)
        dtype = self.type_name(scalar)
        kind = float if scalar in FLOATS else bool if scalar == BOOL else int
        number = repr(kind(value.value))
        literal = number if number not in ("inf", "-inf", "nan") else f'float("{number}")'
        text = f"{dtype}({literal})"
        text = f"np.full({shape}, {text})" if shape else text
        if text not in self.constants:
            self.constants[text] = self.names.new(f"{value.type}_{number}".replace("-", "minus_"))
        return self.constants[text]

    def type_name(self, scalar: Scalar) -> str:
        return type_name(dtype_of(scalar, complex_step=self.complex_step))

    def values(self, values: Sequence[Value]) -> str:
        return ", ".join(map(self.value, values))

    def number(self, value: Value) -> str:
        """Return an integer in the form that Python takes fastest."""
        return place(value, self.value(value)) if isinstance(value, Var) else str(int(value.value))

    def at(self, array: Array, index: tuple[Value, ...]) -> str:
        """Return an element of an array, or of one of its elements."""
        name = self.names[array]
        numbers = [self.number(i) for i in index]
        where = ", ".join(numbers)
        if len(numbers) == 1 and array in self.growing:
            where += ","
        if not all(_is_natural(i, self.natural) for i in index):
            where = f"check_index({array.name!r}, {name}.shape, {where})"
        return f"{name}[{where or '()'}]"

    def assign(self, outs: Sequence[Var], values: Sequence[Value]) -> None:
        """Set variables at once."""
        if outs:
            self.write(f"{self.values(outs)} = {self.values(values)}")

    # Statements

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            before, self.span = self.span, stmt.span or self.span
            self.stmt(stmt)
            self.span = before
            if self.watched:
                self.write(f"watch({len(self.stmts)})")
                self.stmts.append(stmt)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Let(out):
                args = [self.value(arg) for arg in stmt.args]
                text = expression(stmt, args, complex_step=self.complex_step)
                if _is_natural(stmt, self.natural):
                    self.natural.add(out)
                self.write(f"{self.names[out]} = {text}")
            case Size(out, array, axis):
                self.natural.add(out)
                self.write(f"{self.names[out]} = np.int32({self.names[array]}.shape[{axis}])")
            case Load(out, array, index):
                copied = ".copy()" if shape_of(out.type) else ""
                self.write(f"{self.names[out]} = {self.at(array, index)}{copied}")
            case Store(array, index, value):
                self.write(f"{self.at(array, index)} = {self.value(value)}")
            case Accumulate(array, index, value):
                self.write(f"{self.at(array, index)} += {self.value(value)}")
            case Combine():
                self.combine(stmt)
            case Alloc(array):
                scalar = scalar_of(array.type.element)
                shape = (*array.lengths, *shape_of(array.type.element))
                self.write(f"{self.names[array]} = np.zeros({shape}, {self.type_name(scalar)})")
            case Print(parts, stops=True):
                texts = (p if isinstance(p, str) else self.value(p.value) for p in parts)
                self.write(f"stop({''.join(texts)})")
            case Print(parts):
                self.print(parts)
            case Fail(_, values):
                memory = [self.names[array] for array in self.report]
                given = (*memory, str(len(self.fails)), *map(self.value, values))
                self.write(f"fail({', '.join(given)})")
                self.fails.append(stmt)
            case Ruled(outs=outs, body=body):
                self.block(body)
                self.assign(outs, body.results)
            case Derivative():
                raise AssertionError("derivatives are worked out before programs run")
            case If():
                self.if_(stmt)
            case For(index, start, stop, carries, inits, body, outs):
                self.assign(carries, inits)
                self.range(index, start, stop)
                self.block(body)
                self.assign(carries, body.results)
                self.close()
                self.assign(outs, carries)
            case While():
                self.while_(stmt)
            case ParallelFor(indices, starts, stops, body):
                for index, start, stop in zip(indices, starts, stops, strict=True):
                    self.range(index, start, stop)
                self.block(body)
                self.close(len(indices))

    def combine(self, stmt: Combine) -> None:
        """Write `out = array[index]; array[index] = op(out, value)`."""
        old = stmt.out or Var("old", stmt.value.type)
        copied = ".copy()" if shape_of(old.type) else ""
        where = self.at(stmt.array, stmt.index)
        self.write(f"{self.names[old]} = {where}{copied}")
        new = Let(old, stmt.op, (old, stmt.value))
        args = [self.names[old], self.value(stmt.value)]
        self.write(f"{where} = {expression(new, args, complex_step=self.complex_step)}")

    def if_(self, stmt: If) -> None:
        self.open(f"if {self.value(stmt.cond)}:")
        self.block(stmt.then)
        self.assign(stmt.outs, stmt.then.results)
        self.close()
        if stmt.orelse.stmts or stmt.outs:
            self.open("else:")
            self.block(stmt.orelse)
            self.assign(stmt.outs, stmt.orelse.results)
            self.close()

    def range(self, index: Var, start: Value, stop: Value) -> None:
        """Open a loop; iterating over an array is the fastest way to numbers of its type."""
        if _is_natural(start, self.natural):
            self.natural.add(index)
        ends = self.number(start), self.number(stop)
        if not (isinstance(start, Const) and start.value == 0):  # NumPy's own difference may wrap
            ends = tuple(f"int({end})" for end in ends)
        name, bounds = self.names[index], ", ".join(ends)
        numbers = f"turns({bounds})" if self.counted else f"np.arange({bounds}, dtype=np.int32)"
        self.open(f"for {name} in {numbers}:")

    def while_(self, loop: While) -> None:
        self.assign(loop.carries, loop.inits)
        self.open("while turn():" if self.counted else "while True:")
        self.block(loop.cond)
        self.open(f"if not {self.value(loop.cond.results[0])}:")
        self.write("break")
        self.close()
        self.block(loop.body)
        self.assign(loop.carries, loop.body.results)
        self.close()
        self.assign(loop.outs, loop.carries)

    def print(self, parts: Sequence[Text]) -> None:
        form, numbers = "", ""
        for part in parts:
            if isinstance(part, str):
                form += part.replace("%", "%%")
                continue
            scalar = scalar_of(part.value.type)
            usual = (".12f" if scalar == F64 else "f") if scalar in FLOATS else "d"
            form += f"%{part.form or usual}"
            name = self.value(part.value)
            numbers += f"np.real({name}), " if scalar in FLOATS else f"int({name}), "
        self.write(f'print({form!r} % ({numbers}), end="")')


# Of integers that are not negative; sums that overflow are no indices anyway.
_NATURAL = frozenset(("add", "mul", "min", "max", "mod", "floordiv", "select", "cast", "unique"))


def _is_natural(value: Value | Let, known: Collection[Var]) -> bool:
    """Tell whether an integer is known not to be negative."""
    match value:
        case Const():
            return value.value >= 0
        case Var():
            return value in known
        case Let(op="select"):
            return all(_is_natural(arg, known) for arg in value.args[1:])
        case Let(op="mod", args=(_, Const(divisor))):
            return divisor > 0
        case _:
            is_whole = all(scalar_of(arg.type) not in FLOATS for arg in value.args)
            return (
                is_whole
                and value.op in _NATURAL
                and all(_is_natural(arg, known) for arg in value.args)
            )
