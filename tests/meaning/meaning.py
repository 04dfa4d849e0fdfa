"""The meaning of programs: all tests of this folder run them by this module."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile import meaning
from difftile.ir.nodes import Array, Program, Var
from difftile.ir.types import FLOATS, scalar_of, shape_of

Contents: TypeAlias = "dict[Array, npt.NDArray[Any]]"
Numbers: TypeAlias = "dict[Var, Any]"
Memory: TypeAlias = "dict[Hashable, npt.NDArray[Any]]"

STEP = 1e-30  # of complex steps, which have no rounding error to balance


def run(
    program: Program, fields: Contents, numbers: Mapping[Var, Any], *, complex_step: bool = False
) -> str:
    """Run a program in place; return what it prints. Its hidden fields start with zeros."""
    printed = io.StringIO()
    known = {p: numbers[p] for p in program.params if isinstance(p, Var)}
    with contextlib.redirect_stdout(printed):
        meaning.run(program, fields, known, complex_step=complex_step)
    return printed.getvalue()


def is_smooth(array: Array) -> bool:
    """Tell whether the elements of an array are floats."""
    return scalar_of(array.type.element) in FLOATS


def inner_of(array: Array) -> tuple[int, ...]:
    """Return the shape of an element."""
    return shape_of(array.type.element)


def stepped(
    values: npt.NDArray[Any], direction: npt.NDArray[Any] | None = None
) -> npt.NDArray[Any]:
    """Return floats as complex numbers, with a step along a direction if there is one."""
    return np.asarray(values + (0j if direction is None else 1j * STEP * direction), complex)


def compare(
    found: npt.NDArray[Any], expected: npt.NDArray[Any], what: str, digits: float = 0.0
) -> None:
    """Compare arrays: bit for bit, or to a share of the largest element.

    Raises:
        AssertionError: They differ.
    """
    if digits:
        finite = np.abs(expected[np.isfinite(expected)])
        scale = max(1.0, float(np.max(finite, initial=0.0)))
        same = np.allclose(found, expected, rtol=digits, atol=digits * scale, equal_nan=True)
    else:
        same = np.array_equal(found, expected, equal_nan=expected.dtype.kind in "fc")
    if not same:
        raise AssertionError(f"{what}:\n{found.tolist()}\ninstead of\n{expected.tolist()}")


def copied(memory: Mapping[Any, npt.NDArray[Any]]) -> dict[Any, npt.NDArray[Any]]:
    """Return copies of arrays, of which those that share memory still do."""
    copies: dict[int, npt.NDArray[Any]] = {}
    found: dict[Any, npt.NDArray[Any]] = {}
    for key, values in memory.items():
        base = values if values.base is None else values.base
        if not isinstance(base, np.ndarray) or base.size != values.size:
            base = values
        copy = copies.setdefault(id(base), base.copy())
        found[key] = copy.reshape(values.shape)
    return found


def arrays_of(program: Program) -> Iterable[Array]:
    """Return the fields of a program that its callers see."""
    return (p for p in program.params if isinstance(p, Array))


def memory_of(array: Array, fields: Contents) -> Any:
    """Return zeros for a hidden field."""
    return meaning.memory_of(array, fields, complex_step=False)
