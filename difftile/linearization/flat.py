"""The derivative of a stretch of launches as a linear map between vectors of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.ir.types import numpy_dtype, scalar_of, shape_of
from difftile.linearization.derivatives import directions_within
from difftile.linearization.pullback import Pullback
from difftile.linearization.together import CHUNK, MEMORY, chunks, curved, pulled, pushed

Columns: TypeAlias = npt.NDArray[Any]
"""Vectors as the columns of a matrix."""


class FlatFields:
    """Several fields as one vector: field after field, in each the last axis fastest.

    Args:
        fields: The fields, each with memory of its own.

    Attributes:
        dtype: The widest of their types, at least single precision.
    """

    def __init__(self, fields: Iterable[Field]) -> None:
        self.fields = tuple(fields)
        self.shapes = [(*one.shape, *shape_of(one.element)) for one in self.fields]
        self._ends = np.cumsum([0, *(int(np.prod(shape, dtype=int)) for shape in self.shapes)])
        self.size = int(self._ends[-1])
        dtypes = [numpy_dtype(scalar_of(one.element)) for one in self.fields]
        self.dtype = np.result_type(np.float32, *dtypes)

    def split(self, columns: Columns) -> dict[Field, HostArray]:
        """Return the parts of some columns, one after the other along the first axis."""
        rows, width = np.ascontiguousarray(columns.T), columns.shape[1]
        return {
            one: rows[:, first:end].reshape(width, *shape)
            for one, shape, first, end in zip(
                self.fields, self.shapes, self._ends[:-1], self._ends[1:], strict=True
            )
        }

    def joined(self, parts: Mapping[Field, HostArray]) -> Columns:
        """Return the columns that some parts make."""
        each = [parts[one] for one in self.fields]
        return np.concatenate([part.reshape(len(part), -1) for part in each], axis=1).T


class FlatDerivative:
    """The Jacobian of a function of fields, and its second derivatives, as products with vectors.

    Args:
        linear: The launches of the function.
        inputs: The fields that derivatives are taken with respect to.
        outputs: The fields that it returns.
        chunk: The number of vectors that one run of the launches takes.
    """

    def __init__(
        self, linear: Pullback, inputs: FlatFields, outputs: FlatFields, chunk: int = CHUNK
    ) -> None:
        self.linear = linear
        self.inputs = inputs
        self.outputs = outputs
        self._chunk = chunk

    @property
    def shape(self) -> tuple[int, int]:
        """The rows and columns of the Jacobian."""
        return self.outputs.size, self.inputs.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers in products."""
        return np.result_type(self.inputs.dtype, self.outputs.dtype)

    def push(self, columns: Columns) -> Columns:
        """Return the products of the Jacobian and some vectors."""

        def product(part: Columns) -> Columns:
            tangents = self.inputs.split(part)
            return self.outputs.joined(pushed(self.linear, tangents, self.outputs.fields))

        return self._products(product, columns, self.outputs.size, self._chunk)

    def pull(self, columns: Columns) -> Columns:
        """Return the products of the transposed Jacobian and some vectors."""

        def product(part: Columns) -> Columns:
            seeds = self.outputs.split(part)
            return self.inputs.joined(pulled(self.linear, seeds, self.inputs.fields))

        return self._products(product, columns, self.inputs.size, self._chunk)

    def curve(self, columns: Columns, weights: Columns) -> Columns:
        """Return the products of the Hessian of a sum of the outputs and some vectors.

        Args:
            columns: The vectors.
            weights: The factors of the outputs in the sum.
        """
        whole = self.outputs.split(weights[:, None])
        seeds: dict[ArrayLike, HostArray] = {one: part[0] for one, part in whole.items()}

        def product(part: Columns) -> Columns:
            tangents = self.inputs.split(part)
            return self.inputs.joined(curved(self.linear, tangents, seeds, self.inputs.fields))

        chunk = self._chunk
        if columns.shape[1] > 1:
            chunk = min(chunk, directions_within(MEMORY, self.linear, self.inputs.fields))
        return self._products(product, columns, self.inputs.size, chunk)

    def _products(
        self, product: Callable[[Columns], Columns], columns: Columns, rows: int, chunk: int
    ) -> Columns:
        found = np.empty((rows, columns.shape[1]), self.dtype)
        for some in chunks(columns.shape[1], chunk):
            found[:, some] = product(columns[:, some])
        return found
