"""Hessians of sums of local terms: each iteration of a parallel loop computes one term's.

The Hessian of a term is found in its internal variables, forward over reverse: the adjoint of the
iteration, and its tangents along each internal variable, share the values of one thread. The
iteration then writes a block for each pair of sites into slots of its own, without atomic
additions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from math import prod
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from difftile.ad import forward, reverse
from difftile.ad.activity import active_in
from difftile.ad.forward import tangents_of_locals
from difftile.ad.internal_variables import Internal, Rows
from difftile.ad.local_terms import LocalTerms, TermLoop, local_terms
from difftile.ad.nonfinite import possibly_nonfinite
from difftile.ad.positive import Entries, positive_part
from difftile.ad.pusher import Pusher
from difftile.ad.reverser import Reverser, overwritten
from difftile.ir.derived import After, Bar, Before, Derived, Role, Same
from difftile.ir.facts import arrays_written
from difftile.ir.nodes import Array, Block, Const, Load, ParallelFor, Program, Stmt, Value, Var
from difftile.ir.types import FLOATS, I32, FieldType, Type, scalar_of, shape_of
from difftile.ir.walk import WRITES, Substitution, substitute, with_blocks, without_stmts
from difftile.ops.build import OpBuilder, zero
from difftile.passes.componentwise import componentwise
from difftile.passes.optimise import simplify
from difftile.passes.reciprocals import reciprocals
from difftile.records import dataclass

_ROUNDING = 1e-14  # of matrices that are orthonormal, or have moderate entries
_IN_PARTS = "compute the energy in locals; dt.hvp takes any function."


@dataclass(frozen=True, slots=True)
class Term:
    """The terms of one parallel loop.

    Args:
        axes: The number of indices of the loop.
        sites: The number of places at which an iteration gathers an element.
        pairs: The pairs of sites whose block may be nonzero, the first one not after the second.
        first_site: The parameter that is the place of the first site of the first iteration.
        first_slot: The parameter that is the place of its first slot.
    """

    axes: int
    sites: int
    pairs: tuple[tuple[int, int], ...]
    first_site: Var
    first_slot: Var


@dataclass(frozen=True, slots=True)
class LocalHessian:
    """The Hessians of the terms of a stage.

    Args:
        terms: The parallel loops.
        bounds: Writes the first index and the one after the last, of each axis of each loop.
        gather: Writes for each site the element that is gathered, -1 where none is.
        blocks: Writes for each pair of sites their block, row after row.
        bounds_at: The parameter that `bounds` writes into; `gather` writes into
            `places_at`, `blocks` into `slots`.
    """

    terms: tuple[Term, ...]
    bounds: Derived
    gather: Derived
    blocks: Derived
    bounds_at: Array
    places_at: Array
    slots: Array


def local_hessian(
    program: Program,
    wrt: frozenset[Array],
    outputs: frozenset[Array],
    varying: frozenset[Array],
    element: Type,
    *,
    psd: bool,
) -> LocalHessian | None:
    """Return the Hessians of the terms that a stage adds to outputs.

    The derivative of the sum by each output, the weight of its terms, is read from the output's
    gradient. Where the stage computes outputs from fields that vary already, it adds to theirs.

    Args:
        program: The stage, normalised.
        wrt: The parameters that are the field.
        outputs: The parameters that hold the sum.
        varying: The other parameters whose contents before the stage vary with the field.
        element: The type of an element of the field.
        psd: Whether the negative eigenvalues of each term are replaced by zero.

    Raises:
        NotLocal: The stage is not a sum of local terms.
        NotDifferentiable: The adjoint of a term cannot be derived.

    Returns:
        The Hessians; None where the stage neither adds terms nor passes weights on.
    """
    terms = local_terms(program, wrt, outputs, varying, element)
    return _Maker(terms, element, psd).made()


class _Maker:
    def __init__(self, terms: LocalTerms, element: Type, psd: bool) -> None:
        self.terms, self.psd = terms, psd
        self.program = terms.program
        self.size = prod(shape_of(element))
        self.scalar = scalar_of(element)
        self.bounds, self.places = (Array(n, FieldType(I32, 1)) for n in ("bounds", "places"))
        self.slots = Array("slots", FieldType(self.scalar, 1))

    def made(self) -> LocalHessian | None:
        """Return the Hessians; None where the program would have no effect."""
        blocks, found = self._blocks()
        if not arrays_written(blocks.program.body):
            return None
        kept = [(one, found[one.loop.indices]) for one in self.terms.loops]
        pairs = [(one, term) for one, term in kept if term is not None]
        return LocalHessian(
            tuple(term for _, term in pairs),
            self._bounds([one.loop for one, _ in pairs]),
            self._gather(pairs),
            blocks,
            self.bounds,
            self.places,
            self.slots,
        )

    def _derived(
        self,
        name: str,
        body: Block,
        more: Sequence[Array | Var],
        temps: Sequence[Array] = (),
        bars: Mapping[Array, Array] = MappingProxyType({}),
    ) -> Derived:
        """Return a program over the contents that the stage has read, and memory of its own."""
        program, after = self.program, self.terms.after
        params = (*program.params, *after.values(), *more)
        made = Program(f"{program.name}_{name}", params, body, (*program.temps, *temps))
        own = (*program.params, *program.temps)
        roles: dict[Array | Var, Role] = {
            p: Before(p) if isinstance(p, Array) else Same(p) for p in own
        }
        roles |= {new: After(array) for array, new in after.items()}
        roles |= {bar: Bar(array) for array, bar in bars.items()}
        roles |= {number: Same(number) for number in more if isinstance(number, Var)}
        return Derived(reciprocals(simplify(componentwise(simplify(made)))), roles)

    # Where the terms are

    def _top_level(self) -> list[Stmt]:
        return [s for s in self.program.body.stmts if not isinstance(s, (ParallelFor, *WRITES))]

    def _bounds(self, loops: list[ParallelFor]) -> Derived:
        b = OpBuilder()
        b.extend(self._top_level())
        axes = (axis for one in loops for axis in zip(one.starts, one.stops, strict=True))
        for k, end in enumerate(end for axis in axes for end in axis):
            b.store(self.bounds, (Const(k, I32),), end)
        return self._derived("bounds", b.block(), (self.bounds,))

    def _gather(self, loops: list[tuple[TermLoop, Term]]) -> Derived:
        known = {one.loop.indices: (one, term) for one, term in loops}
        stmts: list[Stmt] = self._top_level()
        for stmt in self.program.body.stmts:
            if isinstance(stmt, ParallelFor) and stmt.indices in known:
                stmts.append(self._gathered(stmt, *known[stmt.indices]))
        numbers = [term.first_site for _, term in loops]
        return self._derived("sites", Block(tuple(stmts)), (self.places, *numbers))

    def _gathered(self, loop: ParallelFor, one: TermLoop, term: Term) -> ParallelFor:
        """Return the loop that writes the elements which its terms gather."""
        b = OpBuilder()
        start = b.expr(_place(b, loop, term.sites, term.first_site))
        for site in range(term.sites):
            b.store(self.places, ((start + site).value,), Const(-1, I32))

        def visit(block: Block) -> Block:
            with b.region() as stmts:
                for stmt in block.stmts:
                    b.append(with_blocks(stmt, visit))
                    if isinstance(stmt, Load) and stmt.out in one.origin:
                        site = one.origin[stmt.out]
                        first, *rest = one.sites[site]
                        number = b.expr(first)
                        for axis, index in enumerate(rest, 1):
                            number = number * b.size(stmt.array, axis) + index
                        b.store(self.places, ((start + site).value,), number.value)
            return Block(tuple(stmts), block.results)

        inner = visit(loop.body)

        def idle(stmt: Stmt) -> bool:
            if not isinstance(stmt, WRITES) or stmt.array.size is not None:
                return False
            return stmt.array is not self.places

        body = without_stmts(Block((*b.stmts, *inner.stmts)), idle)
        return replace(loop, body=body)

    # Their Hessians

    def _blocks(self) -> tuple[Derived, dict[tuple[Var, ...], Term | None]]:
        """Return the program of the blocks, and the terms of each loop, by its indices."""
        program, cells, loops = self.program, self.terms.cells, self.terms.loops
        known = {one.loop.indices: one for one in loops}
        body = replace(
            program.body,
            stmts=tuple(
                known[s.indices].loop if isinstance(s, ParallelFor) else s
                for s in program.body.stmts
            ),
        )
        bars = {a: Array(f"{a.name}_bar", a.type) for a in program.arrays if a in cells}
        changes = {change for one in loops for change in one.internal.changes}
        found: dict[tuple[Var, ...], Term | None] = {}

        def term(r: Reverser, loop: ParallelFor, bars: object, loops: object) -> None:
            found[loop.indices] = self._term(r, known[loop.indices])

        reverser = Reverser(
            {**reverse.RULES, ParallelFor: term},
            active_in(body, changes, cells),
            dict(bars),
            possibly_nonfinite(program),
            self.terms.stale,
        )
        reverser.sweep(body, {})
        hidden = [bars[t] for t in program.temps if t in bars]
        named = [bar for bar in bars.values() if bar not in hidden]
        firsts = [one.first_slot for one in found.values() if one is not None]
        derived = self._derived(
            "hessian",
            reverser.b.block(),
            (*named, self.slots, *firsts),
            (*hidden, *reverser.temps),
            bars,
        )
        for load in reverser.overwritten_loads(derived.program.body):
            raise overwritten(*reverser.stale[load.out], _IN_PARTS)
        return derived, found

    def _term(self, r: Reverser, one: TermLoop) -> Term | None:
        """Append the loop that writes the blocks of its terms."""
        internal = one.internal
        if not internal.basis.size:
            return None
        indices = tuple(Var(index.name, index.type) for index in one.loop.indices)
        known = dict(zip(one.loop.indices, indices, strict=True))
        stmts, bars = r.nested(one.loop.body, (), known)
        r.backwards = False
        stmts, entries = _second(stmts, bars, internal)
        b = OpBuilder()
        b.span = one.loop.span
        b.extend(stmts)
        if self.psd and entries:
            scale, axes = _orthonormal(internal.basis)
            positive = positive_part(b, _expanded(b, entries, scale), len(axes))
            expanded = _expanded(b, positive, axes)
        else:
            expanded = _expanded(b, entries, internal.basis)
        pairs = tuple(
            pair
            for pair in combinations_with_replacement(range(len(one.sites)), 2)
            if any(cell in expanded for cell in self._cells(*pair))
        )
        if not pairs:
            return None
        loop = replace(
            one.loop,
            indices=indices,
            starts=r.index(one.loop.starts),
            stops=r.index(one.loop.stops),
        )
        term = Term(len(indices), len(one.sites), pairs, Var("first_site", I32), Var("first", I32))
        cells = [cell for pair in pairs for cell in self._cells(*pair)]
        start = b.expr(_place(b, loop, len(cells), term.first_slot))
        for k, cell in enumerate(cells):
            value = expanded.get(cell)
            number = zero(self.scalar) if value is None else b.cast(value, self.scalar)
            b.store(self.slots, ((start + k).value,), number)
        still = Substitution((change, zero(change.type)) for change in internal.changes)
        body = tuple(substitute(stmt, still) for stmt in b.stmts)
        r.b.append(replace(loop, body=Block(body)))
        return term

    def _cells(self, k: int, m: int) -> list[tuple[int, int]]:
        """Return rows and columns of the block of two sites; below the diagonal their mirrors."""
        n = self.size
        cells = ((k * n + i, m * n + j) for i in range(n) for j in range(n))
        return [(min(cell), max(cell)) for cell in cells]


def _second(
    stmts: list[Stmt], bars: Mapping[Var, Value], internal: Internal
) -> tuple[list[Stmt], Entries]:
    """Return an adjoint with its tangents along each internal variable, and the Hessian in those.

    Args:
        stmts: The adjoint.
        bars: The adjoints of the changes.
        internal: The internal variables.
    """
    copy = Block(tuple(stmts))
    active = active_in(copy, internal.changes, tangents_of_locals(copy).keys())
    entries: Entries = {}
    count = len(internal.basis)
    widest = max((scalar_of(v.type) for v in internal.changes), key=FLOATS.index)
    for row in range(count):
        dots = tangents_of_locals(copy)
        pusher = Pusher(forward.RULES, dots, active)
        for change, parts in internal.changes.items():
            if parts[:, row].any():
                pusher.env[change] = _constant(pusher.b, change, parts[:, row])
        pusher.block(tuple(stmts))
        b = pusher.b
        for change, parts in internal.changes.items():
            bar = bars.get(change)
            dot = None if bar is None else pusher.dot(bar)
            if dot is None:
                continue
            components = _components(b, dot)
            for column in range(row, count):
                for component, weight in zip(components, parts[:, column], strict=True):
                    if weight and not (isinstance(component, Const) and component.structural):
                        part = _scaled(b, b.cast(component, widest), weight)
                        b.add_to(entries, (row, column), part)
        stmts = b.stmts
    return stmts, entries


def _expanded(b: OpBuilder, entries: Entries, basis: Rows) -> Entries:
    """Return the Hessian in the inputs, C^T H C with the rows of C as internal variables."""
    found: Entries = {}
    made: dict[tuple[tuple[float, Value], ...], Value] = {}
    used = [np.flatnonzero(column).tolist() for column in basis.T]
    for i, j in combinations_with_replacement(range(basis.shape[1]), 2):
        terms: dict[Value, float] = {}
        for r in used[i]:
            for s in used[j]:
                entry = entries.get((min(r, s), max(r, s)))
                if entry is not None:
                    terms[entry] = terms.get(entry, 0.0) + float(basis[r, i] * basis[s, j])
        key = tuple((weight, entry) for entry, weight in terms.items() if weight)
        if not key:
            continue
        if key in made:
            found[i, j] = made[key]
            continue
        opposite = tuple((-weight, entry) for weight, entry in key)
        if opposite in made:
            total = b.call("neg", made[opposite])
        else:
            total = _scaled(b, key[0][1], key[0][0])
            for weight, entry in key[1:]:
                if weight == -1.0:
                    total = b.call("sub", total, entry)
                else:
                    total = b.call("add", total, _scaled(b, entry, weight))
        found[i, j] = made[key] = total
    return found


def _orthonormal(basis: Rows) -> tuple[Rows, Rows]:
    """Return L and Q with `basis = L Q`, where the rows of Q are orthonormal.

    L^T H L has the eigenvalues of C^T H C, the Hessian in the inputs, but for zeros.
    """
    q, r = np.linalg.qr(basis.T)
    return _cleared(r.T), _cleared(q.T)


def _cleared(matrix: Rows) -> Rows:
    """Return a matrix in which entries that are zero up to rounding are zero."""
    return np.where(np.abs(matrix) < _ROUNDING, 0.0, matrix)


def _scaled(b: OpBuilder, value: Value, weight: float) -> Value:
    if weight == 1.0:
        return value
    if weight == -1.0:
        return b.call("neg", value)
    return b.call("mul", Const(float(weight), value.type), value)


def _constant(b: OpBuilder, like: Var, components: npt.NDArray[np.float64]) -> Value:
    """Return constants of the type of a variable."""
    scalar = scalar_of(like.type)
    values = [Const(float(c), scalar) if c else zero(scalar) for c in components]
    return b.assembled(shape_of(like.type), values)


def _components(b: OpBuilder, value: Value) -> list[Value]:
    """Return the components of a value, row after row."""
    shape = shape_of(value.type)
    if not shape:
        return [value]
    if isinstance(value, Const):
        one = replace(value, type=scalar_of(value.type))
        return [one] * prod(shape)
    return [b.call("extract", value, *(Const(i, I32) for i in at)) for at in np.ndindex(*shape)]


def _place(b: OpBuilder, loop: ParallelFor, count: int, first: Var) -> Value:
    """Append the place of an iteration in an array that has some numbers for each of them."""
    number = b.expr(Const(0, I32))
    for index, start, stop in zip(loop.indices, loop.starts, loop.stops, strict=True):
        number = number * (b.expr(stop) - start) + (b.expr(index) - start)
    return (number * count + first).value
