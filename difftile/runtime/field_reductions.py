"""The reductions of fields, as kernels that return numbers."""

# What a kernel returns has no annotation.
# pyrefly: ignore-errors[unannotated-return]

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import difftile.lang as ti
from difftile.compile.func import KernelValue
from difftile.diagnostics import FieldError
from difftile.fields.array_like import ArrayLike
from difftile.fields.reductions import Reductions
from difftile.ir.types import shape_of
from difftile.runtime.funcs import func
from difftile.runtime.kernel import Kernel
from difftile.substrate import current_session


def _sum(start: KernelValue, x: KernelValue):
    found = ti.cast(start, ti.f64)
    for i in ti.grouped(x):
        found += ti.cast(x[i], ti.f64)
    return found


def _mean(start: KernelValue, x: KernelValue, count: KernelValue):
    found = ti.cast(start, ti.f64)
    for i in ti.grouped(x):
        found += ti.cast(x[i], ti.f64)
    return found / ti.cast(count, ti.f64)


def _min(start: KernelValue, x: KernelValue):
    found = ti.cast(start, ti.f64)
    for i in ti.grouped(x):
        ti.atomic_min(found, ti.cast(x[i], ti.f64))
    return found


def _max(start: KernelValue, x: KernelValue):
    found = ti.cast(start, ti.f64)
    for i in ti.grouped(x):
        ti.atomic_max(found, ti.cast(x[i], ti.f64))
    return found


def _norm(squared: KernelValue, x: KernelValue):
    found = ti.cast(0.0, ti.f64)
    for i in ti.grouped(x):
        found += squared(ti.cast(x[i], ti.f64))
    return ti.sqrt(found)


@func
def _square(v: KernelValue) -> KernelValue:
    return v * v


@func
def _square_of_components(v: KernelValue) -> KernelValue:
    return (v * v).sum()


_INFINITY = float("inf")
_STARTS = {"sum": 0.0, "mean": 0.0, "min": _INFINITY, "max": -_INFINITY}
_SQUARES: tuple[Callable[..., Any], ...] = (_square, _square_of_components, _square_of_components)
_KERNELS = {
    "sum": Kernel(_sum),
    "mean": Kernel(_mean),
    "min": Kernel(_min),
    "max": Kernel(_max),
    "norm": Kernel(_norm),
}


def launch(name: str, field: ArrayLike) -> Any:
    """Return a reduction of a field of floats that has elements, in double precision.

    Args:
        name: "sum", "mean", "min", "max" or "norm".
        field: The field.

    Raises:
        FieldError: The device has no double precision.
    """
    if current_session().device == "metal":
        raise FieldError(
            f"{name}() computes in double precision, which Metal has not: "
            f"use NumPy on field.to_numpy(), or dt.init(arch='cpu')."
        )
    inner = shape_of(field.element)
    elements: Any = field
    if not field.shape:
        elements = elements.broadcast_to(1)
    if name == "norm":
        return _KERNELS[name](_SQUARES[len(inner)], elements)
    start: Any = _STARTS[name]
    for size in reversed(inner):  # pyrefly: ignore[non-convergent-recursion]
        start = [start] * size
    start = ti.Matrix(start) if inner else start
    count = (field.size,) if name == "mean" else ()
    return _KERNELS[name](start, elements, *count)


Reductions.launch = launch
