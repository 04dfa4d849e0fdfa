"""The meaning of programs, in NumPy: slow, plain, and the oracle of the tests.

Every statement runs one after the other, parallel iterations in order. With `complex_step` floats
are complex numbers, so that the derivative of any smooth program comes without difference errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    Derivative,
    Fail,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Print,
    Program,
    Ruled,
    Size,
    Stmt,
    Store,
    Text,
    Value,
    Var,
    While,
)
from difftile.ir.types import BOOL, F64, FLOATS, numpy_dtype, scalar_of, shape_of
from difftile.ops.table import OPS


def run(
    program: Program,
    fields: Mapping[Array, npt.NDArray[Any]],
    numbers: Mapping[Var, float | int] | None = None,
    *,
    complex_step: bool = False,
    watch: Callable[[Stmt, Machine], None] | None = None,
) -> None:
    """Run a program on NumPy arrays, in place.

    Args:
        program: The program.
        fields: The contents of each field parameter; element components are trailing axes.
        numbers: The value of each number passed in.
        complex_step: Compute floats as complex numbers; float fields must then be complex arrays.
        watch: Called after each statement that has run.
    """
    arrays: dict[Array, Any] = dict(fields)
    for temp in program.temps:
        if temp not in arrays:
            arrays[temp] = memory_of(temp, arrays, complex_step=complex_step)
    machine = Machine(arrays, complex_step, watch)
    for var, number in (numbers or {}).items():
        machine.values[var] = machine.number(number, scalar_of(var.type))
    with np.errstate(all="ignore"):
        machine.block(program.body)


def memory_of(temp: Array, arrays: Mapping[Any, Any], *, complex_step: bool) -> Any:
    """Return zeros for a hidden field; memory of unknown extents grows as it is written."""
    element, like = temp.type.element, temp.like
    dtype = _dtype(scalar_of(element), complex_step)
    if temp.type.ndim and like is None:
        return _Growing(temp.type.ndim, np.zeros(shape_of(element), dtype))
    outer = () if like is None else arrays[like].shape[: like.type.ndim]
    return np.zeros((*outer, *shape_of(element)), dtype)


class _Growing:
    """Memory whose extents nobody knows before: the elements that were written."""

    def __init__(self, ndim: int, element: npt.NDArray[Any]) -> None:
        self.shape = (2**31,) * ndim
        self._element = element
        self._values: dict[tuple[int, ...], Any] = {}

    def __getitem__(self, index: tuple[int, ...]) -> Any:
        outer, inner = index[: len(self.shape)], index[len(self.shape) :]
        return self._values.get(outer, self._element)[inner]

    def __setitem__(self, index: tuple[int, ...], value: Any) -> None:
        outer, inner = index[: len(self.shape)], index[len(self.shape) :]
        if outer not in self._values:
            self._values[outer] = self._element.copy()
        self._values[outer][inner] = value


def _dtype(scalar: Any, complex_step: bool) -> np.dtype[Any]:
    if complex_step and scalar in FLOATS:
        return np.dtype(np.complex128)
    return numpy_dtype(scalar)


class Machine:
    """What a program has computed so far: the contents of arrays and the values of variables."""

    def __init__(
        self,
        arrays: dict[Array, Any],
        complex_step: bool,
        watch: Callable[[Stmt, Machine], None] | None,
    ) -> None:
        self.arrays = arrays
        self.complex_step = complex_step
        self.watch = watch
        self.values: dict[Var, Any] = {}

    def number(self, value: Any, scalar: Any) -> Any:
        """Return a number in the type that it is computed in."""
        return _dtype(scalar, self.complex_step).type(value)

    def value(self, value: Value) -> Any:
        """Return what a variable or a literal is worth now."""
        if isinstance(value, Var):
            return self.values[value]
        shape = shape_of(value.type)
        number = self.number(value.value, scalar_of(value.type))
        return np.full(shape, number) if shape else number

    def index(self, array: Array, index: tuple[Value, ...]) -> tuple[int, ...]:
        """Return an index as numbers.

        Raises:
            IndexError: It is outside.
        """
        where = tuple(int(self.value(i)) for i in index)
        shape = self.arrays[array].shape
        if any(not 0 <= i < size for i, size in zip(where, shape, strict=False)):
            raise IndexError(f"{array.name}{list(where)} of shape {shape}")
        return where

    def block(self, block: Block) -> list[Any]:
        """Run a block; return its results."""
        for stmt in block.stmts:
            self.stmt(stmt)
            if self.watch is not None:
                self.watch(stmt, self)
        return [self.value(result) for result in block.results]

    def bind(self, variables: tuple[Var, ...], values: list[Any]) -> None:
        """Set variables."""
        self.values.update(zip(variables, values, strict=True))

    def stmt(self, stmt: Stmt) -> None:
        """Run a statement."""
        match stmt:
            case Let():
                self.values[stmt.out] = self.let(stmt)
            case Size(out, array, axis):
                self.values[out] = np.int32(self.arrays[array].shape[axis])
            case Load(out, array, index):
                found = self.arrays[array][self.index(array, index)]
                self.values[out] = found.copy() if isinstance(found, np.ndarray) else found
            case Store(array, index, value):
                self.arrays[array][self.index(array, index)] = self.value(value)
            case Accumulate(array, index, value):
                self.arrays[array][self.index(array, index)] += self.value(value)
            case Combine(out, op, array, index, value):
                where = self.index(array, index)
                old = self.arrays[array][where]
                if out is not None:
                    self.values[out] = old
                self.arrays[array][where] = OPS[op].numpy(old, self.value(value))
            case Alloc(array):
                dtype = _dtype(scalar_of(array.type.element), self.complex_step)
                element = shape_of(array.type.element)
                self.arrays[array] = np.zeros((*array.lengths, *element), dtype)
            case Print(parts):
                print(*(self.text(part) for part in parts), sep="", end="")
            case Fail(failure, values, span):
                raise failure.error(span, [float(self.value(value)) for value in values])
            case Ruled(outs=outs, body=body):
                self.bind(outs, self.block(body))
            case Derivative():
                raise AssertionError("derivatives are worked out before programs run")
            case If(cond, then, orelse, outs):
                self.bind(outs, self.block(then if self.value(cond) else orelse))
            case For():
                self.loop(stmt)
            case While(carries, inits, cond, body, outs):
                state = [self.value(init) for init in inits]
                self.bind(carries, state)
                while self.block(cond)[0]:
                    state = self.block(body)
                    self.bind(carries, state)
                self.bind(outs, state)
            case ParallelFor(indices, starts, stops, body):
                low = [int(self.value(start)) for start in starts]
                sizes = [int(self.value(stop)) - s for stop, s in zip(stops, low, strict=True)]
                for cell in np.ndindex(*(max(0, size) for size in sizes)):
                    self.bind(indices, [np.int32(s + i) for s, i in zip(low, cell, strict=True)])
                    self.block(body)

    def text(self, part: Text) -> str:
        """Return a text, or a number as Taichi prints it."""
        if isinstance(part, str):
            return part
        scalar = scalar_of(part.value.type)
        usual = (".12f" if scalar == F64 else "f") if scalar in FLOATS else "d"
        number = np.real(self.value(part.value))
        return f"%{part.form or usual}" % (number if scalar in FLOATS else int(number),)

    def loop(self, loop: For) -> None:
        """Run a counted loop."""
        state = [self.value(init) for init in loop.inits]
        for i in range(int(self.value(loop.start)), int(self.value(loop.stop))):
            self.values[loop.index] = np.int32(i)
            self.bind(loop.carries, state)
            state = self.block(loop.body)
        self.bind(loop.outs, state)

    def let(self, let: Let) -> Any:
        """Return the result of an op."""
        args = [self.value(arg) for arg in let.args]
        scalar = scalar_of(let.out.type)
        if let.op == "bit_cast":
            return self.bit_cast(args[0], let)
        if let.op == "cast":
            return self.cast(args[0], let)
        result: Any = np.asarray(OPS[let.op].numpy(*args))
        if let.op == "mat":
            result = result.reshape(shape_of(let.out.type))
        return result[()].astype(_dtype(scalar, self.complex_step), copy=False)

    def cast(self, value: Any, let: Let) -> Any:
        """Return a value in another number type."""
        target = _dtype(scalar_of(let.out.type), self.complex_step)
        source = scalar_of(let.args[0].type)
        if np.iscomplexobj(value) and not np.issubdtype(target, np.complexfloating):
            value = np.real(value)
        if scalar_of(let.out.type) == BOOL:
            return np.asarray(value) != 0
        if source in FLOATS and scalar_of(let.out.type) not in FLOATS:
            value = np.trunc(value)
        return np.asarray(value).astype(target)[()]

    def bit_cast(self, value: Any, let: Let) -> Any:
        """Return a value whose bits are taken for another type."""
        source, target = scalar_of(let.args[0].type), scalar_of(let.out.type)
        real: npt.NDArray[Any] = np.asarray(np.real(value), numpy_dtype(source))
        return real.view(numpy_dtype(target)).astype(_dtype(target, self.complex_step))[()]
