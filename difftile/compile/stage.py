"""One stage of a kernel, and the programs that are derived from it on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

from difftile.ad.activity import active_values, active_writes, passing
from difftile.ad.forward import forward
from difftile.ad.reverse import reverse
from difftile.ad.tangent_only import tangent_only
from difftile.compile.compiled import compiled
from difftile.compiling import deriving
from difftile.diagnostics import Span
from difftile.ir.derived import (
    After,
    Bar,
    Before,
    Derived,
    Dot,
    Logged,
    Role,
    Same,
    Scratch,
    Shape,
    part_of,
    primal,
)
from difftile.ir.facts import arrays_loaded, arrays_written
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
from difftile.ir.types import is_float
from difftile.ir.walk import WRITES, walk
from difftile.passes.batch import batch
from difftile.passes.conflicts import PossibleConflict, clashes
from difftile.passes.extents import Extents, extents
from difftile.passes.optimise import pruned, simplify
from difftile.passes.precedence import stale_loads
from difftile.passes.versions import late_loads, redirect
from difftile.passes.windows import Windowed, windowed
from difftile.records import dataclass
from difftile.substrate import CompiledProgram, KeptResults, Native
from difftile.uncollected import uncollected


@dataclass(frozen=True, slots=True)
class Primal:
    """The stage itself, which updates fields in place."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """The stage, reading some fields from their old buffers while it writes fresh ones."""

    arrays: frozenset[Array]


@dataclass(frozen=True, slots=True)
class Adjoint:
    """The adjoint for some fields with gradients.

    With `constant`, all computed values count as constants: stores only clear gradients. `carried`
    are the fields through which a window of a loop hands values on.
    """

    wanted: frozenset[Array]
    constant: bool = False
    carried: frozenset[Array] = frozenset()


@dataclass(frozen=True, slots=True)
class Tangent:
    """A program with the tangents of some parameters: of the stage, its adjoint, or tangents."""

    wanted: frozenset[Array]
    of: Adjoint | Tangent | None = None

    @property
    def level(self) -> int:
        """The number of directions along which the program has tangents."""
        return 1 + (self.of.level if isinstance(self.of, Tangent) else 0)


@dataclass(frozen=True, slots=True)
class TangentOnly:
    """Only the tangents of the stage or of its adjoint, to be pushed after that has run."""

    wanted: frozenset[Array]
    of: Adjoint | None = None


@dataclass(frozen=True, slots=True)
class Batched:
    """An adjoint or tangents for many directions at once."""

    of: Adjoint | Tangent | TangentOnly


Request: TypeAlias = Primal | Renamed | Adjoint | Tangent | TangentOnly | Batched

PRIMAL = Primal()

Wishes: TypeAlias = Mapping[str, Mapping[int, str]]
"""Texts of the steps that are set for parallel loops, by the name of the stage and the line."""

STAGES = ("forward", "adjoint", "tangent")


def name_of(request: Request) -> str:
    """Return the name of a program, one of `STAGES`."""
    match request:
        case Batched(of):
            return name_of(of)
        case Adjoint():
            return "adjoint"
        case Tangent() | TangentOnly():
            return "tangent"
        case _:
            return "forward"


class DerivedCode:
    """A derived program, ready to be launched.

    Args:
        derived: The program.
        native: Native kernels that may run instead.
        kept: What is kept of it on disk.
        key: Its name there.

    Attributes:
        code: The compiled program.
        roles: The role of each of its parameters, in their order. Fields whose contents the program
            does not read have the role `Shape`.
        lengths: The program that finds the extents of its logs; None if it has none.
    """

    __slots__ = ("_advance", "_kept", "_key", "code", "derived", "lengths", "roles")

    def __init__(
        self,
        derived: Derived,
        native: Native | None = None,
        kept: KeptResults | None = None,
        key: tuple[object, ...] = (),
    ) -> None:
        self.derived, self._kept, self._key = derived, kept or KeptResults(), key
        self.lengths = None if derived.lengths is None else self._with(derived.lengths, "lengths")
        self._advance: DerivedCode | None = None
        self.code = compiled(derived.program, native, self._kept, key)
        self.roles = self.roles_in(self.code.program)

    def roles_in(self, program: Program) -> tuple[Role, ...]:
        """Return the roles of the parameters and hidden fields of the program in some form."""
        loaded = arrays_loaded(program.body)
        if self.code.speculates:  # the general form may load more
            loaded |= arrays_loaded(self.derived.program.body)

        def role(param: Array | Var) -> Role:
            found = self.derived.role(param)
            if isinstance(found, (Before, After)) and param not in loaded:
                return Shape(found.array)
            return found

        return tuple(role(param) for param in (*program.params, *program.temps))

    @property
    def advance(self) -> DerivedCode:
        """The program that only runs the stage on copies; of programs with logs."""
        assert self.derived.advance is not None
        self._advance = self._advance or self._with(self.derived.advance, "advance")
        return self._advance

    def _with(self, other: Derived, word: str) -> DerivedCode:
        """Return the code of a program that runs with this one."""
        return DerivedCode(other, None, self._kept, (*self._key, word))

    def fields(self, kind: type[Before | After | Bar]) -> dict[Array, Array]:
        """Return the parameters with a role of some kind, by the field of the primal."""
        return {
            role.array: param
            for param, role in zip(self.code.params, self.roles, strict=True)
            if isinstance(role, kind) and isinstance(param, Array)
        }


class Stage:
    """A program whose loads read the contents of fields from before it, or from after it.

    Args:
        program: The program.
        number: The stages of the kernel before this one.
        native: Native kernels that may run instead of the stage; programs derived from it ignore
            them.
        kept: What is kept of it on disk.
    """

    def __init__(
        self,
        program: Program,
        number: int,
        native: Native | None = None,
        kept: KeptResults | None = None,
    ) -> None:
        self.number = number
        self._native, self._kept = native, kept or KeptResults()
        found = self._kept.get(("stage", number), lambda: _accesses(program))
        self.program, self.written, self.loaded, self.loaded_late, self._early = found
        self._codes: dict[Request, DerivedCode | None] = {}
        self._requests: dict[tuple[Adjoint | None, int, object], Request] = {}
        self._wishes: Wishes = {}

    def wish(self, wishes: Wishes) -> None:
        """Set the steps of some parallel loops for later launches."""
        self._wishes = wishes
        for request, code in self._codes.items():
            if code is not None:
                code.code.wish(wishes.get(name_of(request), {}))
        windows = vars(self).get("windows")
        if windows is not None:
            windows.wish(wishes)

    def derived(self, request: Request) -> Derived | None:
        """Return a program that follows from the stage, or None.

        There is no adjoint where no gradient changes, and there are no tangents without the stage
        where it would have to run again.

        Raises:
            NotDifferentiable: The stage has no adjoint.
            Unbatchable: Loops have bounds that differ between directions.
        """
        # Parameters of derivations refer to each other, so all have the same.
        with deriving(f"deriving {self.program.name}, {name_of(request)}"):
            return self._kept.get(("derived", self.number, request), lambda: self._derive(request))

    def code(self, request: Request) -> DerivedCode | None:
        """Return the compiled form of `derived(request)`.

        Raises:
            NotDifferentiable: The stage has no adjoint.
            Unbatchable: Loops have bounds that differ between directions.
        """
        if request not in self._codes:
            derived = self.derived(request)
            native = self._native if request == PRIMAL else None
            key = "code", self.number, request
            code = None if derived is None else DerivedCode(derived, native, self._kept, key)
            steps = self._wishes.get(name_of(request))
            if code is not None and steps:
                code.code.wish(steps)
            self._codes.setdefault(request, code)
        return self._codes[request]

    @property
    def primal(self) -> DerivedCode:
        """The compiled stage."""
        code = self.code(PRIMAL)
        assert code is not None
        return code

    @property
    def compiled(self) -> list[CompiledProgram]:
        """All programs that were compiled so far."""
        return [code.code for code in self._codes.values() if code is not None]

    @uncollected()
    def _derive(self, request: Request) -> Derived | None:
        match request:
            case Primal():
                return primal(self.program)
            case Renamed():
                return self._renamed(request)
            case Adjoint():
                return self._adjoint(request)
            case Tangent():
                return self._tangent(request)
            case TangentOnly(wanted):
                of = self._of(request)
                return None if of is None else tangent_only(of, wanted)
            case Batched():
                return self._batched(request)

    def _renamed(self, request: Renamed) -> Derived:
        # In the order of the parameters: texts are to be the same in every process.
        renamed = [a for a in self.program.arrays if a in request.arrays and a in self.loaded]
        old = {a: Array(f"{a.name}_old", a.type) for a in renamed}
        body = redirect(self.program.body, self._early, old)
        program = replace(self.program, params=(*self.program.params, *old.values()), body=body)
        return primal(self.program).with_roles(program, {new: Before(a) for a, new in old.items()})

    def _adjoint(self, request: Adjoint) -> Derived | None:
        wanted, constant, carried = request.wanted, request.constant, request.carried
        if not wanted & self.written:
            return None
        adjoint = reverse(self.program, wanted, constant=constant, carried=carried)
        if not adjoint.program.body.stmts:
            return None
        if set(adjoint.of(After).values()) & arrays_loaded(adjoint.program.body):
            # Reading results back pins them; it must save a loop to be worth that.
            again = reverse(
                self.program, wanted, read_back=False, constant=constant, carried=carried
            )
            if _loops(again.program) <= _loops(adjoint.program):
                adjoint = again
        return _simplified(adjoint)

    def _of(self, request: Tangent | TangentOnly) -> Derived | None:
        """Return the program whose tangents are requested."""
        return self.derived(PRIMAL if request.of is None else request.of)

    def varying(
        self, of: Adjoint | Tangent | None, varies: Callable[[Role], bool]
    ) -> frozenset[Array]:
        """Return the arrays of the stage, or of a program derived from it, that have tangents.

        Args:
            of: The program.
            varies: Tells whether a parameter with some role has a tangent that may not be zero; of
                a tangent it is asked for what that is a tangent of. Memory of an adjoint's own has
                one.
        """
        derived = self.derived(PRIMAL if of is None else of)
        assert derived is not None

        def has_tangent(array: Array) -> bool:
            role, _ = part_of(derived.role(array))
            if isinstance(role, (Scratch, Logged)):
                return is_float(array.type.element)
            return varies(role)

        return frozenset(array for array in derived.program.arrays if has_tangent(array))

    def with_tangents(
        self, of: Adjoint | None, levels: int, varies: Callable[[Role], bool], key: object
    ) -> Request:
        """Return the request of the stage or an adjoint with tangents along several directions.

        Args:
            of: The adjoint.
            levels: The number of directions.
            varies: See `varying`.
            key: A value that `varies` follows from.
        """
        found = self._requests.get((of, levels, key))
        if found is None:
            request: Adjoint | Tangent | None = of
            for _ in range(levels):
                request = Tangent(self.varying(request, varies), request)
            found = self._requests[of, levels, key] = request or PRIMAL
        return found

    def _tangent(self, request: Tangent) -> Derived | None:
        of = self._of(request)
        if of is None:
            return None
        tangent = forward(of, request.wanted, level=request.level)
        return tangent.with_program(simplify(tangent.program))

    def _batched(self, request: Batched) -> Derived | None:
        of = self.derived(request.of)
        if of is None:
            return None
        several = Dot if isinstance(request.of, TangentOnly) else (Bar, Dot)
        lanes = (p for p, role in of.roles.items() if isinstance(role, several))
        batched = batch(of, [p for p in lanes if isinstance(p, Array)])
        return batched.with_program(simplify(batched.program))

    @cached_property
    def _stale(self) -> frozenset[Array]:
        return frozenset(load.array for load, _ in stale_loads(self.program.body).values())

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
    def windows(self) -> WindowedStage | None:
        """The stage for windows of its loop; None if it is not one loop."""
        found = windowed(self.program)
        if found is None:
            return None
        made = WindowedStage(found, self.number)
        made.wish(self._wishes)
        return made

    @cached_property
    def extents(self) -> Extents:
        """Where the stage writes."""
        return extents(self.program)

    @cached_property
    def read_extents(self) -> Extents:
        """Where the stage reads."""
        return extents(self.program, reads=True)

    @cached_property
    def sizes(self) -> dict[Var, tuple[Array, int]]:
        """The array and axis of each size read at the top level, by the variable that holds it."""
        return {s.out: (s.array, s.axis) for s in self.program.body.stmts if isinstance(s, Size)}

    def reached(self, sources: frozenset[Array]) -> frozenset[Array]:
        """Return the fields, sources included, that are given values which vary with sources."""
        return self._kept.get(("reached", self.number, sources), lambda: self._reached(sources))

    def _reached(self, sources: frozenset[Array]) -> frozenset[Array]:
        found = sources
        while True:
            active = active_values(self.program, found)
            writes = (s for s in walk(self.program.body) if isinstance(s, WRITES))
            more = {s.array for s in writes if s.array.size is None and s.value in active}
            if more <= found:
                return frozenset(more)
            found |= more

    def cuts(self, wanted: frozenset[Array]) -> dict[Array, Span | None]:
        """Return the fields without gradient that are given values which vary with wanted ones."""

        def found() -> dict[Array, Span | None]:
            return {stmt.array: stmt.span for stmt in active_writes(self.program, wanted)}

        return self._kept.get(("cuts", self.number, wanted), found)

    @property
    def _clashes(self) -> list[PossibleConflict]:
        return self._kept.get(("clashes", self.number), lambda: clashes(self.program))

    def clashes(self, wanted: frozenset[Array]) -> list[PossibleConflict]:
        """Return the stores that may meet in one element, and that derivatives would pass through.

        Args:
            wanted: The fields with derivatives.
        """
        if not self._clashes:
            return []
        active = active_values(self.program, wanted)
        return [doubt for doubt in self._clashes if doubt.matters(active, wanted)]

    def passing(self, arrays: Sequence[Array]) -> set[Array]:
        """Return the fields among some that a value stored in another field varies with."""
        key = "passing", self.number, frozenset(arrays)
        return self._kept.get(key, lambda: passing(self.program, arrays))


class WindowedStage(Stage):
    """A stage that runs some iterations of its one loop.

    Args:
        windowed: Its program, and the meaning of the parameters.
        number: The stages of the kernel before it.

    Attributes:
        count: The compiled program that finds the number of iterations.
    """

    def __init__(self, windowed: Windowed, number: int) -> None:
        super().__init__(windowed.program, number)
        self.windowed = windowed
        program = windowed.count
        roles: dict[Array | Var, Role] = {
            p: Before(p) if isinstance(p, Array) else Same(p) for p in program.params
        }
        self.count = DerivedCode(Derived(program, roles))

    def adjoint(self, wanted: frozenset[Array], *, constant: bool) -> DerivedCode | None:
        """Return the adjoint of a window.

        Args:
            wanted: The fields with gradients.
            constant: As in `Adjoint`.
        """
        carried = frozenset(self.windowed.carried)
        smooth = {cell for cell in carried if is_float(cell.type.element)}
        return self.code(Adjoint(wanted | smooth, constant, carried))


_Accesses: TypeAlias = tuple[
    Program, frozenset[Array], frozenset[Array], frozenset[Array], frozenset[Var]
]


def _accesses(program: Program) -> _Accesses:
    """Return a stage without what it need not do, and how it accesses memory.

    Returns:
        The program, the fields that it writes, loads, and loads after it has written them, and the
        other loads.
    """
    found = pruned(program)
    written = frozenset(a for a in arrays_written(program.body) if a.size is None)
    loaded = frozenset(a for a in arrays_loaded(program.body) if a.size is None)
    late = late_loads(found.body)
    loads = [s for s in walk(found.body) if isinstance(s, Load)]
    loaded_late = frozenset(s.array for s in loads if s.out in late)
    return found, written, loaded, loaded_late, frozenset(s.out for s in loads if s.out not in late)


def _simplified(derived: Derived) -> Derived:
    lengths, advance = (
        None if one is None else _simplified(one) for one in (derived.lengths, derived.advance)
    )
    program = simplify(derived.program)
    return replace(derived, program=program, lengths=lengths, advance=advance)


def _loops(program: Program) -> int:
    return sum(isinstance(stmt, For) for stmt in walk(program.body))


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
