"""Dead code: values that no effect or result depends on are removed, carries of loops included.

What is alive is marked from the effects and results on, each variable and statement once, as in
Cytron et al., Efficiently Computing Static Single Assignment Form (1991), section 7.1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set
from dataclasses import replace

from difftile.ir.facts import declared_in, free_variables, gradients_in
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    Derivative,
    For,
    If,
    Load,
    ParallelFor,
    Program,
    Rule,
    Ruled,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.walk import (
    EFFECTS,
    bound,
    definitions,
    keep_carries,
    operands,
    regions,
    rules,
    same,
    walk,
    with_rules,
)


def dce(program: Program, scratch: Collection[Array] = ()) -> Program:
    """Return the program without dead code; a second run would find no more.

    Args:
        program: The program.
        scratch: Arrays whose contents are not read after the program.
    """
    local = {s.array for s in walk(program.body) if isinstance(s, Alloc)}.union(scratch)
    return replace(program, body=_without_dead(program.body, local))


def slim_block(block: Block) -> Block:
    """Return a block without the statements that neither its effects nor its results depend on."""
    return _without_dead(block, set(declared_in(block)))


def _without_dead(block: Block, local: set[Array]) -> Block:
    """Return the dependences of effects and results; writes into local arrays are not effects."""
    alive = _Alive(local)
    alive.note(block, None, alive.effects)
    alive.mark(block.results)
    for stmt in alive.effects:
        alive.stay(stmt)
    alive.spread()
    return _kept(block, alive)


class _Alive:
    """The variables and statements that effects and results depend on.

    Args:
        local: Arrays whose contents are read nowhere else. They are needed for values outside them,
            and not for values stored in themselves.

    Attributes:
        effects: The statements that stay whatever else does.
    """

    def __init__(self, local: set[Array]) -> None:
        self.effects: list[Stmt] = []
        self._writes: dict[Array, list[Stmt]] = {array: [] for array in local}
        self._variables: set[Var] = set()
        self._stmts: dict[int, Stmt] = {}
        self._origins: dict[Var, tuple[Stmt, int]] = {}
        self._around: dict[int, list[Stmt]] = {}
        self._of_rules: dict[int, list[Stmt]] = {}
        self._due: list[Var | Stmt] = []

    def __contains__(self, one: Var | Stmt) -> bool:
        return one in self._variables if isinstance(one, Var) else id(one) in self._stmts

    def note(self, block: Block, inside: Stmt | None, effects: list[Stmt]) -> None:
        """Note where variables come from and what stays in a block inside a statement."""
        for stmt in block.stmts:
            if inside is not None:
                self._around.setdefault(id(stmt), []).append(inside)
            for k, out in enumerate(definitions(stmt)):
                self._origins[out] = stmt, k
            inner = regions(stmt)
            if not inner:
                if isinstance(stmt, (Store, Accumulate, Alloc)) and stmt.array in self._writes:
                    self._writes[stmt.array].append(stmt)
                elif isinstance(stmt, (*EFFECTS, Alloc)):
                    effects.append(stmt)
                continue
            match stmt:
                case For(carries=carries) | While(carries=carries):
                    for k, carry in enumerate(carries):
                        self._origins[carry] = stmt, k
                    if isinstance(stmt, For):
                        self._origins[stmt.index] = stmt, -1
                    elif not stmt.ends:
                        effects.append(stmt)  # it may run for ever
                case Ruled(body=body):
                    self.note(body, stmt, effects)
                    own = self._of_rules[id(stmt)] = list[Stmt]()
                    for rule in rules(stmt):
                        self.note(rule.block, stmt, own)
                    continue
                case Derivative():
                    continue
                case _:
                    for variable in bound(stmt):
                        self._origins[variable] = stmt, -1
            for region in inner:
                self.note(region, stmt, effects)

    def mark(self, values: Sequence[Value]) -> None:
        """Mark values as alive."""
        for value in values:
            if isinstance(value, Var) and value not in self._variables:
                self._variables.add(value)
                self._due.append(value)

    def stay(self, stmt: Stmt) -> None:
        """Mark a statement as one that stays."""
        if id(stmt) not in self._stmts:
            self._stmts[id(stmt)] = stmt
            self._due.append(stmt)

    def spread(self) -> None:
        """Mark all that marked variables and statements depend on."""
        while self._due:
            one = self._due.pop()
            if not isinstance(one, Var):
                self._spread_from(one)
            elif one in self._origins:
                stmt, k = self._origins[one]
                self.stay(stmt)
                if k < 0:
                    continue
                match stmt:
                    case If(then=then, orelse=orelse):
                        self.mark((then.results[k], orelse.results[k]))
                    case For(body=body) | While(body=body):
                        self.mark((stmt.carries[k], stmt.outs[k], stmt.inits[k], body.results[k]))
                    case _:
                        pass

    def _spread_from(self, stmt: Stmt) -> None:
        for around in self._around.get(id(stmt), ()):
            self.stay(around)
        match stmt:
            case Load() | Combine():
                self.mark(operands(stmt))
                for write in self._writes.get(stmt.array, ()):
                    self.stay(write)
            case For(start=start, stop=stop):
                self.mark((start, stop))
            case While(cond=cond):
                self.mark(cond.results)
            case Ruled(body=body):
                self.mark((*stmt.args, *body.results))
                for rule in rules(stmt):
                    self.mark(rule.block.results)
                    for gradient in gradients_in(rule.block):  # which goes on to what was written
                        owner = gradient.gradient_of
                        for write in () if owner is None else self._writes.get(owner, ()):
                            self.stay(write)
                for effect in self._of_rules[id(stmt)]:
                    self.stay(effect)
            case Derivative():
                self.mark(operands(stmt))
                for region in regions(stmt):
                    self.mark(tuple(free_variables(region)))
            case _:
                self.mark(operands(stmt))


def _kept(block: Block, alive: _Alive, results: Sequence[int] | None = None) -> Block:
    """Return the part of a block that is alive, with all of its results or some."""
    stmts = tuple(_slim(stmt, alive) for stmt in block.stmts if stmt in alive)
    wanted = block.results if results is None else tuple(block.results[k] for k in results)
    unchanged = same(stmts, block.stmts) and len(wanted) == len(block.results)
    return block if unchanged else Block(stmts, wanted)


def _slim(stmt: Stmt, alive: _Alive) -> Stmt:
    match stmt:
        case If(outs=outs):
            kept = [k for k, out in enumerate(outs) if out in alive]
            then, orelse = _kept(stmt.then, alive, kept), _kept(stmt.orelse, alive, kept)
            if then is stmt.then and orelse is stmt.orelse:
                return stmt
            return replace(stmt, then=then, orelse=orelse, outs=tuple(outs[k] for k in kept))
        case For() | While():
            kept = [k for k, carry in enumerate(stmt.carries) if carry in alive]
            body = _kept(stmt.body, alive, kept)
            if isinstance(stmt, While):
                cond = _kept(stmt.cond, alive)
                stmt = stmt if cond is stmt.cond else replace(stmt, cond=cond)
            return stmt if body is stmt.body else keep_carries(stmt, kept, body)
        case ParallelFor():
            body = _kept(stmt.body, alive)
            return stmt if body is stmt.body else replace(stmt, body=body)
        case Ruled():

            def slim(rule: Rule) -> Rule:
                return replace(rule, block=_kept(rule.block, alive))

            return replace(with_rules(stmt, slim), body=_kept(stmt.body, alive))
        case _:
            return stmt


def closed(
    carries: Sequence[Var], kept: list[int], reads: Callable[[list[int]], Set[Var]]
) -> list[int]:
    """Return the positions of some carries of a loop, and of the carries they are computed from.

    Args:
        carries: The carries.
        kept: The positions of needed carries.
        reads: The variables that the body reads for the results at some positions.
    """
    while True:
        used = reads(kept)
        more = [k for k, carry in enumerate(carries) if k in kept or carry in used]
        if more == kept:
            return kept
        kept = more
