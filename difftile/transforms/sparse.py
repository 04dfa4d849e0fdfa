"""Sparse Jacobians: columns that share no row are pushed together.

Source: Curtis, Powell and Reid, On the Estimation of Sparse Jacobian Matrices, 1974.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import LaunchError
from difftile.linearization.flat import FlatDerivative, FlatFields
from difftile.linearization.together import CHUNK, chunks
from difftile.runtime.scipy import scipy_module
from difftile.tracebacks import boundary
from difftile.transforms.stretch import Stretch, refuse_nesting
from difftile.transforms.trees import Array, Tree

_WHO = "dt.sparse_jacobian"


@dataclass(frozen=True, slots=True)
class Pattern:
    """The places of a matrix whose entries may be nonzero, row after row, each once.

    Args:
        shape: The numbers of rows and columns.
        rows: The row of each entry.
        columns: The column of each entry.
        colours: A colour for each column; columns of one colour share no row.
        order: The entry of each place that was given.
    """

    shape: tuple[int, int]
    rows: npt.NDArray[np.intp]
    columns: npt.NDArray[np.intp]
    colours: npt.NDArray[np.intp]
    order: npt.NDArray[np.intp]


@boundary
def sparse_jacobian(
    f: Callable[..., Tree],
    pattern: Any = None,
    argnum: int = 0,
    *,
    format: str | None = None,
    chunk: int = CHUNK,
) -> Any:
    """Return the function that computes a sparse Jacobian in as many pushes as it has colours.

    A stencil of five points has five to nine colours, on a grid of any size.

    Args:
        f: A function as for `dt.jvp`, of one field or array, that returns one field.
        pattern: The places of entries that may be nonzero: a matrix of SciPy, whose stored entries
            count, an array of bools, or a pair of arrays with rows and columns. Rows and columns
            count the numbers in result and argument, the last axis fastest. Without a pattern all
            columns are computed, and those entries are kept that are not zero at the arguments; the
            result at arguments without accidental zeros can serve as the pattern of later calls.
        argnum: The position of the argument.
        format: The format of the result, a name of SciPy's such as "csr"; by default the pattern's
            own, and "csr" without one.
        chunk: The number of colours that one run of the launches computes.

    Returns:
        A function of the same arguments that returns a matrix of SciPy, an array, or an array with
        the value of each pair, in the form of the pattern; with `format` always a matrix of SciPy.

    Raises:
        ImportError: A matrix of SciPy is the result, and SciPy is not installed.
        LaunchError: The pattern has another shape, or misses a nonzero entry.
    """
    if pattern is None or format is not None:
        scipy_module("scipy.sparse", _WHO)
    places = None if pattern is None else _places(pattern)
    known: list[Pattern] = []  # of the latest shape

    @functools.wraps(f)
    @boundary
    def jacobian(*args: Tree, **kwargs: Any) -> Any:
        refuse_nesting("sparse_jacobian", "jvp or dt.grad")
        stretch = Stretch(f, args, (argnum,), kwargs=kwargs)
        linear = stretch.run()
        outputs = stretch.outputs
        if len(stretch.leaves) != 1 or len(outputs) != 1:
            raise LaunchError(
                f"{_WHO} is for functions of one field with one result. Use dt.jacfwd."
            )
        derivative = FlatDerivative(linear, FlatFields(stretch.inputs), FlatFields(outputs), chunk)
        try:
            if places is None:
                return _matrix(*_every_column(derivative, chunk), format or "csr", None)
            shape = derivative.shape
            if not known or known[0].shape != shape:
                known[:] = [places(shape)]
            given = known[0]
            values = _values(derivative, given)
        finally:
            linear.release()
        wanted = format or getattr(pattern, "format", None)
        if wanted is not None:
            return _matrix(values, given.rows, given.columns, shape, wanted, pattern)
        if isinstance(pattern, tuple):
            return values[given.order]
        dense = np.zeros(given.shape, values.dtype)
        dense[given.rows, given.columns] = values
        return dense

    return jacobian


def _places(given: Any) -> Callable[[tuple[int, int]], Pattern]:
    """Return a function that makes the pattern for a shape, from a copy of the given one."""
    shape: tuple[int, ...] | None = None
    if hasattr(given, "tocoo"):
        matrix = given.tocoo()
        shape, rows, columns = matrix.shape, matrix.row, matrix.col
    elif isinstance(given, tuple):
        pair = cast("tuple[Any, ...]", given)
        if len(pair) != 2 or np.shape(pair[0]) != np.shape(pair[1]) or np.ndim(pair[0]) != 1:
            raise LaunchError(
                f"{_WHO}: a pattern in a tuple is a pair of arrays of the same length, with the "
                "row and the column of each entry."
            )
        rows, columns = pair
    else:
        array = np.asarray(given)
        if array.ndim != 2:
            raise LaunchError(
                f"{_WHO}: a pattern has rows and columns; an array of shape {array.shape} is given."
            )
        shape = array.shape
        rows, columns = np.nonzero(array)
    rows, columns = (np.array(part, np.intp) for part in (rows, columns))

    def made(wanted: tuple[int, int]) -> Pattern:
        inside = shape in (None, wanted) and all(
            len(part) == 0 or (part.min() >= 0 and part.max() < size)
            for part, size in zip((rows, columns), wanted, strict=True)
        )
        if not inside:
            raise LaunchError(f"The Jacobian has the shape {wanted}; the pattern has {shape}.")
        keys, order = np.unique(rows * wanted[1] + columns, return_inverse=True)
        once = keys // wanted[1], keys % wanted[1]
        return Pattern(wanted, *once, _colours(wanted, *once), order.reshape(-1))

    return made


def _colours(
    shape: tuple[int, int], rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """Return a colour for each column such that columns of one colour share no row, greedily."""
    order = np.argsort(columns, kind="stable")
    ends = np.searchsorted(columns[order], np.arange(shape[1] + 1)).tolist()
    by_column: Sequence[int] = rows[order].tolist()
    taken = [0] * shape[0]  # the colours of each row, as bits
    colours = np.zeros(shape[1], np.intp)
    for column in range(shape[1]):
        near = 0
        own = by_column[ends[column] : ends[column + 1]]
        for row in own:
            near |= taken[row]
        free = ~near & (near + 1)  # the lowest bit that is not set
        colours[column] = free.bit_length() - 1
        for row in own:
            taken[row] |= free
    return colours


def _values(derivative: FlatDerivative, pattern: Pattern) -> Array:
    """Return the entries of a Jacobian.

    Raises:
        LaunchError: There is an entry outside the pattern.
    """
    size = pattern.shape[1]
    count = int(pattern.colours.max(initial=-1)) + 1
    # An additional direction, in which all columns differ, finds entries outside the pattern.
    directions = np.zeros((size, count + 1))
    directions[np.arange(size), pattern.colours] = 1.0
    directions[:, count] = np.random.default_rng(0).uniform(0.5, 1.5, size)
    found = derivative.push(directions)
    values = found[pattern.rows, pattern.colours[pattern.columns]]
    _check(pattern, values, directions[:, count], found[:, count])
    return values


def _every_column(
    derivative: FlatDerivative, chunk: int
) -> tuple[Array, Array, Array, tuple[int, int]]:
    """Return the entries of a Jacobian that are not zero, their rows and columns, and its shape."""
    size = derivative.inputs.size
    found: list[tuple[Array, Array, Array]] = []
    for cells in chunks(size, chunk):
        block = derivative.push(np.eye(size, cells.stop - cells.start, -cells.start))
        rows, columns = np.nonzero(block)
        found.append((block[rows, columns], rows, columns + cells.start))
    values, rows, columns = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return values, rows, columns, derivative.shape


def _matrix(
    values: Array, rows: Array, columns: Array, shape: tuple[int, int], format: str, like: Any
) -> Any:
    """Return a matrix of SciPy; a sparse array where the pattern is one."""
    sparse = scipy_module("scipy.sparse", _WHO)
    make = sparse.coo_array if isinstance(like, sparse.sparray) else sparse.coo_matrix
    return make((values, (rows, columns)), shape=shape).asformat(format)


def _check(pattern: Pattern, values: Array, direction: Array, wanted: Array) -> None:
    """Compare the matrix times a direction with the tangent along it.

    Raises:
        LaunchError: They differ, which means that there is an entry outside the pattern.
    """
    size = pattern.shape[0]
    terms = values * direction[pattern.columns]
    found = np.bincount(pattern.rows, terms, size)
    scale = np.bincount(pattern.rows, np.abs(terms), size) + np.abs(wanted)
    precision = float(np.finfo(wanted.dtype).eps) ** 0.5
    wrong = np.flatnonzero(np.abs(found - wanted) > precision * scale)
    if len(wrong):
        raise LaunchError(
            f"Row {wrong[0]} of the Jacobian has a nonzero entry outside the pattern. Add its "
            "column to the pattern."
        )
