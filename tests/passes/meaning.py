"""What programs compute before and after a pass, compared by running them as Python.

Floats are complex numbers, in double precision whatever their type: sums may be taken in another
order, and the complex step gives derivatives.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile import meaning
from difftile.ir.nodes import Array, Program, Var
from difftile.ir.types import BOOL, FLOATS, is_float, numpy_dtype, scalar_of, shape_of
from tests.passes.cases import Options

STEP = 1e-30
_SIZE = 5  # of each axis, where a case does not say

Contents: TypeAlias = dict[Array, npt.NDArray[Any]]
Numbers: TypeAlias = dict[Var, Any]
Inputs: TypeAlias = tuple[Contents, Numbers]


def inputs_of(program: Program, options: Options, seed: int) -> Inputs:
    """Draw contents of the fields, and numbers, unless the options give them."""
    rng = np.random.default_rng(seed)
    fields: Contents = {}
    numbers: Numbers = {}
    for param in program.params:
        given = options.text(param.name)
        if isinstance(param, Var):
            numbers[param] = _number(param, given, rng, seed)
        else:
            fields[param] = _contents(param, given, rng)
    return fields, numbers


def _number(param: Var, given: str, rng: np.random.Generator, seed: int) -> Any:
    if scalar_of(param.type) in FLOATS:
        drawn = rng.uniform(0.5, 1.5, shape_of(param.type))
        return float(given) if given else drawn[()]
    if param.type == BOOL:
        return bool(rng.integers(2))
    if given:
        return int(given)
    return (3, 0, int(rng.integers(_SIZE)))[seed % 3]


def _contents(param: Array, given: str, rng: np.random.Generator) -> npt.NDArray[Any]:
    scalar, inner = scalar_of(param.type.element), shape_of(param.type.element)
    shape = (_SIZE,) * param.type.ndim
    if given.startswith("shape"):
        shape = tuple(int(size) for size in given.split()[1:])
    elif given:
        values = np.array([float(word) for word in given.split()])
        return values.astype(np.complex128 if scalar in FLOATS else numpy_dtype(scalar))
    if scalar in FLOATS:
        return np.asarray(rng.uniform(-1.5, 1.5, (*shape, *inner)), np.complex128)
    drawn = rng.integers(0, min(shape, default=2), (*shape, *inner))
    return np.asarray(drawn, numpy_dtype(scalar))


class TooLong(Exception):
    """A program that takes more statements than a test has the time for."""


def run(
    programs: Iterable[Program], fields: Contents, numbers: Numbers, limit: float = np.inf
) -> str:
    """Run programs one after the other in place; return what they print.

    Raises:
        TooLong: They take more statements than the limit.
    """
    printed = io.StringIO()
    left = limit

    def count(*_: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise TooLong

    watch = None if limit == np.inf else count
    for program in programs:
        for array in (*program.params, *program.temps):
            if isinstance(array, Array) and array not in fields:
                fields[array] = meaning.memory_of(array, fields, complex_step=True)
        known = {p: numbers[p] for p in program.params if isinstance(p, Var) and p in numbers}
        with contextlib.redirect_stdout(printed):
            meaning.run(program, fields, known, complex_step=True, watch=watch)
    return printed.getvalue()


def copied(fields: Contents) -> Contents:
    return {array: values.copy() for array, values in fields.items()}


def compare(found: npt.NDArray[Any], expected: npt.NDArray[Any], what: str) -> None:
    tolerance = 1e-6 if np.iscomplexobj(expected) else 0.0  # literals of f32 are rounded
    np.testing.assert_allclose(found, expected, tolerance, tolerance, err_msg=what)


def check_same(before: Program, after: tuple[Program, ...], options: Options) -> None:
    """Compare the results of a program with those of one or several that stand for it."""
    for seed in range(3):
        fields, numbers = inputs_of(before, options, seed)
        left, right = copied(fields), copied(fields)
        said = run([before], left, numbers)
        assert run(after, right, numbers) == said
        for array in fields:
            compare(right[array], left[array], f"{array.name}, seed {seed}")


def check_repeated(
    one: Program, step: Var, order: range, many: Program, numbers: Numbers, options: Options
) -> None:
    """Compare the program of many steps with that of one step, run for each of them.

    Args:
        one: The program of one step.
        step: Its parameter that says which step it is.
        order: The steps.
        many: The program of many steps.
        numbers: The values of the parameters that say which steps.
        options: The options of the case.
    """
    for seed in range(3):
        fields, given = inputs_of(one, options, seed)
        left, right = copied(fields), copied(fields)
        for at in order:
            run([one], left, {**given, step: at})
        run([many], right, {**given, **numbers})
        for array in fields:
            compare(right[array], left[array], f"{array.name}, {order}, seed {seed}")


def floats_of(program: Program, options: Options) -> frozenset[Array]:
    """Return the fields with derivatives: those that the option names, or all with floats."""
    arrays = [p for p in (*program.params, *program.temps) if isinstance(p, Array)]
    names = options.names("wanted") or [a.name for a in arrays]
    return frozenset(a for a in arrays if a.name in names and is_float(a.type.element))


def pushed(
    program: Program, inputs: Inputs, directions: Contents
) -> tuple[Contents, dict[Array, npt.NDArray[np.float64]]]:
    """Return the contents after a program, and their tangents by the complex step."""
    fields, numbers = copied(inputs[0]), inputs[1]
    for array, direction in directions.items():
        fields[array] = np.asarray(fields[array] + 1j * STEP * direction)
    run([program], fields, numbers)
    dots = {array: np.imag(fields[array]) / STEP for array in directions}
    real = {a: np.asarray(np.real(v), v.dtype) for a, v in fields.items()}
    return real, dots


def drawn_like(fields: Contents, arrays: Iterable[Array], seed: int) -> Contents:
    rng = np.random.default_rng(seed)
    by_name = sorted((a for a in arrays if a in fields), key=lambda a: a.name)
    return {a: np.asarray(rng.uniform(-1, 1, fields[a].shape), np.complex128) for a in by_name}


def check_reverse(
    primal: Program,
    adjoint: Program,
    bars: Mapping[Array, Array],
    after: Mapping[Array, Array],
    options: Options,
) -> None:
    """Compare <w, J v>, J v by the complex step, with <J^T w, v>."""
    for seed in range(3):
        inputs = inputs_of(primal, options, seed)
        directions = drawn_like(inputs[0], bars, seed + 10)
        weights = drawn_like(inputs[0], bars, seed + 20)
        new, dots = pushed(primal, inputs, directions)
        given = copied(inputs[0]) | {late: new[array].copy() for late, array in after.items()}
        given |= {bars[array]: weight.copy() for array, weight in weights.items()}
        fields = copied(given)
        run([adjoint], fields, inputs[1])
        for array, values in inputs[0].items():
            compare(fields[array], values, f"{array.name} is not changed by the reverse")
        left = sum(np.sum(weights[a].real * dots[a]) for a in directions)
        right = sum(np.sum(fields[bars[a]].real * directions[a].real) for a in directions)
        np.testing.assert_allclose(right, left, 1e-6, 1e-6, err_msg="<J^T w, v> and <w, J v>")


def check_forward(
    primal: Program,
    tangent: Program,
    dots: Mapping[Array, Array],
    before: Mapping[Array, Array] | None,
    options: Options,
) -> None:
    """Compare tangents with the complex step.

    Args:
        primal: The primal.
        tangent: The program that pushes tangents.
        dots: The tangent of each field.
        before: The parameters with contents from before the primal, for a program that runs after
            it; None for one that runs in its place.
        options: The options of the case.
    """
    for seed in range(3):
        inputs = inputs_of(primal, options, seed)
        directions = drawn_like(inputs[0], dots, seed + 10)
        new, expected = pushed(primal, inputs, directions)
        fields = copied(inputs[0] if before is None else new)
        fields |= {old: inputs[0][array].copy() for old, array in (before or {}).items()}
        fields |= {dots[a]: direction.copy() for a, direction in directions.items()}
        run([tangent], fields, inputs[1])
        for array in inputs[0]:
            compare(fields[array], new[array].astype(fields[array].dtype), array.name)
        for array, dot in expected.items():
            compare(fields[dots[array]], dot.astype(np.complex128), f"tangent of {array.name}")


def check_batch(
    one: Program, many: Program, of: Mapping[Array, Array | None], width: Var, options: Options
) -> None:
    """Compare a program for many directions with one that runs direction by direction."""
    count = 3
    lanes = {array: new for new, array in of.items() if array is not None}
    runs = [inputs_of(one, options, seed) for seed in range(count)]
    shared, numbers = runs[0]
    fields = {a: v.copy() for a, v in shared.items() if a not in lanes}
    for array, new in lanes.items():
        if array in shared:
            fields[new] = np.stack([contents[array] for contents, _ in runs])
        else:
            memory = meaning.memory_of(array, shared, complex_step=True)
            is_plain = isinstance(memory, np.ndarray)
            fields[new] = (
                np.stack([memory] * count)
                if is_plain
                else meaning.memory_of(new, shared, complex_step=True)
            )
    for new, array in of.items():
        if array is None:
            scalar, inner = scalar_of(new.type.element), shape_of(new.type.element)
            dtype = np.dtype(np.complex128) if scalar in FLOATS else numpy_dtype(scalar)
            fields[new] = np.zeros((count, *inner), dtype)
    singles: list[Contents] = []
    for contents, _ in runs:
        single = {a: (contents if a in lanes else fields)[a].copy() for a in shared}
        run([one], single, numbers)
        singles.append(single)
    run([many], fields, {**numbers, width: count})
    for array, new in lanes.items():
        if array in shared:
            for lane, single in enumerate(singles):
                compare(fields[new][lane], single[array], f"{array.name}, lane {lane}")
