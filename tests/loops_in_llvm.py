"""Compile programs of the tests, and compare LLVM's code with what is said of their loops.

Run in a folder of its own, where Taichi leaves a file of LLVM's code for each task, with a number
type, and which of the programs: each nth from the kth on. Prints a line for each disagreement.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
import tests.programs
from difftile.compile.adjoint_plan import make_plans
from difftile.diagnostics import DifftileError
from difftile.ir.nodes import Array, Const, Program, Store
from difftile.ir.types import is_float
from difftile.ir.walk import WRITES, regions, walk
from difftile.passes.privatise import ATOMICS
from difftile.substrate import LoopCode
from difftile.substrate.compile import _NO_ZEROS, _Which
from difftile.substrate.vector_loops import loop_codes
from tests import harness

ALONE = _Which(serial=True, outlined=True, zeros=_NO_ZEROS, plan=ATOMICS, few=frozenset())

# LLVM may have vectors for these kinds of loops: behind a test that always fails, where elements
# overlap or rows would have to be of length 1; or for loops of the functions that they call.
POSSIBLE = frozenset(("others", "rows", "loop", "long"))

# Programs for which LLVM decides otherwise, with the reason.
EXCEPTIONS: dict[str, str] = {
    "rules.undoing_with_derived_steps 0": "a recurrence of which LLVM finds the sum",
    "traps.component_of_a_masked_cross adjoint 0": "components that LLVM does not need",
}


def compiled(one: harness.Program, scalar: Any) -> Iterator[tuple[str, Any]]:
    """Yield the programs of a kernel, forward and adjoint, by name."""
    kernel: Any = dt.kernel(one.function)
    values = harness.drawn(one, np.random.default_rng(7))
    kernel._ready((), harness.arguments(one, harness._fields(one, values, scalar)))
    code = kernel._latest
    for k, stage in enumerate(code.stages):
        yield f"{one.name} {k}", stage.primal.code
    graded = tuple(isinstance(p, Array) and is_float(p.type.element) for p in code.params)
    try:
        plans = make_plans(code, graded)
    except DifftileError:
        return
    for k, plan in enumerate(plans):
        if plan.adjoint is not None:
            yield f"{one.name} adjoint {k}", plan.adjoint.code


def vectors_of(code: Any) -> tuple[Program, list[LoopCode], int]:
    """Compile a program; return it, what is said of its loops, and how many LLVM has as vectors."""
    made, _, _ = code._formed(code.program, ALONE)
    options = {"serial": True, "outlined": True, "polynomials": made.polynomials}
    emitted = code._emitted(made.program, **options)
    before = set(Path().glob("*.ll"))
    code._compile(
        emitted,
        code.program,
        (*code.params, *code._reported),
        written=code._written,
        on_host=True,
        as_written=code._as_written,
    )
    text = "".join(file.read_text() for file in set(Path().glob("*.ll")) - before)
    count = len(re.findall(r"^vector\.body\d*:", text, re.MULTILINE))
    groups = loop_codes(made.program, made.polynomials, serial=True, reorders=code._reorders)
    return made.program, [one for group in groups for one in group], count


def disagreement(codes: list[LoopCode], count: int) -> str:
    """Return what LLVM does otherwise, or an empty text."""
    said = [one for one in codes if one.obstacle is None]
    certain = [one for one in said if not _fills(one)]
    possible = [one for one in codes if one.obstacle and one.obstacle.kind in POSSIBLE]
    if len(certain) > count:
        return f"{len(certain)} loops are said to be vectors, of which LLVM has {count}"
    if count and not said and not possible:
        kinds = {one.obstacle.kind for one in codes if one.obstacle}
        return f"LLVM has {count} loops as vectors that are said not to be: {', '.join(kinds)}"
    return ""


def _fills(one: LoopCode) -> bool:
    """Tell whether a loop only stores literals: for zeros, LLVM calls a function instead."""
    writes = [s for region in regions(one.loop) for s in walk(region) if isinstance(s, WRITES)]
    return all(isinstance(s, Store) and isinstance(s.value, Const) for s in writes)


def main(scalar: str, every: int, first: int) -> None:
    dt.init(
        arch="cpu",
        default_fp=getattr(ti, scalar),
        cpu_max_num_threads=1,
        offline_cache=False,
        print_kernel_llvm_ir_optimized=True,
    )
    for module in iter_modules(tests.programs.__path__):
        import_module(f"tests.programs.{module.name}")
    kind = {"f32": harness.F32, "f64": harness.F64}[scalar]
    total = 0
    for one in harness.PROGRAMS[first::every]:
        for name, code in compiled(one, kind):
            if not code._outlines:
                continue
            _, codes, count = vectors_of(code)
            total += sum(one.obstacle is None for one in codes)
            found = disagreement(codes, count)
            if bool(found) != (name in EXCEPTIONS):
                print(f"{name}: {found or 'no exception any more'}")
    print(f"{total} loops are vectors")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
