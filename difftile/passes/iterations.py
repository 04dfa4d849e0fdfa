"""The elements that iterations of a parallel loop touch, one iteration after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from difftile.ir.nodes import Const, For, If, Let, Size, Stmt, Value, Var
from difftile.ir.types import numpy_dtype, scalar_of, shape_of
from difftile.ops.table import OPS
from difftile.passes.accesses import Leaf

_MOST = 4096  # iterations that are gone through, serial ones counted


class NotIntegers(Exception):
    """The numbers of a launch do not decide which elements are touched, or there are too many."""


class Iterations:
    """The iterations of a loop, for given numbers.

    Args:
        indices: The indices of the loop.
        bounds: Where each starts and stops.
        origin: The statement that defines a value, and the position among its results.
        loops: The serial loops by their index.
        known: The values of sizes and numbers that the kernel is given.
    """

    def __init__(
        self,
        indices: tuple[Var, ...],
        bounds: tuple[tuple[Value, Value], ...],
        origin: Mapping[Var, tuple[Stmt, int]],
        known: Mapping[Leaf, int],
    ) -> None:
        self._indices = indices
        self._bounds = bounds
        self._origin = origin
        self._known = known
        self._left = _MOST

    def touched(
        self,
        index: tuple[Value, ...],
        loops: tuple[Stmt, ...],
        branches: tuple[tuple[If, bool], ...],
    ) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yield each iteration that gets to an access, and the element that it touches.

        Raises:
            NotIntegers: This cannot be told.
        """
        with np.errstate(all="ignore"):
            empty: dict[Var, Any] = {}
            ranges = [range(*(self._whole(end, empty) for end in ends)) for ends in self._bounds]
            for at in product(*ranges):
                start = dict(zip(self._indices, map(np.int32, at), strict=True))
                for values in self._inside(loops, start):
                    if all(bool(self._value(c.cond, values)) == side for c, side in branches):
                        yield at, tuple(self._whole(i, values) for i in index)

    def _inside(self, loops: tuple[Stmt, ...], values: dict[Var, Any]) -> Iterator[dict[Var, Any]]:
        """Yield the values of indices for each iteration of the serial loops around an access."""
        if not loops:
            self._left -= 1
            if self._left < 0:
                raise NotIntegers
            yield dict(values)
            return
        loop = loops[0]
        if not isinstance(loop, For):
            raise NotIntegers
        known = dict(values)
        for k in range(self._whole(loop.start, known), self._whole(loop.stop, known)):
            yield from self._inside(loops[1:], {**values, loop.index: np.int32(k)})

    def _whole(self, value: Value, values: dict[Var, Any]) -> int:
        return int(self._value(value, values))

    def _value(self, value: Value, values: dict[Var, Any]) -> Any:
        if isinstance(value, Const):
            return np.full(shape_of(value.type), value.value, numpy_dtype(scalar_of(value.type)))[
                ()
            ]
        if value not in values:
            values[value] = self._computed(value, values)
        return values[value]

    def _computed(self, value: Var, values: dict[Var, Any]) -> Any:
        dtype = numpy_dtype(scalar_of(value.type))
        if value in self._known:
            return dtype.type(self._known[value])
        stmt, place = self._origin.get(value, (None, 0))
        match stmt:
            case Let(op="cast", args=(arg,)):
                return np.asarray(self._value(arg, values)).astype(dtype)[()]
            case Let(op=op, args=args) if op not in ("bit_cast", "random"):
                found = np.asarray(OPS[op].numpy(*(self._value(arg, values) for arg in args)))
                if op == "mat":
                    found = found.reshape(shape_of(value.type))
                return found.astype(dtype)[()]
            case Size(array=array, axis=axis) if (array, axis) in self._known:
                return dtype.type(self._known[array, axis])
            case If(cond=cond, then=then, orelse=orelse):
                side = then if self._value(cond, values) else orelse
                return self._value(side.results[place], values)
            case _:
                raise NotIntegers
