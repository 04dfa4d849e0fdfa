"""A sandbox for programs: they run on copies of fields, and no tape records them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from difftile.ir.facts import arrays_written
from difftile.ir.nodes import Array, Program, Stmt, Var
from difftile.ir.walk import silent, walk
from difftile.meaning import Machine, memory_of
from difftile.meaning import run as run_plainly
from difftile.schedule.work import work_of
from difftile.substrate import CompiledProgram, current_session, silence

Contents: TypeAlias = "dict[Array | Var, Any]"
"""A NumPy array or a number for each parameter of a program."""

# A step takes Python about a microsecond; compiling takes about half a second.
FEW_STEPS = 100_000


class Sandbox:
    """Runs programs on arrays: as Python, until compiling them would have been faster."""

    def __init__(self) -> None:
        self._steps: dict[int, tuple[Program, float]] = {}
        self._compiled: dict[int, CompiledProgram] = {}

    def run(self, program: Program, contents: Contents) -> None:
        """Run a program on arrays, in place; its missing hidden fields are added."""
        add_temps(program, contents)
        steps = self._steps.get(id(program), (program, 0.0))[1] + work(program, contents)
        self._steps[id(program)] = program, steps
        if steps <= FEW_STEPS:
            interpret(program, contents)
            return
        compiled = self._compiled.get(id(program))
        if compiled is None:
            compiled = self._compiled[id(program)] = CompiledProgram(program)
        written = arrays_written(program.body)
        args: list[Any] = []
        allocate = current_session().pool.allocate
        for param in compiled.params:
            value = contents[param]
            if isinstance(param, Array):
                buffer = allocate(param.type.element, value.shape[: param.type.ndim])
                buffer.write(value)
                value = buffer
            args.append(value)
        with silence():
            compiled.launch(args)
        for param, arg in zip(compiled.params, args, strict=True):
            if isinstance(param, Array):
                if param in written:  # an array that is only read may be the memory of a field
                    contents[param][...] = arg.read()
                arg.free()


def interpret(
    program: Program,
    contents: Contents,
    watch: Callable[[Stmt, Machine], None] | None = None,
) -> None:
    """Run a program statement by statement, in place, without its prints and checks."""
    add_temps(program, contents)
    program = replace(program, body=silent(program.body))
    fields = {p: v for p, v in contents.items() if isinstance(p, Array)}
    numbers = {p: v for p, v in contents.items() if isinstance(p, Var)}
    run_plainly(program, fields, numbers, watch=watch)


def add_temps(program: Program, contents: Contents) -> None:
    """Add the hidden fields of a program that are missing."""
    for temp in program.temps:
        if temp not in contents:
            contents[temp] = memory_of(temp, contents, complex_step=False)


def copies(contents: Contents) -> Contents:
    """Return copies of the arrays."""
    return {p: v.copy() if isinstance(v, np.ndarray) else v for p, v in contents.items()}


def work(program: Program, contents: Contents) -> float:
    """Return an estimate of the number of elementary steps that a program takes.

    The estimate is at least all statements for each element of the largest field, since the length
    of the blocks in a sum is not known.
    """
    params = (*program.params, *program.temps)
    estimate = work_of(program)
    shapes: list[Any] = []
    for param in params:
        value = contents[param]
        if isinstance(param, Array):
            value = SimpleNamespace(shape=value.shape[: param.type.ndim])
        shapes.append(value)
    sizes = [value.size for value in contents.values() if isinstance(value, np.ndarray)]
    at_least = max(sizes, default=0) * sum(1 for _ in walk(program.body))
    return max(estimate.amount(estimate.key(shapes)), at_least)
