"""One stage of a kernel: its forward code, its adjoints, and which old values they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from difftile.ad.activity import active_values, active_writes
from difftile.ad.forward import forward
from difftile.ad.reverse import reverse
from difftile.ad.tangent_only import tangent_only
from difftile.diagnostics import Span
from difftile.ir.nodes import (
    Array,
    Block,
    Const,
    For,
    Load,
    ParallelFor,
    Program,
    Size,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.walk import (
    arrays_loaded,
    arrays_written,
    walk,
)
from difftile.passes.batch import batch
from difftile.passes.bounds import confine
from difftile.passes.conflicts import Doubt, clashes, stale_loads
from difftile.passes.extents import Extents, extents
from difftile.passes.inline_primals import inline_primals
from difftile.passes.optimise import finish, pruned, simplify
from difftile.passes.promises import verify
from difftile.passes.versions import late_loads, redirect
from difftile.substrate import CompiledProgram, current_session

_FEWEST_BLOCKS = 32  # more lose digits where their sums meet
_BLOCKS_A_THREAD = 4
_BLOCKS_ON_GPU = 65_536


def _finished(program: Program) -> CompiledProgram:
    session = current_session()
    blocks_on_cpu = max(_FEWEST_BLOCKS, _BLOCKS_A_THREAD * session.threads)
    blocks = blocks_on_cpu if session.on_host else _BLOCKS_ON_GPU
    finished = finish(
        inline_primals(program),
        blocks,
        few_threads=session.on_host,
        warps=session.warps,
        as_written=not session.fast_math,
    )
    if not session.debug:
        return CompiledProgram(finished)
    verified, marks = verify(finished)
    return CompiledProgram(confine(verified), marks)


@dataclass(frozen=True, slots=True)
class ManyCode:
    """A program for many directions, ready to be launched.

    Args:
        code: The compiled program.
        of: For each array with one axis more what it was; None for memory of the program's own.
        width: The parameter for the number of directions.
    """

    code: CompiledProgram
    of: Mapping[Array, Array | None]
    width: Var


@dataclass(frozen=True, slots=True)
class ManyTangents:
    """Many tangents of a stage, to be pushed after it has run.

    Args:
        many: The program.
        dots: For each tangent, as it was without the axis, the field.
        before: For each parameter with contents from before the stage, the field.
    """

    many: ManyCode
    dots: dict[Array, Array]
    before: dict[Array, Array]


def _many(program: Program, arrays: set[Array]) -> ManyCode:
    batched = batch(program, arrays)
    code = _finished(simplify(batched.program))
    return ManyCode(code, batched.of, batched.width)


@dataclass(frozen=True, slots=True)
class TangentCode:
    """A program with tangents, ready to be launched.

    Args:
        code: The compiled program.
        of: For each parameter that is a tangent, what it is the tangent of.
    """

    code: CompiledProgram
    of: dict[Array, Array]


@dataclass(frozen=True, slots=True)
class AdjointCode:
    """An adjoint ready to be launched.

    Args:
        code: The compiled program.
        reads: The fields of the primal whose contents from before the stage it reads.
        after: For each parameter with contents from after the stage, the primal's field.
        bars: For each parameter that is a gradient buffer, the primal's field.
        program: What was compiled, as it was derived.
    """

    code: CompiledProgram
    reads: frozenset[Array]
    after: dict[Array, Array]
    bars: dict[Array, Array]
    program: Program
    _tangents: dict[frozenset[Array], TangentCode] = field(default_factory=dict[Any, Any])
    _many: dict[None, ManyCode] = field(default_factory=dict[Any, Any])

    def many(self) -> ManyCode:
        """Return the code for many cotangents at once.

        Raises:
            Unbatchable: Loops have bounds that differ between them.
        """
        found = self._many.get(None)
        if found is None:
            written = {a for a in arrays_written(self.program.body) if a.size is None}
            arrays = written | set(self.bars)
            found = self._many[None] = _many(self.program, arrays)
        return found

    def tangent(self, varying: frozenset[Array]) -> TangentCode:
        """Return the code that runs the adjoint and pushes tangents of its parameters.

        Args:
            varying: The parameters that have a tangent, its own memory among them.
        """
        return _tangent(self._tangents, self.program, varying)


def _tangent(
    known: dict[frozenset[Array], TangentCode], program: Program, varying: frozenset[Array]
) -> TangentCode:
    found = known.get(varying)
    if found is None:
        tangents = forward(program, varying)
        code = _finished(simplify(tangents.program))
        found = known[varying] = TangentCode(code, {dot: a for a, dot in tangents.dots.items()})
    return found


class Stage:
    """A program all of whose loads read what fields held before it, or hold after it."""

    def __init__(self, program: Program) -> None:
        self.program = pruned(program)
        self.written = frozenset(a for a in arrays_written(program.body) if a.size is None)
        self.loaded = frozenset(a for a in arrays_loaded(program.body) if a.size is None)
        late = late_loads(self.program)
        loads = [s for s in walk(self.program.body) if isinstance(s, Load)]
        self.loaded_late = frozenset(s.array for s in loads if s.out in late)
        self._early = frozenset(s.out for s in loads if s.out not in late)
        self._adjoints: dict[tuple[frozenset[Array], bool], AdjointCode | None] = {}
        self._tangents: dict[frozenset[Array], TangentCode] = {}
        self._cuts: dict[frozenset[Array], dict[Array, Span | None]] = {}
        self._many: dict[frozenset[Array], ManyTangents | None] = {}
        self._renamed: dict[frozenset[Array], tuple[CompiledProgram, dict[Array, Array]]] = {}

    @cached_property
    def forward(self) -> CompiledProgram:
        """The code that updates fields in place."""
        return _finished(self.program)

    def renamed(self, arrays: frozenset[Array]) -> tuple[CompiledProgram, dict[Array, Array]]:
        """Return the code that reads some fields from their old buffers, and those parameters.

        The map leads from each parameter for an old buffer to the field it belongs to.
        """
        found = self._renamed.get(arrays)
        if found is None:
            old = {a: Array(f"{a.name}_old", a.type) for a in arrays if a in self.loaded}
            body = redirect(self.program.body, self._early, old)
            program = replace(self.program, params=(*self.program.params, *old.values()), body=body)
            code = _finished(program)
            found = (code, {new: a for a, new in old.items()})
            self._renamed[arrays] = found
        return found

    def adjoint(self, wanted: frozenset[Array], *, constant: bool = False) -> AdjointCode | None:
        """Return the adjoint for fields with gradients, or None if there is nothing to do.

        Args:
            wanted: The fields with gradients.
            constant: Take all that the stage computes as constants.

        Raises:
            NotDifferentiable: The stage has no adjoint.
        """
        key = (wanted, constant)
        if key not in self._adjoints:
            self._adjoints[key] = self._make_adjoint(wanted, constant=constant)
        return self._adjoints[key]

    def _make_adjoint(self, wanted: frozenset[Array], *, constant: bool) -> AdjointCode | None:
        if not wanted & self.written:
            return None
        adjoint = reverse(self.program, wanted, constant=constant)
        if not adjoint.program.body.stmts:
            return None
        if adjoint.after.keys() & arrays_loaded(adjoint.program.body):
            # Reading results back pins them; it must save a loop to be worth that.
            again = reverse(self.program, wanted, read_back=False, constant=constant)
            if _loops(again.program) <= _loops(adjoint.program):
                adjoint = again
        program = simplify(adjoint.program)
        code = _finished(program)
        reads = arrays_loaded(code.program.body) & _arrays(self.program)
        bars = {bar: array for array, bar in adjoint.bars.items()}
        return AdjointCode(code, frozenset(reads), dict(adjoint.after), bars, program)

    def tangent(self, wanted: frozenset[Array]) -> TangentCode:
        """Return the code that runs the stage and pushes tangents of some fields."""
        return _tangent(self._tangents, self.program, wanted)

    @property
    def compiled(self) -> list[CompiledProgram]:
        """All that was compiled so far."""
        adjoints = (adjoint.code for adjoint in self._adjoints.values() if adjoint is not None)
        tangents = (tangent.code for tangent in self._tangents.values())
        renamed = (code for code, _ in self._renamed.values())
        return [self.forward, *adjoints, *tangents, *renamed]

    def many_tangents(self, wanted: frozenset[Array]) -> ManyTangents | None:
        """Return the code that pushes many tangents at once, or None where it cannot be.

        Raises:
            Unbatchable: Loops have bounds that differ between them.
        """
        if wanted not in self._many:
            apart = tangent_only(self.program, wanted)
            if apart is None:
                self._many[wanted] = None
            else:
                many = _many(apart.program, set(apart.dots.values()))
                dots = {dot: array for array, dot in apart.dots.items()}
                self._many[wanted] = ManyTangents(many, dots, dict(apart.before))
        return self._many[wanted]

    @cached_property
    def _stale(self) -> frozenset[Array]:
        return frozenset(load.array for load, _ in stale_loads(self.program).values())

    @cached_property
    def overwrites(self) -> dict[Array, tuple[Value, ...]]:
        """The fields that a loop overwrites whole, if its bounds are the field's shape.

        Such a field can be written into a fresh buffer. The bounds are compared at each launch.
        """
        found: dict[Array, tuple[Value, ...]] = {}
        touched: set[Array] = set()
        for stmt in self.program.body.stmts:
            for array, stops in _whole_stores(stmt):
                if array not in touched and array not in self._stale:
                    found.setdefault(array, stops)
            touched |= arrays_written(Block((stmt,)))
        return found

    @cached_property
    def extents(self) -> Extents:
        """Where the stage writes."""
        return extents(self.program)

    @cached_property
    def sizes(self) -> dict[Var, tuple[Array, int]]:
        """What the sizes read at the top level are, by the variable that holds them."""
        return {s.out: (s.array, s.axis) for s in self.program.body.stmts if isinstance(s, Size)}

    def cuts(self, wanted: frozenset[Array]) -> dict[Array, Span | None]:
        """Return the fields without gradient that are given values which vary with wanted ones."""
        if wanted not in self._cuts:
            writes = active_writes(self.program, wanted)
            self._cuts[wanted] = {stmt.array: stmt.span for stmt in writes}
        return self._cuts[wanted]

    @cached_property
    def _clashes(self) -> list[Doubt]:
        return clashes(self.program)

    def clashes(self, wanted: frozenset[Array]) -> list[Doubt]:
        """Return the stores that may meet in one element, and that derivatives would pass through.

        Args:
            wanted: The fields with derivatives.
        """
        if not self._clashes:
            return []
        active = active_values(self.program, wanted)
        return [doubt for doubt in self._clashes if doubt.matters(active, wanted)]

    def passes_on(self, array: Array) -> bool:
        """Tell whether something written varies smoothly with what a field holds."""
        return any(
            stmt.array is not array for stmt in active_writes(self.program, frozenset((array,)))
        )


def _loops(program: Program) -> int:
    return sum(isinstance(stmt, For) for stmt in walk(program.body))


def _arrays(program: Program) -> set[Array]:
    return {p for p in (*program.params, *program.temps) if isinstance(p, Array)}


def _whole_stores(stmt: Stmt) -> list[tuple[Array, tuple[Value, ...]]]:
    """Return the fields of which a top-level statement stores every element of a box."""
    if isinstance(stmt, Store):
        return [(stmt.array, ())] if not stmt.index else []
    if not isinstance(stmt, ParallelFor):
        return []
    if any(not (isinstance(start, Const) and start.value == 0) for start in stmt.starts):
        return []
    found: list[tuple[Array, tuple[Value, ...]]] = []
    before: set[Array] = set()
    for inner in stmt.body.stmts:
        if isinstance(inner, Store) and inner.index == stmt.indices and inner.array not in before:
            found.append((inner.array, stmt.stops))
        before |= arrays_written(Block((inner,)))
    return found
