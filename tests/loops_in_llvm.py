"""Compile programs of the tests, and compare LLVM's code with what is said of their loops.

Run in a folder of its own, where Taichi leaves a file of LLVM's code for each task, with a number
type, and n and k for the programs whose checksum is k modulo n. Prints a line for each
disagreement.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any
from zlib import crc32

import numpy as np
import taichi as ti

import difftile as dt
import tests.programs
from difftile.compile.adjoint_plan import make_plans
from difftile.diagnostics import DifftileError
from difftile.ir.nodes import Array, Const, Load, Store
from difftile.ir.types import is_float
from difftile.ir.walk import WRITES, parallel_loops, regions, walk
from difftile.schedule.apply import codes_of
from difftile.schedule.schedule import Schedule
from difftile.schedule.steps import Serial
from difftile.schedule.vector_loops import LoopCode
from tests import harness

# LLVM may have vectors for these kinds of loops: behind a test that always fails, where elements
# overlap or rows would have to be of length 1; for loops of the functions that they call; or where
# two thirds of the places that LLVM tests follow from others.
POSSIBLE = frozenset(("others", "rows", "loop", "long", "many"))

# Programs for which LLVM decides otherwise in single precision, with the reason.
EXCEPTIONS: dict[str, str] = {
    "rules.undoing_with_derived_steps 0": "a recurrence of which LLVM finds the sum",
    "calls.in_a_loop 0": "a recurrence of which LLVM finds the sum",
    "control_flow.branch_around_a_loop 0": "a recurrence of which LLVM finds the sum",
    "in_place.no_turns_outside_of_the_field adjoint 0": "a recurrence of which LLVM finds the sum",
    "jumps.nested_jumps adjoint 0": "a recurrence of which LLVM finds the sum",
    "loops.negative_count 0": "a recurrence of which LLVM finds the sum",
    "loops.negative_count adjoint 0": "a recurrence of which LLVM finds the sum",
    "conformance_control.power_by_a_while 0": "LLVM counts the turns ahead",
    "conformance_control.branch_without_a_path adjoint 0": "LLVM runs the first turns apart",
    "conformance_control.loop_from_a_negative_start adjoint 0": "sums into a local array",
    "loops.negative_start adjoint 0": "sums into a local array",
    "carried_state.elimination_with_pivots 0": "a loop of at most four turns",
    "control_flow.conditional_stores 0": "LLVM makes a switch of two conditions",
    "control_flow.conditional_stores adjoint 0": "LLVM makes a switch of two conditions",
    "control_flow.vectors_joined 0": "LLVM leaves a vector in memory",
    "arrays.long_vectors 0": "components that are written out are indexed",
    "arrays.long_vectors adjoint 0": "components that are written out are indexed",
    "matrices.linear_layer_of_matrices adjoint 0": "more tests than are estimated",
    "matrices.outer_product adjoint 0": "more tests than are estimated",
    "atomics.product_into_zero 0": "a product into one element, which LLVM carries",
    "control_flow.nested_branches 0": "a maximum under conditions",
    "matrix_products.all_pairs_at_once 0": "a sum into one element, which LLVM carries",
    "local_memory.a_determinant_by_elimination 0": "a loop of at most four turns",
    "local_memory.a_determinant_by_elimination adjoint 0": "a loop of at most four turns",
    "returns.a_kernel_with_several_returns adjoint 0": "a maximum under conditions",
    "returns.a_kernel_with_several_returns adjoint 1": "a maximum under conditions",
    "local_memory.a_histogram 0": "a long local array that LLVM keeps in memory",
    "local_memory.a_histogram adjoint 0": "a long local array that LLVM keeps in memory",
    "static.unrolled_ndrange adjoint 0": "LLVM makes a switch of conditions",
    # Not looked into: a recurrence beside which LLVM has a vector loop, and loops without vectors.
    **dict.fromkeys(
        (
            "jumps.carried_and_left_as_it_was 0",
            "jumps.nonlinear_with_break 0",
            "jumps.while_over_a_list 0",
            "loops.nested 0",
            "loops.no_iterations 0",
            "loops.no_iterations adjoint 0",
            "loops.nonlinear_carry 0",
            "rules.rules_in_branches_and_loops 0",
            "rules.undoing_the_loop 0",
            "reductions.locals_of_any_kind_in_order adjoint 0",
            "slices.in_loops 0",
        ),
        "LLVM has one loop more as vectors",
    ),
    **dict.fromkeys(
        (
            "conformance_memory.local_vectors_that_change 0",
            "fields.shapes_as_numbers 0",
            "fields.shapes_as_numbers adjoint 0",
            "matrix_products.shifted_columns_under_a_condition adjoint 0",
            "names.of_locals 0",
            "returns.a_return_that_bounds_depend_on adjoint 0",
            "rules.loops_that_add_to_gradients 0",
            "stencils.periodic adjoint 0",
            "stencils.convolution 0",
            "loops.steps_known_at_run_time 1",
            "loops.steps_known_at_run_time adjoint 1",
        ),
        "LLVM has one loop less as vectors, or two",
    ),
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


def vectors_of(code: Any) -> tuple[list[LoopCode], int] | None:
    """Compile a program; return what is said of its loops, and how many LLVM has as vectors.

    None if Taichi has compiled the same code before, under another name.
    """
    of = code.variants.of
    alone = Schedule(tuple((Serial(),) for _ in parallel_loops(of.program)), True, True)
    before = set(Path().glob("*.ll"))
    code.variants.get(alone)
    files = set(Path().glob("*.ll")) - before
    if not files:
        return None
    text = "".join(file.read_text() for file in files)
    groups = codes_of(of.program, alone, of.target)
    count = len(re.findall(r"^vector\.body\d*:", text, re.MULTILINE))
    return [one for group in groups for one in group], count


def disagreement(codes: list[LoopCode], count: int) -> str:
    """Return what LLVM does otherwise, or an empty text."""
    said = [one for one in codes if one.obstacle is None]
    certain = [one for one in said if not _moves(one)]
    possible = [one for one in codes if one.obstacle and one.obstacle.kind in POSSIBLE]
    if len(certain) > count:
        return f"{len(certain)} loops are said to be vectors, of which LLVM has {count}"
    if count and not said and not possible:
        kinds = {one.obstacle.kind for one in codes if one.obstacle}
        return f"LLVM has {count} loops as vectors that are said not to be: {', '.join(kinds)}"
    return ""


def _moves(one: LoopCode) -> bool:
    """Tell whether a loop only fills or copies, for which LLVM may call a function."""
    stmts = [s for region in regions(one.loop) for s in walk(region)]
    loaded = {s.out for s in stmts if isinstance(s, Load)}
    writes = [s for s in stmts if isinstance(s, WRITES)]
    return all(
        isinstance(s, Store) and (isinstance(s.value, Const) or s.value in loaded) for s in writes
    )


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
    for one in harness.PROGRAMS:
        if crc32(one.name.encode()) % every != first:
            continue
        for name, code in compiled(one, kind):
            if not code.variants.of.speed.outlined:
                continue
            compiled_now = vectors_of(code)
            if compiled_now is None:
                continue
            codes, count = compiled_now
            total += sum(one.obstacle is None for one in codes)
            found = disagreement(codes, count)
            if bool(found) != (name in EXCEPTIONS):
                print(f"{name}: {found or 'no exception any more'}")
    print(f"{total} loops are vectors")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
