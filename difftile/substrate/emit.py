"""Programs to readable Taichi source: pure text, no Taichi needed.

Values that are used once are written where they are used; the user's own names stay statements.
Each line ends with the number of the user's line it comes from.
"""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    Const,
    Fail,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Print,
    Program,
    Shown,
    Size,
    Stmt,
    Store,
    Text,
    Value,
    Var,
    While,
)
from difftile.ir.printer import Names
from difftile.ir.types import (
    BOOL,
    F32,
    F64,
    FLOATS,
    I32,
    FieldType,
    Matrix,
    Type,
    scalar_of,
    shape_of,
)
from difftile.ir.walk import WRITES, operands, regions, walk
from difftile.ops.row import ATOM, PRODUCT, SUM, UNARY
from difftile.ops.table import OPS
from difftile.substrate.parts import ahead_of, for_each_part

_HELPERS = {op.name: op.helper for op in OPS.values() if op.helper}
_RESERVED = frozenset(
    (*keyword.kwlist, "ti", "range", "int", "float", "bool", "min", "max", "abs", *_HELPERS)
)
_LONGEST_INLINED = 72
_LONGEST_NAMED = 36  # a load has a name that the compiler gave it
_COMMENT_COLUMN = 76
_ATOMIC = {
    op: f"ti.atomic_{op.removeprefix('bit_')}"
    for op in (
        "add",
        "mul",
        "max",
        "min",
        "bit_and",
        "bit_or",
        "bit_xor",
    )
}
_FEWEST = 512  # iterations that Taichi gives a thread on the CPU


@dataclass(frozen=True, slots=True)
class Emitted:
    """The source of one Taichi kernel.

    Args:
        name: The name of the kernel in the source.
        text: The source.
        annotations: The names that the source uses for the types of its fields.
    """

    name: str
    text: str
    annotations: dict[str, FieldType]


def emit(
    program: Program,
    *,
    serial: bool = False,
    flat: bool = False,
    threads: int = 0,
    fresh: Collection[Array] = (),
    report: tuple[Array, Array] | None = None,
) -> Emitted:
    """Write a program as a Taichi kernel.

    Args:
        program: A finished program.
        serial: Run parallel loops on one thread, without atomics.
        flat: Run all dimensions of a loop in parallel (GPUs); else rows in parallel (CPUs).
        threads: Cut parallel loops into a part for each thread; 0 leaves that to Taichi.
        fresh: Arrays that hold zeros: what is added there once is stored.
        report: Where failures are counted, and where the first one leaves its number and values.
    """
    emitter = _Emitter(
        serial=serial, flat=flat, threads=threads, fresh=frozenset(fresh), report=report
    )
    return emitter.kernel(program)


def annotation(type_: FieldType) -> str:
    """Return the name that generated source uses for a field type."""
    shape = "x".join(map(str, shape_of(type_.element)))
    scalar = scalar_of(type_.element)
    prefix = f"{'mat' if 'x' in shape else 'vec'}{shape}_" if shape else ""
    return f"{prefix}{scalar}_{type_.ndim}d"


def literal(value: float | int | bool, type_: Type) -> str:
    """Return the text of a literal; every literal carries its type."""
    shape = shape_of(type_)
    scalar = scalar_of(type_)
    if len(shape) == 1:
        return f"ti.Vector([{', '.join([literal(value, scalar)] * shape[0])}])"
    if len(shape) == 2:
        row = f"[{', '.join([literal(value, scalar)] * shape[1])}]"
        return f"ti.Matrix([{', '.join([row] * shape[0])}])"
    if scalar == BOOL:
        return f"ti.cast({int(bool(value))}, ti.u1)"
    if scalar == I32:
        return str(int(value))
    if scalar not in FLOATS:
        return f"ti.{scalar}({int(value)})"
    if scalar == F32:
        with np.errstate(over="ignore"):
            value = float(np.float32(value))
    if not np.isfinite(value):
        sign = "-" if value < 0 else ""
        text = "ti.math.nan" if np.isnan(value) else f"{sign}ti.math.inf"
        return text if scalar == F32 else f"ti.cast({text}, ti.{scalar})"
    if scalar == F32:
        return _decimal(str(np.float32(value)))
    return f"ti.{scalar}({_decimal(repr(float(value)))})"


def _decimal(text: str) -> str:
    return text if any(mark in text for mark in ".en") else f"{text}.0"


