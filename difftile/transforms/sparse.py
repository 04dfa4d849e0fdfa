"""Sparse Jacobians: columns that share no row are pushed together.

Source: Curtis, Powell and Reid, On the Estimation of Sparse Jacobian Matrices, 1974.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import LaunchError
from difftile.transforms.jacobians import CHUNK, pushed
from difftile.transforms.stretch import Stretch, refuse_nesting
from difftile.transforms.trees import Array, Tree


@dataclass(frozen=True, slots=True)
class Pattern:
    """The places of a matrix whose entries may be nonzero.

    Args:
        shape: The numbers of rows and columns.
        rows: The row of each entry.
        columns: The column of each entry.
    """

    shape: tuple[int, int]
    rows: npt.NDArray[np.intp]
    columns: npt.NDArray[np.intp]


def sparse_jacobian(
    f: Callable[..., Tree], pattern: Any, argnum: int = 0, *, chunk: int = CHUNK
) -> Any:
    """Return the function that computes a sparse Jacobian in as many pushes as it has colours.

    A stencil of five points has five to nine colours, on a grid of any size.

    Args:
        f: A function as for `dt.jvp`, of one field or array, that returns one field.
        pattern: The places of entries that may be nonzero: a matrix of SciPy, an array of bools, or
            a pair of arrays with rows and columns. Rows and columns count the numbers in result and
            argument, the last axis fastest.
        argnum: The position of the argument.
        chunk: The number of colours that one run of the launches computes.

    Returns:
        A function of the same arguments that returns a matrix of SciPy, an array, or an array with
        the value of each pair, in the form of the pattern.

    Raises:
        LaunchError: The pattern has another shape, or misses a nonzero entry.
    """

    @functools.wraps(f)
    def jacobian(*args: Tree, **kwargs: Any) -> Any:
        refuse_nesting("sparse_jacobian", "jvp or dt.grad")
        stretch = Stretch(f, args, (argnum,), kwargs=kwargs)
        linear = stretch.run()
        outputs = stretch.outputs
        if len(stretch.leaves) != 1 or len(outputs) != 1:
            raise LaunchError(
                "dt.sparse_jacobian is for functions of one field with one result. Use dt.jacfwd."
            )
        one, out = stretch.inputs[0], outputs[0]
        before, after = one.to_numpy().shape, out.to_numpy().shape
        given = _pattern(pattern, (int(np.prod(after, dtype=int)), int(np.prod(before, dtype=int))))
        colours = _colours(given)
        count = int(colours.max(initial=-1)) + 1
        # An additional direction, in which all columns differ, finds entries outside the pattern.
        directions = np.zeros((count + 1, given.shape[1]))
        directions[colours, np.arange(given.shape[1])] = 1.0
        directions[count] = np.random.default_rng(0).uniform(0.5, 1.5, given.shape[1])
        parts = [
            pushed(linear, one, directions[k : k + chunk].reshape(-1, *before), outputs)[out]
            for k in range(0, count + 1, chunk)
        ]
        linear.release()
        found = np.concatenate(parts).reshape(count + 1, -1)
        values = found[colours[given.columns], given.rows]
        _check(given, values, directions[count], found[count])
        if isinstance(pattern, tuple):
            return values
        if hasattr(pattern, "tocoo"):
            coo: Any = pattern.tocoo()
            return type(coo)((values, (given.rows, given.columns)), shape=given.shape)
        dense = np.zeros(given.shape, values.dtype)
        dense[given.rows, given.columns] = values
        return dense

    return jacobian


def _pattern(given: Any, shape: tuple[int, int]) -> Pattern:
    if hasattr(given, "tocoo"):
        matrix = given.tocoo()
        found = Pattern(tuple(matrix.shape), np.asarray(matrix.row), np.asarray(matrix.col))
    elif isinstance(given, tuple):
        rows, columns = (np.asarray(part, np.intp) for part in given)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        found = Pattern(shape, rows, columns)
    else:
        array: Array = np.asarray(given)
        rows, columns = np.nonzero(array)
        found = Pattern(array.shape, rows, columns)  # pyright: ignore[reportArgumentType]
    inside = found.shape == shape and all(
        len(part) == 0 or (part.min() >= 0 and part.max() < size)
        for part, size in zip((found.rows, found.columns), shape, strict=True)
    )
    if not inside:
        raise LaunchError(f"The Jacobian has the shape {shape}; the pattern has {found.shape}.")
    return found


def _colours(pattern: Pattern) -> npt.NDArray[np.intp]:
    """Return a colour for each column such that columns of one colour share no row, greedily."""
    columns: list[list[int]] = [[] for _ in range(pattern.shape[1])]
    for row, column in zip(pattern.rows, pattern.columns, strict=True):
        columns[int(column)].append(int(row))
    taken: list[set[int]] = [set() for _ in range(pattern.shape[0])]
    colours = np.zeros(pattern.shape[1], np.intp)
    for column, rows in enumerate(columns):
        near = {colour for row in rows for colour in taken[row]}
        colour = next(k for k in range(len(near) + 1) if k not in near)
        colours[column] = colour
        for row in rows:
            taken[row].add(colour)
    return colours


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
