"""The legality of programs, checked after every pass of a compilation in tests and under debug.

This is the part that needs no table of ops: definitions before uses, each variable once, matching
types at joins, parallel loops only at the top level. `ops.check` adds the typing of each op.
"""

from __future__ import annotations

from difftile.ir.build import element_type
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
    Ruled,
    Size,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.types import BOOL, I32, is_float
from difftile.ir.walk import array_of, bound, definitions, operands, regions


class IllegalProgram(AssertionError):
    """A program that no stage may produce: a fault of difftile, not of the user."""


def check_structure(program: Program) -> Program:
    """Return the program as it is, if it is legal.

    Raises:
        IllegalProgram: A statement is not legal; the message names it and the reason.
    """
    arrays = {p for p in program.params if isinstance(p, Array)} | set(program.temps)
    visible = {p for p in program.params if isinstance(p, Var)}
    _Checker(program.name, arrays).block(program.body, visible, top=True)
    return program


class _Checker:
    def __init__(self, name: str, arrays: set[Array]) -> None:
        self.name = name
        self.arrays = arrays
        self.seen: set[Var] = set()
        self.by_warps = self.by_lanes = False  # in a loop that warps run, or that lanes share

    def require(self, condition: bool, message: str) -> None:
        if not condition:
            raise IllegalProgram(f"{self.name}: {message}")

    def block(self, block: Block, visible: set[Var], *, top: bool = False) -> None:
        scope = set(visible)
        for stmt in block.stmts:
            self.stmt(stmt, scope, top)
            scope.update(definitions(stmt))
        for result in block.results:
            self.use(result, scope)

    def use(self, value: Value, scope: set[Var]) -> None:
        if isinstance(value, Var):
            self.require(value in scope, f"{value.name}: {value.type} is used and not defined")

    def stmt(self, stmt: Stmt, scope: set[Var], top: bool) -> None:
        for value in operands(stmt):
            self.use(value, scope)
        for variable in (*definitions(stmt), *bound(stmt)):
            self.require(variable not in self.seen, f"{variable.name} is defined twice")
            self.seen.add(variable)
        self.joins(stmt)
        self.memory(stmt)
        if isinstance(stmt, ParallelFor):
            self.require(top, "a parallel loop inside another region")
        before = self.by_warps, self.by_lanes
        if isinstance(stmt, ParallelFor):
            self.by_warps = stmt.by_warps
        elif isinstance(stmt, For) and stmt.by_lanes:
            self.require(not self.by_lanes, "a loop by lanes in one by lanes")
            self.by_lanes = True
        for region in regions(stmt):
            self.block(region, scope | set(bound(stmt)))
        self.by_warps, self.by_lanes = before

    def memory(self, stmt: Stmt) -> None:
        array = stmt.array if isinstance(stmt, Size) else array_of(stmt)
        match stmt:
            case Alloc(array=local, shared=shared):
                self.require(local.size is not None, f"{local.name} has no size")
                outside = self.by_warps and not self.by_lanes
                self.require(outside or not shared, f"{local.name} is shared by no lanes")
                self.arrays.add(local)
            case Load(out, array, index):
                self.require(out.type == element_type(array, index), f"load of {array.name}")
            case (
                Store(array, index, value)
                | Accumulate(array, index, value)
                | Combine(_, _, array, index, value)
            ):
                expected = element_type(array, index)
                self.require(
                    value.type == expected, f"{value.type} stored to {array.name}: {expected}"
                )
            case _:
                pass
        if array is not None:
            known = array.in_rule or array
            self.require(known in self.arrays, f"{array.name} is no parameter and not declared")

    def joins(self, stmt: Stmt) -> None:
        def same(what: str, *groups: tuple[Value, ...]) -> None:
            types = [tuple(value.type for value in group) for group in groups]
            self.require(all(t == types[0] for t in types), f"{what}: {types}")

        match stmt:
            case If(cond, then, orelse, outs):
                self.require(cond.type == BOOL, f"if over {cond.type}")
                same("results of if", outs, then.results, orelse.results)
            case For(index, start, stop, carries, inits, body, outs):
                self.require(index.type == start.type == stop.type == I32, "range over no i32")
                same("carries of for", outs, carries, inits, body.results)
            case While(carries, inits, cond, body, outs):
                self.require([r.type for r in cond.results] == [BOOL], "condition of while")
                same("carries of while", outs, carries, inits, body.results)
            case ParallelFor(indices, starts, stops, body):
                same("box", indices, starts, stops)
                self.require(not body.results, "a parallel loop yields nothing")
            case Ruled(outs, args, body, backward, forward):
                floats = tuple(out for out in outs if is_float(out.type))
                same("results of a ruled body", outs, body.results)
                if backward is not None:
                    same("adjoints of outs", floats, backward.params)
                    same("adjoints of args", args, backward.block.results)
                if forward is not None:
                    same("tangents of args", args, forward.params)
                    same("tangents of outs", floats, forward.block.results)
            case Derivative(outs, params, args, seeds, body):
                same("args of a derivative", params, args)
                dots, bars = (seeds, outs) if stmt.forward else (outs, seeds)
                same("tangents of args" if stmt.forward else "adjoints of args", args, dots)
                same("the other side of a derivative", body.results, bars)
            case _:
                pass
