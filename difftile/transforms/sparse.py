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
from difftile.transforms.reverse_mode import refuse_nesting
from difftile.transforms.stretch import Stretch


@dataclass(frozen=True, slots=True)
class Pattern:
    """Where a matrix may have entries that are not zero.

    Args:
        shape: Its rows and columns.
        rows: The row of each entry.
        columns: The column of each entry.
    """

    shape: tuple[int, int]
    rows: npt.NDArray[np.intp]
    columns: npt.NDArray[np.intp]


def sparse_jacobian(
    f: Callable[..., Any], pattern: Any, argnum: int = 0, *, chunk: int = CHUNK
) -> Any:
    """Return the function that computes a sparse Jacobian in as many pushes as it has colours.

    A stencil of five points has five to nine colours, on a grid of any size.

    Args:
        f: A function as for `dt.jvp`, of one field or array, that returns one field.
        pattern: Where entries may be that are not zero: a matrix of SciPy, an array of bools, or a
            pair of arrays with rows and columns. Rows and columns count the numbers in result and
            argument, the last axis fastest.
        argnum: The position of the argument.
        chunk: How many colours are worked out in one run of the launches.

    Returns:
        A function of the same arguments. It returns a matrix of SciPy, an array, or an array with
        the value of each pair, as the pattern is given.

    Raises:
        LaunchError: The pattern has another shape, or misses an entry that is not zero.
    """

    @functools.wraps(f)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        refuse_nesting("sparse_jacobian", "jvp or dt.grad")
        stretch = Stretch(f, args, (argnum,), kwargs=kwargs)
        linear = stretch.run()
        outputs = stretch.outputs
        if len(stretch.leaves) != 1 or len(outputs) != 1:
            raise LaunchError("dt.sparse_jacobian is for functions of one field with one result.")
        one, out = stretch.inputs[0], outputs[0]
        before, after = one.to_numpy().shape, out.to_numpy().shape
        given = _pattern(pattern, (int(np.prod(after, dtype=int)), int(np.prod(before, dtype=int))))
        colours = _colours(given)
        count = int(colours.max(initial=-1)) + 1
        # One direction more, in which all columns differ, finds entries that the pattern misses.
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
        return _like(pattern, given, values)

    return jacobian


def _pattern(given: Any, shape: tuple[int, int]) -> Pattern:
    if hasattr(given, "tocoo"):
        matrix = given.tocoo()
        found = Pattern(tuple(matrix.shape), np.asarray(matrix.row), np.asarray(matrix.col))
    elif isinstance(given, tuple):
        rows, columns = (np.asarray(part, np.intp) for part in given)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        found = Pattern(shape, rows, columns)
    else:
        array: npt.NDArray[Any] = np.asarray(given)
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


def _check(
    pattern: Pattern,
    values: npt.NDArray[Any],
    direction: npt.NDArray[Any],
    wanted: npt.NDArray[Any],
) -> None:
    """Compare the matrix times a direction with the tangent along it.

    Raises:
        LaunchError: They differ: there is an entry outside the pattern.
    """
    size = pattern.shape[0]
    terms = values * direction[pattern.columns]
    found = np.bincount(pattern.rows, terms, size)
    scale = np.bincount(pattern.rows, np.abs(terms), size) + np.abs(wanted)
    precision = float(np.finfo(wanted.dtype).eps) ** 0.5
    wrong = np.flatnonzero(np.abs(found - wanted) > precision * scale)
    if len(wrong):
        raise LaunchError(
            f"Row {wrong[0]} of the Jacobian has an entry that is not zero, outside the pattern."
        )


def _like(given: Any, pattern: Pattern, values: npt.NDArray[Any]) -> Any:
    if isinstance(given, tuple):
        return values
    if hasattr(given, "tocoo"):
        coo: Any = given.tocoo()
        return type(coo)((values, (pattern.rows, pattern.columns)), shape=pattern.shape)
    dense = np.zeros(pattern.shape, values.dtype)
    dense[pattern.rows, pattern.columns] = values
    return dense
