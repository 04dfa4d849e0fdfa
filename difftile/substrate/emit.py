"""Programs to readable Taichi source: pure text, no Taichi needed.

Statements are written here; `expressions` writes the values they compute, and `parallel` opens
parallel loops. The user's own names stay statements, and each line ends with the number of the
user's line it comes from.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Generator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import field, replace
from itertools import zip_longest

import numpy as np

from difftile.ir.facts import arrays_written, count_uses
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
    Ruled,
    Size,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.printer import Names
from difftile.ir.types import F32, F64, FieldType, Type, Vector, scalar_of, shape_of
from difftile.ir.walk import definitions, operands, walk
from difftile.ops.table import ELEMENTWISE
from difftile.passes.by_warps import met_fields
from difftile.passes.reductions import reductions
from difftile.passes.tile_rows import Copy, copy_of
from difftile.records import dataclass
from difftile.schedule.apply import Applied
from difftile.schedule.grids import Grid, literal_count
from difftile.schedule.long_values import INTO, is_long
from difftile.schedule.schedule import Schedule
from difftile.schedule.target import Target
from difftile.substrate.expressions import Expressions, in_parts, places_from
from difftile.substrate.functions import functions_of
from difftile.substrate.kernel_facts import KernelFacts, KernelParameters, hint_of
from difftile.substrate.parallel import (
    LoopPart,
    Range,
    open_flat,
    open_grid,
    open_nest,
    open_part,
    open_shares,
    open_strides,
)
from difftile.substrate.parts import ahead_of, needed_by
from difftile.substrate.shared_storage import declared_late, take_turns
from difftile.substrate.spellings import ATOM, SPELLINGS, SUM, Infix, Spelling, written
from difftile.substrate.syntax import RESERVED, helpers, literal, signature

_COMMENT_COLUMN = 76
_SHARED = range(2, 17)  # components of vectors that the threads of a warp add together
_NAME = re.compile(r"[A-Za-z_]\w*")
_ATOMIC = {
    op: f"ti.atomic_{op.removeprefix('bit_')}"
    for op in ("add", "mul", "max", "min", "bit_and", "bit_or", "bit_xor")
}


@dataclass(frozen=True, slots=True)
class Emitted:
    """The source of one Taichi kernel.

    Args:
        name: The name of the kernel in the source.
        text: The source.
        annotations: The names that the source uses for the types of its fields.
        least_ndim: The source indexes fields without dimensions by so many zeros.
    """

    name: str
    text: str
    annotations: dict[str, FieldType]
    least_ndim: int = 0


def emit(
    made: Applied,
    schedule: Schedule,
    target: Target,
    *,
    report: tuple[Array, ...] = (),
    spellings: Mapping[str, Spelling] = SPELLINGS,
    polynomials: Mapping[str, Spelling] | None = None,
) -> Emitted:
    """Write a program as a Taichi kernel.

    Args:
        made: A finished program with the steps of a schedule applied.
        schedule: The schedule.
        target: What the program is compiled for.
        report: Where failures are counted, where the first one leaves its number and values, and
            marks; none of that where nothing can fail.
        spellings: How the backend writes each op.
        polynomials: How it writes the functions that are polynomials.
    """
    functions = functions_of(made.program.body, target.guarded, spellings)
    names = Names(RESERVED | functions.keys())
    program = replace(made.program, body=declared_late(made.program.body))
    shared = {s.array for s in walk(program.body) if isinstance(s, Alloc) and s.shared}
    turns = take_turns(program.body, {*made.tiles, *shared})
    for array, other in turns.takes.items():
        names.share(array, other)
    written_as = polynomials or {}
    values = Expressions(
        names,
        count_uses(program.body),
        target.guarded,
        spellings,
        cell="0" if schedule.outlined else "None",
        polynomials={out: written_as[op] for out, op in made.polynomials.items()},
        in_order=bool(made.grids),
        tiles=made.tiles,
    )
    parameters = KernelParameters.of(program, report, schedule, names)
    facts = made, schedule, target, report, turns.ends, shared, parameters
    emitter = _Emitter(KernelFacts(program, *facts), names, values, [*made.grids], shared)
    lines = [line for text in functions.values() for line in text]
    return emitter.kernel(lines)


@dataclass
class _Emitter:
    """Writes a kernel line by line.

    Args:
        of: What is written.
        names: The names of variables and arrays.
        values: The values that wait for their use.
        grids: The threads of the parallel loops that are still to come.
        met: The arrays before and after whose writes the lanes of a warp meet.
    """

    of: KernelFacts
    names: Names
    values: Expressions
    grids: list[Grid]
    met: Set[Array]
    # The text
    lines: list[str] = field(default_factory=list[str])
    functions: list[str] = field(default_factory=list[str])
    depth: int = 1
    line_number: int | None = None
    failures: int = 0
    # The place
    inside: bool = False  # of a function
    thread: str = ""  # the number of the thread, in the loops of a device
    lane: str = ""
    lanes: int = 0  # of a warp, in loops that warps run
    read_by_lanes: set[Array] | None = None  # by all of them; outside of loops that they share
    one: str = ""  # the step of opaque loops, inside of the outermost of them

    def __post_init__(self) -> None:
        self.hints = dict(self.of.parameters.hints)  # of names outside functions
        self.for_each_part = self.of.for_each_part

    # The kernel

    def kernel(self, functions: list[str]) -> Emitted:
        parameters, program = self.of.parameters, self.of.program
        kept = tuple(s for s in program.body.stmts if s not in self.for_each_part)
        shared = self.of.threads and any(isinstance(s, ParallelFor) for s in kept)
        if self.of.schedule.outlined and not shared:
            with self.outline(f"{parameters.kernel}_body"):
                self.block(Block(kept))
        else:
            self.block(Block(kept))
        if not self.lines:
            self.write("pass")
        hints = [f"{param}: {hint}" for param, hint in parameters.hints.items()]
        lines = [
            *helpers(program, self.values.spellings),
            *functions,
            *self.functions,
            "@ti.kernel",
            *signature(parameters.kernel, hints),
            *self.lines,
        ]
        text = "\n".join(lines) + "\n"
        return Emitted(parameters.kernel, text, parameters.annotations, parameters.least_ndim)

    @contextmanager
    def outline(self, name: str) -> Generator[None]:
        """Write the source of the `with` block as a Taichi function, and call it here.

        Outside of functions, LLVM cannot know that the stores of a loop leave the addresses and
        shapes of arrays alone, which are in memory too: it loads them again in every iteration,
        and has no vectors. The arguments of a function are in registers.
        """
        kernel, depth = self.lines, self.depth
        self.lines, self.depth, self.inside = list[str](), 1, True
        yield
        lines, self.lines, self.depth, self.inside = self.lines, kernel, depth, False
        mentioned = set(_NAME.findall("\n".join(lines)))
        params = {param: hint for param, hint in self.hints.items() if param in mentioned}
        if not all(params.values()):
            self.lines += ["    " * (depth - 1) + line for line in lines]
            return
        name = self.names.new(name)
        head = signature(name, [f"{param}: {hint}" for param, hint in params.items()])
        self.functions += ["@ti.real_func", *head, *(lines or ["    pass"]), "", ""]
        self.write(f"{name}({', '.join(params)})")

    def write(self, *texts: str) -> None:
        for text in texts:
            line = "    " * self.depth + text
            if self.line_number is not None:
                line = f"{line:<{_COMMENT_COLUMN}}  # {self.line_number}"
            self.lines.append(line)

    def open(self, *texts: str) -> None:
        """Write lines; a colon at the end of one indents the lines that follow."""
        for text in texts:
            self.write(text)
            self.depth += text.endswith(":")

    # Blocks

    def block(self, block: Block, *, inline_results: bool = True) -> None:
        """Write the statements of a block; the caller writes its results."""
        here = Counter(v for s in block.stmts for v in operands(s) if isinstance(v, Var))
        if inline_results:
            here.update(v for v in block.results if isinstance(v, Var))
        for stmt, following in zip_longest(block.stmts, block.stmts[1:]):
            if not _sets_all_of(stmt, following):
                self.line_number = None if stmt.span is None else stmt.span.line
                self.stmt(stmt, here)
                if id(stmt) in self.of.ends:
                    self.write(*self.values.flush(self.of.ends[id(stmt)]))
                if self.depth == 1 and not self.inside:
                    self.hints |= self.declared(stmt)
        self.line_number = None

    def declared(self, stmt: Stmt) -> dict[str, str]:
        """Return the names that a statement of the kernel declares, and their types.

        Functions are not given vectors and local arrays, whose type is an empty text.
        """
        if isinstance(stmt, Alloc):
            return {self.names[stmt.array]: ""}
        return {
            self.values.name(out): "" if shape_of(out.type) else hint_of(out)
            for out in definitions(stmt)
            if not self.values.waits(out)
        }

    def stmt(self, stmt: Stmt, here: Counter[Var]) -> None:
        match stmt:
            case Let(op="insert"):
                self.insert(stmt)
            case Let(out, op) if is_long(out.type) and op in ELEMENTWISE:
                self.componentwise(out, stmt)
            case Let(out, op, args) if is_long(out.type) and op in INTO:
                self.write(f"{self.values.name(out)} = {literal(0, out.type)}")
                texts = ", ".join(map(self.values.text, (out, *args)))
                self.values.consumed(args)
                self.write(f"dense.into_{op}({texts})")
            case Let(out):
                expression = self.values.let(stmt)
                self.values.consumed(stmt.args)
                self.write(*self.values.define(out, expression, here))
            case Size(out, array, axis):
                self.values.alias[out] = f"{self.names[array]}.shape[{axis}]"
            case Load(out, array, index) if is_long(out.type):
                self.componentwise(out, stmt)
            case Load(out, array, index) if in_parts(array, index):
                expression = self.values.gathered(array, self.start(array, index))
                self.write(*self.values.define(out, expression, here))
            case Load(out, array, index):
                expression = self.values.load(array, index)
                self.values.consumed(index)
                self.write(*self.values.define(out, expression, here))
            case Store() | Accumulate() | Combine() if self.read_by_lanes is not None and (
                stmt.array.size is None or stmt.array in self.of.shared
            ):
                self.by_one_lane(stmt, self.read_by_lanes)
            case Store(array, index, value):
                self.store(array, index, value, add=False, atomic=False)
            case Accumulate(aggregated=True):
                self.add_across_warp(stmt)
            case Accumulate(array, index, value, _, atomic, once):
                add = not (once and array in self.of.made.fresh)
                atomic = atomic and not self.of.schedule.serial
                self.store(array, index, value, add=add, atomic=atomic)
            case Combine():
                self.combine(stmt)
            case Alloc(array, shared=True):
                self.clear_shared(array)
            case Alloc(array):
                if array not in self.values.tiles:
                    self.alloc(array)
            case Print(parts):
                self.write(f"print({self.values.printed(parts)})")
                self.values.consumed(operands(stmt))
            case Fail(_, values):
                self.fail(values)
            case If():
                self.if_(stmt)
            case For(by_lanes=True) if self.lanes:
                self.by_lanes(stmt)
            case For():
                self.for_(stmt)
            case While():
                self.while_(stmt)
            case ParallelFor():
                self.parallel(stmt)
            case Ruled() | Derivative():
                raise AssertionError("finished programs have neither")

    def insert(self, let: Let) -> None:
        """Write a vector with one component replaced: a copy, then an assignment."""
        value, *index, part = let.args
        name = self.values.name(let.out)
        self.write(f"{name} = {self.values.text(value)}")
        self.write(f"{name}[{self.values.index(tuple(index))}] = {self.values.text(part)}")
        self.values.consumed(let.args)

    # Memory

    def store(
        self, array: Array, index: tuple[Value, ...], value: Value, *, add: bool, atomic: bool
    ) -> None:
        atomic = atomic and (array.size is None or array in self.of.shared)
        long = is_long(value.type) and not atomic
        if long:
            self.write(*self.values.named(index))
        elif in_parts(array, index):
            self.store_parts(array, index, value, add=add, atomic=atomic)
            return
        text = self.values.text(value)
        where = self.component(array, index) if long else self.values.place(array, index)
        at = "" if long else self.values.index(index)
        # After '+' a sum keeps its parentheses; the negative of a product is subtracted.
        negates = self.values.negated(value)
        tight = self.values.text(value, SUM + 1)
        self.values.consumed((*index, value))
        self.write(*self.values.flush({array}))
        if long:
            self.store_long(where, value, add=add)
        elif not add:
            self.write(f"{where} = {text}")
        elif atomic and array.size is not None:
            self.write(f"ti.atomic_add({where}, {text})")
        elif atomic and self.is_shared(array, index, value):
            self.write(f"warps.add({self.names[array]}, ti.Vector([{at}]), {text}, {self.thread})")
        elif atomic:
            self.write(f"{where} -= {negates}" if negates else f"{where} += {text}")
        elif negates:
            self.write(f"{where} = {where} - {negates}")
        else:
            self.write(f"{where} = {where} + {tight}")

    def is_shared(self, array: Array, index: tuple[Value, ...], value: Value) -> bool:
        """Tell whether the threads of a warp share the additions of their vectors."""
        element = array.type.element
        return (
            bool(self.of.target.warps and self.thread)
            and isinstance(element, Vector)
            and value.type == element
            and element.scalar == F32
            and element.n in _SHARED
            and len(index) == array.type.ndim > 0
        )

    # Long vectors and matrices: written out, each component would be a statement

    def componentwise(self, out: Var, stmt: Let | Load) -> None:
        """Write a long value component by component."""
        name = self.values.name(out)
        self.write(*self.values.named(operands(stmt)), f"{name} = {literal(0, out.type)}")
        where = self.component(stmt.array, stmt.index) if isinstance(stmt, Load) else ""
        with self.components_of(out.type) as place:
            if isinstance(stmt, Load):
                text = _part(where, place, out.type)
            else:
                text = self.values.let(self.component_of(stmt, place)).text
            self.write(f"{name}[{place}] = {text}")
        self.values.consumed(operands(stmt))

    def component_of(self, let: Let, place: str) -> Let:
        """Return an op of components of its operands."""
        args: list[Value] = []
        for arg in let.args:
            if not shape_of(arg.type):
                args.append(arg)
            elif isinstance(arg, Const):
                args.append(replace(arg, type=scalar_of(arg.type)))
            else:
                component = Var("", scalar_of(arg.type))
                self.values.alias[component] = f"{self.values.name(arg)}[{place}]"
                args.append(component)
        return replace(let, out=Var("", scalar_of(let.out.type)), args=tuple(args))

    def store_long(self, where: str, value: Value, *, add: bool) -> None:
        with self.components_of(value.type) as place:
            if isinstance(value, Const):
                text = literal(value.value, scalar_of(value.type))
            else:
                text = f"{self.values.name(value)}[{place}]"
            part = _part(where, place, value.type)
            self.write(f"{part} = {f'{part} + ' if add else ''}{text}")

    def component(self, array: Array, index: tuple[Value, ...]) -> str:
        """Return the text of a component of an element, without the place of the component."""
        if in_parts(array, index):
            return f"{self.names[array]}[{self.start(array, index)} + "
        return f"{self.values.place(array, index)}["

    def start(self, array: Array, index: tuple[Value, ...]) -> str:
        """Return the place of the first component of a vector or matrix in a local array."""
        text = self.values.offset(array, index)
        self.values.consumed(index)
        if text.isdecimal():
            return text
        name = self.names.new(f"{array.name}_at")
        self.write(f"{name} = {text}")
        return name

    @contextmanager
    def components_of(self, type_: Type) -> Generator[str]:
        """Write loops over the components of a type around the source of the `with` block."""
        names = [self.names.new(letter) for letter, _ in zip("rc", shape_of(type_), strict=False)]
        for name, size in zip(names, shape_of(type_), strict=True):
            self.write(f"{name} = 0")
            self.open(f"while {name} < {size}:")
        yield ", ".join(names)
        for name in reversed(names):
            self.write(f"{name} += 1")
            self.depth -= 1

    def add_across_warp(self, stmt: Accumulate) -> None:
        """Write an accumulation that the threads of a warp make into one element."""
        where, value = self.values.place(stmt.array, stmt.index), self.values.text(stmt.value)
        self.values.consumed((*stmt.index, stmt.value))
        self.write(*self.values.flush({stmt.array}))
        total = self.names.new(f"{stmt.array.name}_total")
        shape = shape_of(stmt.value.type)
        self.write(f"{total} = warps.total({shape}, {value}, {self.lane})")
        self.write(f"if warps.adds({shape}, {total}, {self.lane}):")
        self.depth += 1
        self.write(f"{where} += {total}")
        self.depth -= 1

    def combine(self, stmt: Combine) -> None:
        where, value = self.values.place(stmt.array, stmt.index), self.values.text(stmt.value)
        tight = self.values.text(stmt.value, ATOM)
        self.values.consumed((*stmt.index, stmt.value))
        self.write(*self.values.flush({stmt.array}))
        if not self.of.schedule.serial:
            call = f"{_ATOMIC[stmt.op]}({where}, {value})"
            self.write(call if stmt.out is None else f"{self.values.name(stmt.out)} = {call}")
            return
        # One thread needs no atomics, and Taichi has no product of that kind there.
        spelling = self.values.spellings[stmt.op]
        if stmt.out is not None:
            self.write(f"{self.values.name(stmt.out)} = {where}")
        operand = tight if isinstance(spelling, Infix) else value
        self.write(f"{where} = {written(spelling, (where, operand))}")

    def store_parts(
        self,
        array: Array,
        index: tuple[Value, ...],
        value: Value,
        *,
        add: bool,
        atomic: bool = False,
    ) -> None:
        """Write a vector or matrix into a local array, or add it, component by component."""
        shape = shape_of(array.type.element)
        start = self.start(array, index)
        name = text = self.values.text(value)
        if isinstance(value, Const) or not text.isidentifier():
            name = self.names.new(f"{array.name}_value")
            self.write(f"{name} = {text}")
        self.values.consumed((value,))
        self.write(*self.values.flush({array}))
        places = places_from(start, math.prod(shape))
        for place, cell in zip(places, np.ndindex(*shape), strict=True):
            part = f"{self.names[array]}[{place}]"
            component = f"{name}[{', '.join(map(str, cell))}]"
            if atomic:
                self.write(f"ti.atomic_add({part}, {component})")
            else:
                self.write(f"{part} = {f'{part} + ' if add else ''}{component}")

    def alloc(self, array: Array) -> None:
        element = array.type.element
        if not array.type.ndim:
            self.write(f"{self.names[array]} = {literal(0, element)}")
            return
        zero = literal(0, scalar_of(element))
        self.write(f"{self.names[array]} = ti.Vector([{zero}] * {array.numbers})")

    # Failures

    def fail(self, values: tuple[Value, ...]) -> None:
        count, report = (self.names[array] for array in self.of.report[:2])
        self.write(f"if ti.atomic_add({count}[None], 1) == 0:")
        self.depth += 1
        self.write(f"{report}[None][0] = {literal(float(self.failures), F64)}")
        for place, value in enumerate(values, 1):
            self.write(f"{report}[None][{place}] = ti.cast({self.values.text(value)}, ti.f64)")
        self.values.consumed(values)
        self.depth -= 1
        self.failures += 1

    # Control flow

    def indented(self, block: Block, assigns: list[tuple[str, Value]]) -> None:
        """Write a region and the assignments of its results."""
        self.depth += 1
        before = len(self.lines)
        several = len(assigns) > 1
        self.block(block, inline_results=not several)
        moved: dict[Value, str] = {}
        targets = {name for name, _ in assigns}
        for name, value in assigns:
            text = self.values.text(value)
            if several and isinstance(value, Var) and text in targets and text != name:
                moved[value] = self.names.new(f"{text}_before")
                self.write(f"{moved[value]} = {text}")
        for name, value in assigns:
            text = moved.get(value) or self.values.text(value)
            self.values.consumed((value,))
            if text != name:
                self.write(f"{name} = {text}")
        if len(self.lines) == before:
            self.write("pass")
        self.depth -= 1

    def if_(self, stmt: If) -> None:
        cond = self.values.text(stmt.cond)
        negated = f"not {self.values.text(stmt.cond, ATOM)}"
        names = [self.values.name(out) for out in stmt.outs]
        line = self.line_number
        for name, out, value in zip(names, stmt.outs, stmt.orelse.results, strict=True):
            start = literal(0, out.type) if stmt.orelse.stmts else self.values.text(value)
            self.write(f"{name} = {start}")
        self.values.consumed((stmt.cond,))
        self.write(*self.values.flush(_written(stmt)))
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
            self.values.alias[out] = name
            self.write(f"{name} = {self.values.text(init)}")
            self.values.consumed((init,))
            names.append(name)
        return names

    def for_(self, loop: For) -> None:
        copy = copy_of(loop, self.values.tiles)
        if copy is not None:
            self.copy_rows(copy)
            return
        axis = Range(self.values.text(loop.start), self.values.text(loop.stop), "")
        self.values.consumed((loop.start, loop.stop))
        line = self.line_number
        names = self.start_carries(loop.carries, loop.inits, loop.outs)
        self.write(*self.values.flush(_written(loop)))
        self.line_number = line
        index, serial = self.names[loop.index], self.depth == 1 and not self.inside
        with self.stepping(loop.index) as stepped:
            axes = self.with_names([index], [axis], stepped)
            self.open(*open_nest([index], axes, serial=serial, stepped=stepped))
            self.depth -= 1
            self.indented(loop.body, list(zip(names, loop.body.results, strict=True)))
            self.line_number = line
            self.depth += 1
            self.steps([index], stepped)

    # Loops whose step the compiler is not to know

    @contextmanager
    def stepping(self, *indices: Var) -> Generator[Collection[str]]:
        """Declare the steps of the nested loops that have an opaque step; return their names."""
        outer = self.one
        opaque, sized = self.of.made.opaque, self.of.parameters.sized
        stepped = {self.names[index] for index in indices if index in opaque and sized}
        if stepped and not outer:
            self.one = self.names.new("one")
            # No length has a sign, but LLVM cannot know.
            self.write(f"{self.one} = 1 + ({sized}.shape[0] >> 31)")
        yield stepped
        self.one = outer

    def with_names(
        self, indices: Sequence[str], axes: Sequence[Range], stepped: Collection[str]
    ) -> list[Range]:
        """Return the axes of loops with names for the bounds that each iteration looks at."""
        found: list[Range] = []
        for index, axis in zip(indices, axes, strict=True):
            stop = axis.stop
            if index in stepped and not (stop.isdecimal() or stop.isidentifier()):
                stop = self.names.new(f"{index}_stop")
                self.write(f"{stop} = {axis.stop}")
            found.append(replace(axis, stop=stop))
        return found

    def steps(self, indices: Sequence[str], stepped: Collection[str]) -> None:
        """Write the ends of the iterations of nested loops."""
        for index in reversed(indices):
            if index in stepped:
                self.write(f"{index} += {self.one}")
            self.depth -= 1

    # Loops that warps run

    def by_warps(self, loop: ParallelFor, grid: Grid) -> None:
        """Write a parallel loop of a device of which a warp runs each iteration."""
        self.write(*self.values.flush(_written(loop)))
        line, depth = self.line_number, self.depth
        thread, warp, self.lane = (self.names.new(name) for name in ("thread", "warp", "lane"))
        ahead, stmts = ahead_of(loop, self.for_each_part)
        self.open(*open_grid(grid, thread))
        for stmt in walk(loop.body):
            if isinstance(stmt, Alloc) and stmt.shared:
                count, scalar = stmt.array.numbers, scalar_of(stmt.array.type.element)
                made = f"ti.static(warps.shared(ti.{scalar}, {count}))"
                self.write(f"{self.names[stmt.array]} = {made}")
        self.write(f"{warp} = {thread} // {grid.warp}", f"{self.lane} = {thread} % {grid.warp}")
        self.block(Block(tuple(ahead)))
        self.line_number = line
        workers = grid.threads // grid.warp
        strides = open_strides(self.names, warp, workers, loop.indices, self.axes(loop))
        self.lanes, self.met = grid.warp, self.of.shared | met_fields(loop, self.of.defs).keys()
        self.read_by_lanes = {s.array for s in walk(loop.body) if isinstance(s, Load)}
        self.iterations(loop, strides.opened, stmts, (), strides.onward)
        self.lanes, self.read_by_lanes = 0, None
        self.depth = depth

    def by_one_lane(self, stmt: Store | Accumulate | Combine, read: Collection[Array]) -> None:
        """Write a statement for one lane of a warp, after the loads of the others."""
        self.write(*self.values.flush({stmt.array}))
        if is_long(stmt.value.type):
            self.write(*self.values.named(operands(stmt)))
        if stmt.array in read or stmt.array in self.met:
            self.synchronise()
        self.write(f"if {self.lane} == 0:")
        self.depth += 1
        with self.sharing_turns():
            self.stmt(stmt, Counter())
        self.depth -= 1
        if stmt.array in self.met:
            self.synchronise()

    def synchronise(self) -> None:
        """Write a barrier for the lanes of a warp, unless the line before is one."""
        line = "    " * self.depth + "warps.meet()"
        if self.lines[-1].partition("  # ")[0].rstrip() != line:
            self.write("warps.meet()")

    def turns(self, first: str, length: str, index: str) -> None:
        """Open a loop of which each lane runs every turn that is its own."""
        turn = self.names.new("turn")
        before = "" if first == "0" else f"{first} + "
        rounds = f"({length} - 1 - {self.lane}) // {self.lanes} + 1"
        self.write(f"for {turn} in range({rounds}):")
        self.depth += 1
        self.write(f"{index} = {before}{self.lane} + {turn} * {self.lanes}")
        self.depth -= 1

    def clear_shared(self, array: Array) -> None:
        """Write zeros into an array that lanes share."""
        index = self.names.new("place")
        self.synchronise()
        self.turns("0", str(array.numbers), index)
        self.depth += 1
        self.write(f"{self.names[array]}[{index}] = {literal(0, scalar_of(array.type.element))}")
        self.depth -= 1
        self.synchronise()

    def by_lanes(self, loop: For) -> None:
        """Write a loop in which the lanes of a warp take turns."""
        ops = reductions(loop)
        assert ops is not None
        first, length = self.values.text(loop.start, SUM), self.values.length(loop.start, loop.stop)
        self.values.consumed((loop.start, loop.stop))
        line = self.line_number
        names: list[str] = []
        for carry, init, out, op in zip(loop.carries, loop.inits, loop.outs, ops, strict=True):
            text = self.values.text(init)
            if op == "add" and not (isinstance(init, Const) and init.value == 0):
                text = f"ti.select({self.lane} == 0, {text}, {literal(0, carry.type)})"
            self.values.alias[out] = name = self.names[carry]
            self.write(f"{name} = {text}")
            self.values.consumed((init,))
            names.append(name)
        self.write(*self.values.flush(_written(loop)))
        self.line_number = line
        writes = not self.met.isdisjoint(_written(loop))
        if writes:
            self.synchronise()
        self.turns(first, length, self.names[loop.index])
        with self.sharing_turns():
            self.indented(loop.body, list(zip(names, loop.body.results, strict=True)))
        self.line_number = line
        if writes:
            self.synchronise()
        for name, carry, op in zip(names, loop.carries, ops, strict=True):
            self.write(f"{name} = warps.all_{op}({shape_of(carry.type)}, {name})")
        self.line_number = None

    @contextmanager
    def sharing_turns(self) -> Generator[None]:
        """Write the source of the `with` block for a single lane."""
        read, self.read_by_lanes = self.read_by_lanes, None
        yield
        self.read_by_lanes = read

    def tiles(self, loop: ParallelFor, thread: str) -> None:
        """Write the tiles of a parallel loop, whose threads have numbers of a name."""
        for stmt in loop.body.stmts:
            if isinstance(stmt, Alloc) and stmt.array in self.values.tiles:
                made = f"ti.static(warps.tile(ti.{stmt.array.type.element}))"
                self.write(f"{self.names[stmt.array]} = {made}")
        self.values.row = self.names.new("row")
        self.write(f"{self.values.row} = warps.row({thread})")

    def copy_rows(self, copy: Copy) -> None:
        """Write a copy that the threads of a warp make together, of a piece of a row for each."""
        values = (*copy.lead, copy.begin, copy.count)
        self.write(*self.values.named(values))
        self.write(*self.values.flush({copy.tile if copy.into else copy.array}))
        *at, count = map(self.values.text, values)
        places = f"{self.names[copy.tile]}, {self.names[copy.array]}, ({', '.join(at)})"
        name = "load_rows" if copy.into else "store_rows"
        self.write(f"warps.{name}({places}, {count}, {self.thread})")

    def while_(self, loop: While) -> None:
        names = self.start_carries(loop.carries, loop.inits, loop.outs)
        self.write(*self.values.flush(_written(loop)))
        self.write("while True:")
        self.depth += 1
        self.block(loop.cond)
        self.write(f"if not {self.values.text(loop.cond.results[0], ATOM)}:")
        self.depth += 1
        self.write("break")
        self.depth -= 2
        self.indented(loop.body, list(zip(names, loop.body.results, strict=True)))

    def parallel(self, loop: ParallelFor) -> None:
        if self.grids:
            grid = self.grids.pop(0)
            (self.by_warps if loop.by_warps else self.on_grid)(loop, grid)
            return
        axes = self.axes(loop)
        self.write(*self.values.flush(_written(loop)))
        if not self.of.threads:
            stmts = [*needed_by(loop, self.for_each_part), *loop.body.stmts]
            indices = [self.names[index] for index in loop.indices]
            serial = self.of.schedule.serial and not self.inside
            with self.stepping(*loop.indices) as stepped:
                axes = self.with_names(indices, axes, stepped)
                opened = open_nest(indices, axes, serial=serial, stepped=stepped)
                self.iterations(loop, opened, stmts, stepped=stepped)
            return
        depth = self.depth
        part = LoopPart(self.names.new("part"), self.of.threads, self.of.schedule.short)
        self.open(*part.opened())
        if self.of.schedule.outlined:
            self.hints[part.counter] = "ti.i32"
            with self.outline(f"{self.of.parameters.kernel}_part"):
                self.part(loop, axes, part)
        else:
            self.part(loop, axes, part)
        self.depth = depth

    def axes(self, loop: ParallelFor) -> list[Range]:
        """Return the axes of a parallel loop, whose bounds are written now."""
        limits = zip(loop.starts, loop.stops, strict=True)
        values = self.values
        axes = [
            Range(values.text(start, SUM), values.text(stop), values.length(start, stop))
            for start, stop in limits
        ]
        values.consumed((*loop.starts, *loop.stops))
        return axes

    def part(self, loop: ParallelFor, axes: list[Range], part: LoopPart) -> None:
        """Write a thread's part of a loop."""
        line = self.line_number
        ahead, stmts = ahead_of(loop, self.for_each_part)
        self.block(Block(tuple(ahead)))
        self.line_number = line
        indices = [self.names[index] for index in loop.indices]
        with self.stepping(*loop.indices) as stepped:
            opened = open_part(self.names, indices, axes, part, stepped)
            self.iterations(loop, opened, stmts, stepped=stepped)

    def on_grid(self, loop: ParallelFor, grid: Grid) -> None:
        """Write a parallel loop of a device."""
        self.write(*self.values.flush(_written(loop)))
        line, depth = self.line_number, self.depth
        count = literal_count(loop)
        tiled = any(isinstance(s, Alloc) and s.array in self.values.tiles for s in loop.body.stmts)
        if count is not None and count <= grid.threads and not tiled:
            stmts = [*needed_by(loop, self.for_each_part), *loop.body.stmts]
            axes, indices = self.axes(loop), [self.names[index] for index in loop.indices]
            if len(axes) > 1:
                thread = self.names.new("flat")
                opened, place = open_flat(self.names, thread, loop.indices, axes)
            else:
                opened, (first,) = open_nest(indices, axes, serial=False), indices
                place = thread = first if axes[0].start == "0" else f"{first} - {axes[0].start}"
            self.iterations(loop, opened, stmts, (thread, place, axes[-1].length))
            return
        thread = self.names.new("thread")
        ahead, stmts = ahead_of(loop, self.for_each_part)
        self.open(*open_grid(grid, thread))
        if tiled:
            self.tiles(loop, thread)
        self.block(Block(tuple(ahead)))
        self.line_number = line
        axes = self.axes(loop)
        if grid.least and len(axes) == 1 and not _adds_by_warps(loop):
            strides = open_shares(self.names, thread, grid, loop.indices[0], axes[0])
        else:
            strides = open_strides(self.names, thread, grid.threads, loop.indices, axes)
        lane = (thread, strides.place, strides.row)
        self.iterations(loop, strides.opened, stmts, lane, strides.onward)
        self.depth = depth

    def iterations(
        self,
        loop: ParallelFor,
        opened: Sequence[str],
        stmts: Sequence[Stmt],
        lane: Sequence[str] = (),
        onward: Sequence[str] = (),
        stepped: Collection[str] = (),
    ) -> None:
        """Write the iterations of a parallel loop.

        Args:
            loop: The loop.
            opened: The lines that open it.
            stmts: The statements of an iteration.
            lane: The arguments of `warps.lane`.
            onward: The lines that end an iteration.
            stepped: The indices of the loops whose iterations end with a step.
        """
        line, depth = self.line_number, self.depth
        self.open(*opened)
        self.thread = lane[0] if lane else ""
        if lane and _adds_by_warps(loop):
            self.lane = self.names.new("lane")
            self.write(f"{self.lane} = warps.lane({', '.join(lane)})")
        self.depth -= 1
        self.indented(replace(loop.body, stmts=tuple(stmts)), [])
        self.depth += 1
        self.line_number = line
        self.write(*onward)
        self.steps([self.names[index] for index in loop.indices], stepped)
        self.depth = depth


def _adds_by_warps(loop: ParallelFor) -> bool:
    return any(isinstance(s, Accumulate) and s.aggregated for s in walk(loop.body))


def _sets_all_of(declared: Stmt, stmt: Stmt | None) -> bool:
    """Tell whether a statement sets all components that the one before it declares."""
    if not isinstance(declared, Alloc) or not isinstance(stmt, Store):
        return False
    if is_long(stmt.value.type):  # set by loops
        return False
    return stmt.array is declared.array and not stmt.index


def _written(stmt: Stmt) -> Set[Array]:
    return arrays_written(Block((stmt,)))


def _part(component: str, place: str, type_: Type) -> str:
    """Return the text of a component of an element at a place, 'r' or 'r, c'."""
    if component.endswith("["):
        return f"{component}{place}]"
    row, *column = place.split(", ")
    flat = f"{row} * {shape_of(type_)[1]} + {column[0]}" if column else row
    return f"{component}{flat}]"
