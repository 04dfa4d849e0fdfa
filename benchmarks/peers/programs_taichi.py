"""Programs of the tests as kernels of plain Taichi, with its own autodiff."""

from __future__ import annotations

from collections.abc import Mapping
from types import CellType, FunctionType
from typing import Any

import numpy as np
import taichi as ti
from taichi.lang import impl

import difftile as dt
from tests.harness import Floats, Given, Program, Same

FORMS = ("field", "ndarray")
"""How Taichi takes arrays: as fields, which are templates, or as ndarrays."""


_FUNC = type(dt.func(lambda x: x))


class NoCounterpart(Exception):
    """A program takes or captures a value that plain Taichi cannot express."""


def counterpart(value: Any) -> Any:
    """Return the plain Taichi counterpart of a func, or a container of them; else the value.

    Raises:
        NoCounterpart: The value is another object of difftile.
    """
    if isinstance(value, _FUNC):
        return ti.func(rewritten(value.function))
    if type(value).__module__.startswith(("difftile", "tests.harness")):
        raise NoCounterpart(f"takes or captures {value!r}")
    return value


def rewritten(function: FunctionType) -> FunctionType:
    """Return the function over Taichi's counterparts of the names that it captures."""
    names = set(function.__code__.co_names)
    outside = function.__globals__ | {
        name: counterpart(value) for name, value in function.__globals__.items() if name in names
    }
    cells = tuple(CellType(counterpart(c.cell_contents)) for c in function.__closure__ or ())
    copy = FunctionType(function.__code__, outside, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    return copy


class TaichiProgram:
    """A program, its arguments and their gradients in plain Taichi, in single precision.

    Args:
        one: The program.
        values: Contents of its arrays, by parameter.
        form: One of `FORMS`.

    Raises:
        NoCounterpart: Plain Taichi has no spelling for something in it.
    """

    def __init__(self, one: Program, values: Mapping[str, np.ndarray], form: str) -> None:
        self.one, self.values = one, values
        function = rewritten(one.function)
        hints: dict[str, Any] = {}
        self.arguments: dict[str, Any] = {}
        for name, given in one.arguments.items():
            if isinstance(given, Same):
                self.arguments[name], hints[name] = self.arguments[given.name], hints[given.name]
            elif isinstance(given, (Floats, Given)):
                grad = values[name].dtype.kind == "f" and name not in one.frozen
                made, hints[name] = _array(values[name], given.element, form, grad)
                self.arguments[name] = made
            else:
                self.arguments[name] = counterpart(given)
                hints[name] = _hint(given)
        function.__annotations__ = {n: h for n, h in hints.items() if n in one.arguments}
        self._kernel = ti.kernel(function)
        self.reset()
        impl.get_runtime().materialize()

    def reset(self) -> None:
        """Fill the arrays again, and clear their gradients."""
        for name, value in self.values.items():
            self.arguments[name].from_numpy(_single(value))
            if self.arguments[name].grad is not None:
                self.arguments[name].grad.fill(0.0)

    def seed(self, seeds: Mapping[str, np.ndarray]) -> None:
        """Set gradients."""
        for name, seed in seeds.items():
            self.arguments[name].grad.from_numpy(_single(seed))

    def forward(self) -> None:
        """Launch the kernel."""
        for _ in range(self.one.launches):
            self._kernel(*self.arguments.values())

    def backward(self) -> None:
        """Launch its gradient kernel."""
        for _ in range(self.one.launches):
            self._kernel.grad(*self.arguments.values())

    def after(self) -> dict[str, np.ndarray]:
        """Return the contents of the arrays."""
        return {name: self.arguments[name].to_numpy() for name in self.values}

    def gradients(self, names: list[str]) -> dict[str, np.ndarray]:
        """Return the gradients of some arrays."""
        return {name: self.arguments[name].grad.to_numpy() for name in names}


def _single(value: np.ndarray) -> np.ndarray:
    return value.astype(np.float32 if value.dtype.kind == "f" else np.int32)


def _hint(given: Any) -> Any:
    """Return Taichi's annotation for an argument that is no array."""
    if type(given) is int:
        return ti.i32
    return ti.f32 if type(given) is float else ti.template()


def _array(value: np.ndarray, element: tuple[int, ...], form: str, grad: bool) -> tuple[Any, Any]:
    """Make an array for a value, and the annotation of a parameter that takes it."""
    scalar = ti.f32 if value.dtype.kind == "f" else ti.i32
    shape = value.shape[: value.ndim - len(element)]
    options = {"shape": shape, "needs_grad": grad}
    if form == "field":
        makers = (ti.field, ti.Vector.field, ti.Matrix.field)
        return makers[len(element)](*element, dtype=scalar, **options), ti.template()
    makers = (ti.ndarray, ti.Vector.ndarray, ti.Matrix.ndarray)
    types = (lambda dtype: dtype, ti.types.vector, ti.types.matrix)
    made = makers[len(element)](*element, dtype=scalar, **options)
    dtype = types[len(element)](*element, dtype=scalar)
    return made, ti.types.ndarray(dtype=dtype, ndim=len(shape), needs_grad=grad)
