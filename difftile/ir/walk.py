"""Traversal: the values and blocks of statements, and statements rebuilt with other parts.

Passes are written against these few functions, so that a new statement is described once, here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import inf
from operator import is_
from typing import TypeVar

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
    Value,
    Var,
    While,
)

WRITES = (Store, Accumulate, Combine)
EFFECTS = (*WRITES, Print, Fail)


def operands(stmt: Stmt) -> tuple[Value, ...]:
    """Return the values that the statement itself reads, those inside its regions left out."""
    match stmt:
        case Let(args=args):
            return args
        case Load(index=index):
            return index
        case (
            Store(index=index, value=value)
            | Accumulate(index=index, value=value)
            | Combine(index=index, value=value)
        ):
            return (*index, value)
        case If(cond=cond):
            return (cond,)
        case For(start=start, stop=stop, inits=inits):
            return (start, stop, *inits)
        case While(inits=inits):
            return inits
        case ParallelFor(starts=starts, stops=stops):
            return (*starts, *stops)
        case Print(parts=parts):
            return tuple(part.value for part in parts if isinstance(part, Shown))
        case Fail(values=values):
            return values
        case Ruled(args=args):
            return args
        case Derivative(args=args, seeds=seeds):
            return (*args, *seeds)
        case Size() | Alloc():
            return ()


def definitions(stmt: Stmt) -> tuple[Var, ...]:
    """Return the variables that the statement defines for the statements after it."""
    match stmt:
        case Let(out=out) | Size(out=out) | Load(out=out):
            return (out,)
        case Combine(out=out):
            return () if out is None else (out,)
        case (
            If(outs=outs)
            | For(outs=outs)
            | While(outs=outs)
            | Ruled(outs=outs)
            | Derivative(outs=outs)
        ):
            return outs
        case Store() | Accumulate() | Alloc() | ParallelFor() | Print() | Fail():
            return ()


def rules(stmt: Ruled) -> tuple[Rule, ...]:
    """Return the rules that there are."""
    return tuple(rule for rule in (stmt.backward, stmt.forward) if rule is not None)


def regions(stmt: Stmt) -> tuple[Block, ...]:
    """Return the blocks nested in the statement, in the order in which they read memory."""
    match stmt:
        case Let() | Load():  # most statements
            return ()
        case If(then=then, orelse=orelse):
            return (then, orelse)
        case For(body=body) | ParallelFor(body=body):
            return (body,)
        case While(cond=cond, body=body):
            return (cond, body)
        case Ruled(body=body):
            return (*(rule.block for rule in rules(stmt)), body)
        case Derivative(body=body):
            return (body,)
        case _:
            return ()


def bound(stmt: Stmt) -> tuple[Var, ...]:
    """Return the variables that the statement binds inside its regions."""
    match stmt:
        case Let() | Load():
            return ()
        case For(index=index, carries=carries):
            return (index, *carries)
        case While(carries=carries):
            return carries
        case ParallelFor(indices=indices):
            return indices
        case Ruled():
            return tuple(param for rule in rules(stmt) for param in rule.params)
        case Derivative(params=params):
            return params
        case _:
            return ()


def with_blocks(stmt: Stmt, change: Callable[[Block], Block]) -> Stmt:
    """Return the statement with each of its blocks changed."""
    match stmt:
        case Let() | Load():
            return stmt
        case If():
            then, orelse = change(stmt.then), change(stmt.orelse)
            unchanged = then is stmt.then and orelse is stmt.orelse
            return stmt if unchanged else replace(stmt, then=then, orelse=orelse)
        case For() | ParallelFor() | Derivative():
            body = change(stmt.body)
            return stmt if body is stmt.body else replace(stmt, body=body)
        case While():
            cond, body = change(stmt.cond), change(stmt.body)
            unchanged = cond is stmt.cond and body is stmt.body
            return stmt if unchanged else replace(stmt, cond=cond, body=body)
        case Ruled():
            changed = with_rules(stmt, lambda rule: replace(rule, block=change(rule.block)))
            return replace(changed, body=change(stmt.body))
        case _:
            return stmt


def rebuilt(block: Block, stmts: Sequence[Stmt], results: tuple[Value, ...]) -> Block:
    """Return a block with other contents; the block itself if they are the same."""
    unchanged = same(stmts, block.stmts) and same(results, block.results)
    return block if unchanged else Block(tuple(stmts), results)


def with_rules(stmt: Ruled, change: Callable[[Rule], Rule]) -> Ruled:
    """Return the statement with each of its rules changed."""
    return replace(
        stmt,
        backward=None if stmt.backward is None else change(stmt.backward),
        forward=None if stmt.forward is None else change(stmt.forward),
    )


def with_operands(stmt: Stmt, change: Callable[[Value], Value]) -> Stmt:
    """Return the statement with each value that it reads itself changed."""
    before = operands(stmt)
    after = tuple(map(change, before))
    if same(before, after):
        return stmt
    values = iter(after)

    def each(old: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(islice(values, len(old)))

    match stmt:
        case Let():
            return Let(stmt.out, stmt.op, after, stmt.span)
        case Load():
            return Load(stmt.out, stmt.array, after, stmt.span)
        case Store() | Accumulate() | Combine():
            return replace(stmt, index=each(stmt.index), value=next(values))
        case If():
            return replace(stmt, cond=next(values))
        case For():
            return replace(stmt, start=next(values), stop=next(values), inits=each(stmt.inits))
        case While():
            return replace(stmt, inits=after)
        case ParallelFor():
            return replace(stmt, starts=each(stmt.starts), stops=each(stmt.stops))
        case Print():
            parts = (
                replace(part, value=next(values)) if isinstance(part, Shown) else part
                for part in stmt.parts
            )
            return replace(stmt, parts=tuple(parts))
        case Fail():
            return replace(stmt, values=after)
        case Ruled():
            return replace(stmt, args=after)
        case Derivative():
            return replace(stmt, args=each(stmt.args), seeds=each(stmt.seeds))
        case Size() | Alloc():
            return stmt


def without_stmts(block: Block, drop: Callable[[Stmt], bool]) -> Block:
    """Return the block without some statements, inside its regions too."""
    kept = (stmt for stmt in block.stmts if not drop(stmt))
    stmts = [with_blocks(stmt, lambda inner: without_stmts(inner, drop)) for stmt in kept]
    return rebuilt(block, stmts, block.results)


def with_stmts(program: Program, stmts: Iterable[Stmt]) -> Program:
    """Return the program with another top level."""
    return replace(program, body=replace(program.body, stmts=tuple(stmts)))


def parallel_loops(program: Program) -> list[ParallelFor]:
    """Return the parallel loops of a program, in the order of the text."""
    return [stmt for stmt in program.body.stmts if isinstance(stmt, ParallelFor)]


def is_innermost(loop: For | While | ParallelFor) -> bool:
    """Tell whether a loop has no other loops inside."""
    inside = (s for region in regions(loop) for s in walk(region))
    return not any(isinstance(s, (For, While)) for s in inside)


def literal_length(start: Value, stop: Value) -> float:
    """Return how many integers a range has, if both ends are literals; else infinity."""
    if not (isinstance(start, Const) and isinstance(stop, Const)):
        return inf
    return max(0, int(stop.value) - int(start.value))


def with_tasks(program: Program, change: Callable[[ParallelFor], Iterable[Stmt]]) -> Program:
    """Return the program with other statements for each of its parallel loops."""
    stmts: list[Stmt] = []
    for stmt in program.body.stmts:
        stmts += change(stmt) if isinstance(stmt, ParallelFor) else (stmt,)
    return with_stmts(program, stmts)


def with_some(
    program: Program, loops: Collection[int] | None, change: Callable[[Stmt], Iterable[Stmt]]
) -> Program:
    """Return the program with other statements for each of its top level, except in other loops.

    Args:
        program: The program.
        loops: The numbers of the parallel loops that change; None for all.
        change: Returns the statements in place of one.
    """
    stmts: list[Stmt] = []
    number = 0
    for stmt in program.body.stmts:
        is_loop = isinstance(stmt, ParallelFor)
        stays = is_loop and loops is not None and number not in loops
        number += is_loop
        stmts += (stmt,) if stays else change(stmt)
    return replace(program, body=rebuilt(program.body, stmts, program.body.results))


Loop = TypeVar("Loop", bound="For | While")


def keep_carries(loop: Loop, kept: Sequence[int], body: Block) -> Loop:
    """Return the loop with another body, carrying only the values at some positions."""
    return replace(
        loop,
        carries=tuple(loop.carries[k] for k in kept),
        inits=tuple(loop.inits[k] for k in kept),
        outs=tuple(loop.outs[k] for k in kept),
        body=body,
    )


def add_carries(
    loop: Loop,
    carries: Sequence[Var],
    inits: Sequence[Value],
    outs: Sequence[Var],
    body: Block,
) -> Loop:
    """Return the loop with more carried values; the body yields them after its own."""
    return replace(
        loop,
        carries=(*loop.carries, *carries),
        inits=(*loop.inits, *inits),
        outs=(*loop.outs, *outs),
        body=body,
    )


def rebind(stmt: Stmt, fresh: Callable[[Var], Var]) -> Stmt:
    """Return the statement with every variable it defines or binds replaced."""

    def each(variables: tuple[Var, ...]) -> tuple[Var, ...]:
        return tuple(fresh(variable) for variable in variables)

    match stmt:
        case Let() | Size() | Load():
            return replace(stmt, out=fresh(stmt.out))
        case Combine():
            return stmt if stmt.out is None else replace(stmt, out=fresh(stmt.out))
        case If():
            return replace(stmt, outs=each(stmt.outs))
        case For():
            return replace(
                stmt, index=fresh(stmt.index), carries=each(stmt.carries), outs=each(stmt.outs)
            )
        case While():
            return replace(stmt, carries=each(stmt.carries), outs=each(stmt.outs))
        case ParallelFor():
            return replace(stmt, indices=each(stmt.indices))
        case Ruled():
            bare = with_rules(stmt, lambda rule: replace(rule, params=each(rule.params)))
            return replace(bare, outs=each(stmt.outs))
        case Derivative():
            return replace(stmt, outs=each(stmt.outs), params=each(stmt.params))
        case Store() | Accumulate() | Alloc() | Print() | Fail():
            return stmt


def same(a: Sequence[object], b: Sequence[object]) -> bool:
    """Tell whether two sequences hold the same objects."""
    return len(a) == len(b) and all(map(is_, a, b))


def walk(block: Block) -> Iterator[Stmt]:
    """Yield every statement of the block and of its regions, outer ones first."""
    open_blocks = [iter(block.stmts)]
    while open_blocks:
        for stmt in open_blocks[-1]:
            yield stmt
            inner = regions(stmt)
            if inner:
                open_blocks.extend(iter(region.stmts) for region in reversed(inner))
                break
        else:
            open_blocks.pop()


def with_ending_loops(block: Block) -> Block:
    """Return the block with every `while` marked as one that ends."""
    if not any(isinstance(stmt, While) and not stmt.ends for stmt in walk(block)):
        return block
    inner = (with_blocks(stmt, with_ending_loops) for stmt in block.stmts)
    stmts = (replace(s, ends=True) if isinstance(s, While) else s for s in inner)
    return replace(block, stmts=tuple(stmts))


def size_of(program: Program) -> int:
    """Return the number of statements."""
    return sum(1 for _ in walk(program.body))


def array_of(stmt: Stmt) -> Array | None:
    """Return the array that a memory statement touches."""
    match stmt:
        case (
            Load(array=array) | Store(array=array) | Accumulate(array=array) | Combine(array=array)
        ):
            return array
        case _:
            return None


def silent(block: Block) -> Block:
    """Return the block without prints and failures."""
    return without_stmts(block, lambda stmt: isinstance(stmt, (Print, Fail)))


def substitute(stmt: Stmt, change: Callable[[Value], Value]) -> Stmt:
    """Return the statement with every value changed, inside its regions too."""

    def block(block: Block) -> Block:
        stmts = [substitute(inner, change) for inner in block.stmts]
        return rebuilt(block, stmts, tuple(map(change, block.results)))

    return with_blocks(with_operands(stmt, change), block)


class Substitution(dict[Var, Value]):
    """Values that stand for variables, as a function of values: others stand for themselves."""

    def __call__(self, value: Value) -> Value:
        """Return the replacement of a value."""
        return self.get(value, value) if isinstance(value, Var) else value

    def all(self, values: Iterable[Value]) -> tuple[Value, ...]:
        """Return the replacements of values."""
        return tuple(self(value) for value in values)


class Cloner:
    """Copies statements with fresh variables, and fresh arrays where they declare some.

    Args:
        env: Replacements of variables from outside; the clones of everything copied are added.
        arrays: Replacements of arrays from outside; the clones of declared ones are added.
    """

    def __init__(
        self, env: dict[Var, Value] | None = None, arrays: dict[Array, Array] | None = None
    ) -> None:
        self.env: dict[Var, Value] = {} if env is None else dict(env)
        self.arrays: dict[Array, Array] = {} if arrays is None else dict(arrays)

    def inner(self) -> Cloner:
        """Return a cloner for a region, which knows what has been copied so far."""
        return Cloner(self.env, self.arrays)

    def value(self, value: Value) -> Value:
        """Return the copy of a value."""
        return value if isinstance(value, Const) else self.env.get(value, value)

    def fresh(self, variable: Var) -> Var:
        """Return a new variable that stands for the given one from here on."""
        clone = Var(variable.name, variable.type)
        self.env[variable] = clone
        return clone

    def stmt(self, stmt: Stmt) -> Stmt:
        """Return a copy of the statement."""
        # Operands first: a loop's initial values belong to the scope outside it.
        copy = rebind(with_operands(stmt, self.value), self.fresh)
        if copy is stmt:
            copy = replace(stmt)  # passes tell statements apart by identity
        if isinstance(copy, Alloc):
            self.arrays[copy.array] = local = replace(copy.array)
            return replace(copy, array=local)
        if isinstance(copy, (Load, *WRITES)):
            array = self._array(copy.array)
            return copy if array is copy.array else replace(copy, array=array)
        return with_blocks(copy, self.block)

    def _array(self, array: Array) -> Array:
        """Return the copy of an array; a rule may name the gradient of one."""
        found = self.arrays.get(array, array)
        of = self.arrays.get(array.gradient_of) if array.gradient_of is not None else None
        if of is not None and found.gradient_of is not of:
            found = self.arrays[array] = replace(array, gradient_of=of)
        return found

    def block(self, block: Block) -> Block:
        """Return a copy of the block."""
        stmts = tuple(self.stmt(stmt) for stmt in block.stmts)
        return Block(stmts, tuple(self.value(result) for result in block.results))