@dataclass(slots=True)
class _Text:
    """An expression that waits to be written into the one place that uses it."""

    text: str
    precedence: int
    reads: frozenset[Array] = frozenset()
    negates: str = ""  # what follows the sign, where this is the negative of something


@dataclass
class _Emitter:
    serial: bool
    flat: bool
    threads: int = 0
    fresh: frozenset[Array] = frozenset()
    part: str = ""
    for_each_part: tuple[Let, ...] = ()
    names: Names = field(default_factory=lambda: Names(_RESERVED))
    lines: list[str] = field(default_factory=list[str])
    depth: int = 0
    uses: Counter[Var] = field(default_factory=Counter[Var])
    waiting: dict[Var, _Text] = field(default_factory=dict[Var, _Text])
    alias: dict[Var, str] = field(default_factory=dict[Var, str])
    parts: dict[Array, list[str]] = field(default_factory=dict[Array, list[str]])
    line_number: int | None = None
    report: tuple[Array, Array] | None = None
    failures: int = 0

    # The kernel

    def kernel(self, program: Program) -> Emitted:
        name = self.names.new(program.name)
        annotations: dict[str, FieldType] = {}
        params: list[str] = []
        for param in (*program.params, *program.temps, *(self.report or ())):
            if isinstance(param, Array):
                hint = annotation(param.type)
                annotations[hint] = param.type
            else:
                hint = f"ti.{param.type}" if param.type != BOOL else "ti.i32"
            params.append(f"{self.names[param]}: {hint}")
        for block in _blocks(program.body):
            self.uses.update(v for v in block.results if isinstance(v, Var))
            for stmt in block.stmts:
                self.uses.update(v for v in operands(stmt) if isinstance(v, Var))
        self.lines = [*_helpers(program), "@ti.kernel", *_signature(name, params)]
        self.depth = 1
        self.for_each_part = for_each_part(program.body) if self.threads else ()
        kept = tuple(s for s in program.body.stmts if s not in self.for_each_part)
        self.block(Block(kept))
        if self.lines[-1].endswith(":"):
            self.write("pass")
        return Emitted(name, "\n".join(self.lines) + "\n", annotations)

    def write(self, text: str) -> None:
        line = "    " * self.depth + text
        if self.line_number is not None:
            line = f"{line:<{_COMMENT_COLUMN}}  # {self.line_number}"
        self.lines.append(line)

    # Values

    def value(self, value: Value, precedence: int = 0) -> str:
        """Return the text of a value, in parentheses where the place binds tighter."""
        if isinstance(value, Const):
            text = literal(value.value, value.type)
            return f"({text})" if text.startswith("-") and precedence > PRODUCT else text
        waiting = self.waiting.get(value)
        if waiting is None:
            return self.name(value)
        return f"({waiting.text})" if waiting.precedence < precedence else waiting.text

    def name(self, variable: Var) -> str:
        return self.alias.get(variable) or self.names[variable]

    def reads(self, values: tuple[Value, ...]) -> frozenset[Array]:
        found: frozenset[Array] = frozenset()
        for value in values:
            if isinstance(value, Var) and value in self.waiting:
                found |= self.waiting[value].reads
        return found

    def index(self, index: tuple[Value, ...]) -> str:
        return ", ".join(self.value(i) for i in index) if index else "None"

    def place(self, array: Array, index: tuple[Value, ...]) -> str:
        ndim = array.type.ndim
        text = f"{self.names[array]}[{self.index(index[:ndim])}]"
        return f"{text}[{self.index(index[ndim:])}]" if len(index) > ndim else text

    def let_text(self, let: Let) -> _Text:
        row = OPS[let.op]
        args = let.args
        reads = self.reads(args)
        plain = ", ".join(self.value(arg) for arg in args)
        match let.op:
            case "bit_cast":
                return _Text(f"ti.bit_cast({plain}, ti.{let.out.type})", ATOM, reads)
            case "cast":
                target = "u1" if scalar_of(let.out.type) == BOOL else str(scalar_of(let.out.type))
                return _Text(f"ti.cast({plain}, ti.{target})", ATOM, reads)
            case "vec":
                return _Text(f"ti.Vector([{plain}])", ATOM, reads)
            case "mat":
                return _Text(f"ti.Matrix([{self.rows(let)}])", ATOM, reads)
            case "extract":
                whole = self.value(args[0], ATOM)
                return _Text(f"{whole}[{self.index(args[1:])}]", ATOM, reads)
            case "neg":
                text = self.value(args[0], PRODUCT)
                # -a * b is -(a * b), but -a // b is not -(a // b).
                rounds = "//" in text or "%" in text
                operand = self.value(args[0], ATOM) if rounds else text
                return _Text(f"-{operand}", PRODUCT, reads, operand)
            case _:
                template = row.taichi
        if let.op in ("and", "or") and shape_of(let.out.type):
            template = template.replace("and", "&").replace("or", "|")
        tight = row.precedence
        if "(" in template and not template.startswith("{0}."):
            texts = [self.value(arg) for arg in args]
            scalar = scalar_of(args[0].type)
            return _Text(template.format(*texts, scalar=scalar), tight, reads)
        if template.startswith("{0}."):  # a method
            first = self.value(args[0], ATOM)
            return _Text(template.format(first, *(self.value(a) for a in args[1:])), tight, reads)
        # The right operand of a left-associative operator needs parentheses at its own level.
        texts = [self.value(arg, tight + (k > 0 or tight == UNARY)) for k, arg in enumerate(args)]
        return _Text(template.format(*texts), tight, reads)

    def rows(self, let: Let) -> str:
        assert isinstance(let.out.type, Matrix)
        m = let.out.type.m
        texts = [self.value(arg) for arg in let.args]
        return ", ".join(f"[{', '.join(texts[k : k + m])}]" for k in range(0, len(texts), m))

    # Blocks

    def block(self, block: Block, *, inline_results: bool = True) -> None:
        """Write the statements of a block; its results are written by whoever asked for it."""
        here = Counter(v for s in block.stmts for v in operands(s) if isinstance(v, Var))
        if inline_results:
            here.update(v for v in block.results if isinstance(v, Var))
        for stmt in block.stmts:
            self.line_number = None if stmt.span is None else stmt.span.line
            self.stmt(stmt, here)
        self.line_number = None

    def define(self, out: Var, text: _Text, here: Counter[Var]) -> None:
        """Write a value where it is used, if that is once and in this block; else as a line."""
        once = self.uses[out] == 1 and here[out] == 1
        short = len(text.text) <= (_LONGEST_NAMED if out.name else _LONGEST_INLINED)
        if once and short and (text.reads or not out.name):
            self.waiting[out] = text
        else:
            self.write(f"{self.name(out)} = {text.text}")

    def flush(self, written: set[Array]) -> None:
        """Write out the waiting values that read an array which is about to change."""
        for out in [v for v, text in self.waiting.items() if text.reads & written]:
            text = self.waiting.pop(out)
            self.write(f"{self.name(out)} = {text.text}")

    def consumed(self, values: tuple[Value, ...]) -> None:
        for value in values:
            if isinstance(value, Var):
                self.waiting.pop(value, None)

    def stmt(self, stmt: Stmt, here: Counter[Var]) -> None:
        match stmt:
            case Let(op="insert"):
                self.insert(stmt)
            case Let(out):
                text = self.let_text(stmt)
                self.consumed(stmt.args)
                self.define(out, text, here)
            case Size(out, array, axis):
                text = f"{self.names[array]}.shape[{axis}]"
                self.alias[out] = text
            case Load(out, array, index):
                text = self.load_text(array, index)
                self.consumed(index)
                self.define(out, text, here)
            case Store(array, index, value):
                self.store(array, index, value, add=False, atomic=False)
            case Accumulate(array, index, value, _, atomic, once):
                add = not (once and array in self.fresh)
                self.store(array, index, value, add=add, atomic=atomic and not self.serial)
            case Combine():
                self.combine(stmt)
            case Alloc(array):
                self.alloc(array)
            case Print(parts):
                self.print_(parts)
            case Fail(_, values):
                self.fail(values)
            case If():
                self.if_(stmt)
            case For():
                self.for_(stmt)
            case While():
                self.while_(stmt)
            case ParallelFor():
                self.parallel(stmt)

    def insert(self, let: Let) -> None:
        """Write a vector with one component replaced: a copy, then an assignment."""
        value, *index, part = let.args
        name = self.name(let.out)
        self.write(f"{name} = {self.value(value)}")
        self.write(f"{name}[{self.index(tuple(index))}] = {self.value(part)}")
        self.consumed(let.args)

    # Memory

    def load_text(self, array: Array, index: tuple[Value, ...]) -> _Text:
        reads = self.reads(index) | {array}
        shape = shape_of(array.type.element)
        if array.size is None or not shape or len(index) > 1:
            return _Text(self.place(array, index), ATOM, reads)
        parts = [f"{name}[{self.index(index)}]" for name in self.part_names(array)]
        if len(shape) == 1:
            return _Text(f"ti.Vector([{', '.join(parts)}])", ATOM, reads)
        m = shape[1]
        rows = [f"[{', '.join(parts[k : k + m])}]" for k in range(0, len(parts), m)]
        return _Text(f"ti.Matrix([{', '.join(rows)}])", ATOM, reads)

    def store(
        self, array: Array, index: tuple[Value, ...], value: Value, *, add: bool, atomic: bool
    ) -> None:
        text = self.value(value)
        shape = shape_of(array.type.element)
        parts = array.size is not None and bool(shape)
        where = "" if parts else self.place(array, index)
        at = self.index(index)
        # Behind '+' a sum keeps its parentheses; the negative of a product is subtracted.
        waiting = self.waiting.get(value) if isinstance(value, Var) else None
        negates = "" if waiting is None else waiting.negates
        tight = self.value(value, SUM + 1)
        self.consumed((*index, value))
        self.flush({array})
        if parts:
            self.store_parts(array, at, value, text)
        elif not add:
            self.write(f"{where} = {text}")
        elif atomic:
            self.write(f"{where} -= {negates}" if negates else f"{where} += {text}")
        elif negates:
            self.write(f"{where} = {where} - {negates}")
        else:
            self.write(f"{where} = {where} + {tight}")

    def combine(self, stmt: Combine) -> None:
        where, value = self.place(stmt.array, stmt.index), self.value(stmt.value)
        tight = self.value(stmt.value, ATOM)
        self.consumed((*stmt.index, stmt.value))
        self.flush({stmt.array})
        if not self.serial:
            call = f"{_ATOMIC[stmt.op]}({where}, {value})"
            self.write(call if stmt.out is None else f"{self.name(stmt.out)} = {call}")
            return
        # One thread needs no atomics, and Taichi has no product of that kind there.
        row = OPS[stmt.op]
        if stmt.out is not None:
            self.write(f"{self.name(stmt.out)} = {where}")
        call = row.taichi.format(where, value if row.precedence == ATOM else tight)
        self.write(f"{where} = {call}")

    def store_parts(self, array: Array, at: str, value: Value, text: str) -> None:
        """Write a vector or matrix into a local array, which has one array a component."""
        shape = shape_of(array.type.element)
        name = text
        if isinstance(value, Const) or not text.isidentifier():
            name = self.names.new(f"{array.name}_value")
            self.write(f"{name} = {text}")
        for part, cell in zip(self.part_names(array), np.ndindex(*shape), strict=True):
            self.write(f"{part}[{at}] = {name}[{', '.join(map(str, cell))}]")

    def part_names(self, array: Array) -> list[str]:
        """Return the names of the arrays that hold the components of a local array."""
        names = self.parts.get(array)
        if names is None:
            count = int(np.prod(shape_of(array.type.element)))
            names = [self.names.new(f"{array.name}_{k}") for k in range(count)]
            self.parts[array] = names
        return names

    def alloc(self, array: Array) -> None:
        scalar = scalar_of(array.type.element)
        vector = bool(shape_of(array.type.element))
        for one in self.part_names(array) if vector else [self.names[array]]:
            self.write(f"{one} = ti.Vector([{literal(0, scalar)}] * {array.size})")

    # Text and failures

    def print_(self, parts: tuple[Text, ...]) -> None:
        last = parts[-1] if parts else ""
        whole_line = False
        if isinstance(last, str) and last.endswith("\n"):
            whole_line = True
            parts = (*parts[:-1], last[:-1]) if len(last) > 1 else parts[:-1]
        args: list[str] = []
        for part in parts:
            if isinstance(part, str):
                args.append(repr(part))
            else:
                text = self.value(part.value)
                args.append(f'f"{{{text}:{part.form}}}"' if part.form else text)
        self.consumed(tuple(part.value for part in parts if isinstance(part, Shown)))
        args += ['sep=""'] if len(args) > 1 else []
        args += [] if whole_line else ['end=""']
        self.write(f"print({', '.join(args)})")

    def fail(self, values: tuple[Value, ...]) -> None:
        assert self.report is not None
        count, report = (self.names[array] for array in self.report)
        self.write(f"if ti.atomic_add({count}[None], 1) == 0:")
        self.depth += 1
        self.write(f"{report}[None][0] = {literal(float(self.failures), F64)}")
        for place, value in enumerate(values, 1):
            self.write(f"{report}[None][{place}] = ti.cast({self.value(value)}, ti.f64)")
        self.consumed(values)
        self.depth -= 1
        self.failures += 1

    # Control flow

    def indented(self, block: Block, assigns: list[tuple[str, Value]]) -> None:
        """Write a region and the assignments of its results."""
        self.depth += 1
        before = len(self.lines)
        several = len(assigns) > 1
        self.block(block, inline_results=not several)
        moved: dict[Var, str] = {}
        targets = {name for name, _ in assigns}
        for name, value in assigns:
            text = self.value(value)
            if several and isinstance(value, Var) and text in targets and text != name:
                moved[value] = self.names.new(f"{text}_before")
                self.write(f"{moved[value]} = {text}")
        for name, value in assigns:
            text = moved[value] if isinstance(value, Var) and value in moved else self.value(value)
            self.consumed((value,))
            if text != name:
                self.write(f"{name} = {text}")
        if len(self.lines) == before:
            self.write("pass")
        self.depth -= 1

    def if_(self, stmt: If) -> None:
        cond = self.value(stmt.cond)
        negated = f"not {self.value(stmt.cond, ATOM)}"
        names = [self.name(out) for out in stmt.outs]
        line = self.line_number
        for name, out, value in zip(names, stmt.outs, stmt.orelse.results, strict=True):
            start = literal(0, out.type) if stmt.orelse.stmts else self.value(value)
            self.write(f"{name} = {start}")
        self.consumed((stmt.cond,))
        self.flush(_written(stmt))
        self.line_number = line
        then = list(zip(names, stmt.then.results, strict=True))
        orelse = list(zip(names, stmt.orelse.results, strict=True)) if stmt.orelse.stmts else []
        if not stmt.then.stmts and not then and orelse == [] and stmt.orelse.stmts:
            self.write(f"if {negated}:")
            self.indented(stmt.orelse, [])
            return
        self.write(f"if {cond}:")
        self.indented(stmt.then, then)
        if stmt.orelse.stmts:
            self.line_number = line
            self.write("else:")
            self.indented(stmt.orelse, orelse)

    def start_carries(
        self, carries: tuple[Var, ...], inits: tuple[Value, ...], outs: tuple[Var, ...]
    ) -> list[str]:
        """Write the initial values of carries; carry and result are one Taichi variable."""
        names: list[str] = []
        for carry, init, out in zip(carries, inits, outs, strict=True):
            name = self.names[carry]
            self.alias[out] = name
            self.write(f"{name} = {self.value(init)}")
            self.consumed((init,))
            names.append(name)
        return names

    def for_(self, loop: For) -> None:
        bounds = self.bounds(loop.start, loop.stop)
        self.consumed((loop.start, loop.stop))
        line = self.line_number
        names = self.start_carries(loop.carries, loop.inits, loop.outs)
        self.flush(_written(loop))
        self.line_number = line
        if self.depth == 1:
            self.write("ti.loop_config(serialize=True)")
        self.write(f"for {self.names[loop.index]} in range({bounds}):")
        self.indented(loop.body, list(zip(names, loop.body.results, strict=True)))

    def while_(self, loop: While) -> None:
        names = self.start_carries(loop.carries, loop.inits, loop.outs)
        self.flush(_written(loop))
        self.write("while True:")
        self.depth += 1
        self.block(loop.cond)
        self.write(f"if not {self.value(loop.cond.results[0], ATOM)}:")
        self.depth += 1
        self.write("break")
        self.depth -= 2
        self.indented(loop.body, list(zip(names, loop.body.results, strict=True)))

    def bounds(self, start: Value, stop: Value) -> str:
        if isinstance(start, Const) and start.value == 0:
            return self.value(stop)
        return f"{self.value(start)}, {self.value(stop)}"

    def parallel(self, loop: ParallelFor) -> None:
        axes = list(zip(loop.starts, loop.stops, strict=True))
        bounds = [self.bounds(start, stop) for start, stop in axes]
        starts = [self.value(start, SUM) for start, _ in axes]
        lengths = [self.length(start, stop) for start, stop in axes]
        stop = self.value(loop.stops[0])
        self.consumed((*loop.starts, *loop.stops))
        self.flush(_written(loop))
        line, depth = self.line_number, self.depth
        together = len(axes) if self.flat else max(1, len(axes) - 1)
        stmts = list(loop.body.stmts)
        if self.threads:
            self.open_part()
            ahead, stmts = ahead_of(loop, self.for_each_part)
            self.block(Block(tuple(ahead)))
            self.line_number = line
        if together == 1:
            self.open_range(self.names[loop.indices[0]], starts[0], stop, lengths[0])
        else:
            self.open_flat(loop, starts[:together], lengths[:together])
        for index, bound in list(zip(loop.indices, bounds, strict=True))[together:]:
            self.line_number = line
            self.open(f"for {self.names[index]} in range({bound}):")
        self.depth -= 1
        self.indented(replace(loop.body, stmts=tuple(stmts)), [])
        self.depth = depth

    def open(self, header: str) -> None:
        self.write(header)
        self.depth += 1

    def length(self, start: Value, stop: Value) -> str:
        """Return the text of the number of iterations, as a factor of a product."""
        if isinstance(start, Const) and start.value == 0:
            return self.value(stop, PRODUCT)
        return f"({self.value(stop, SUM)} - {self.value(start, SUM + 1)})"

    def open_part(self) -> None:
        """Open a loop over the threads. Taichi gives a thread 512 iterations of a loop or more."""
        self.part = self.names.new("part")
        self.open(f"for {self.part} in range({_FEWEST * self.threads}):")
        self.open(f"if {self.part} % {_FEWEST} == 0:")

    def open_range(self, index: str, start: str, stop: str, length: str) -> None:
        """Open the loop that runs in parallel, or a thread's part of it."""
        zero = start == "0"
        if not self.threads:
            if self.serial:
                self.write("ti.loop_config(serialize=True)")
            self.open(f"for {index} in range({stop if zero else f'{start}, {stop}'}):")
            return
        size, low = self.names.new("size"), self.names.new("low")
        self.write(f"{size} = ({length} + {self.threads - 1}) // {self.threads}")
        before = f"{self.part} // {_FEWEST} * {size}"
        self.write(f"{low} = {before if zero else f'{start} + {before}'}")
        self.open(f"for {index} in range({low}, ti.min({low} + {size}, {stop})):")

    def open_flat(self, loop: ParallelFor, starts: list[str], lengths: list[str]) -> None:
        """Open one loop over several axes, and recover their indices."""
        sizes: list[str] = []
        for index, length in zip(loop.indices, lengths, strict=False):
            sizes.append(self.names.new(f"n_{index.name}"))
            # Two empty axes would make a product above zero.
            size = (
                length if ".shape[" in length and length.endswith("]") else f"ti.max({length}, 0)"
            )
            self.write(f"{sizes[-1]} = {size}")
        flat = self.names.new("flat")
        whole = " * ".join(sizes)
        self.open_range(flat, "0", whole, whole)
        for k, (index, start, size) in enumerate(zip(loop.indices, starts, sizes, strict=False)):
            inner = sizes[k + 1 :]
            text = f"{flat} // ({' * '.join(inner)})" if inner else flat
            if k > 0:
                text = f"({text}) % {size}" if inner else f"{text} % {size}"
            if start != "0":
                text = f"{text} + {start}"
            self.write(f"{self.names[index]} = {text}")


def _helpers(program: Program) -> list[str]:
    """Return the lines of the functions that the spellings of ops call."""
    used = {stmt.op for stmt in walk(program.body) if isinstance(stmt, Let)}
    texts = [text for op, text in _HELPERS.items() if op in used]
    return [line for text in texts for line in (*text.splitlines(), "", "")]


def _signature(name: str, params: list[str]) -> list[str]:
    one_line = f"def {name}({', '.join(params)}):"
    if len(one_line) <= 100:
        return [one_line]
    return [f"def {name}(", *(f"    {param}," for param in params), "):"]


def _blocks(block: Block) -> list[Block]:
    return [block, *(inner for stmt in walk(block) for inner in regions(stmt))]


def _written(stmt: Stmt) -> set[Array]:
    return {s.array for region in regions(stmt) for s in walk(region) if isinstance(s, WRITES)}
