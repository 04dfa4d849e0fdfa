"""Whole derivatives: `jacfwd`, `jacrev`, `hessian`, as arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.fields.field import Field
from difftile.linearization.batched import pull_many, push_many
from difftile.linearization.forward_over_reverse import push_pull
from difftile.linearization.pullback import Pullback
from difftile.passes.batch import Unbatchable
from difftile.transforms.reverse_mode import Argnums, places, refuse_nesting
from difftile.transforms.stretch import Stretch
from difftile.transforms.trees import rebuilt, units

Blocks = list[list[npt.NDArray[Any]]]
CHUNK = 64  # directions that one launch takes


def jacfwd(f: Callable[..., Any], argnums: Argnums = 0, *, chunk: int = CHUNK) -> Any:
    """Return the function that computes the Jacobian of `f` by forward mode, column by column.

    It suits functions with fewer inputs than outputs.

    Args:
        f: A function as for `dt.jvp`.
        argnums: The position of the argument, or of several.
        chunk: How many columns are worked out in one run of the launches; their tangents take as
            many times the memory.

    Returns:
        A function of the same arguments. It returns an array of the shape of the result and, behind
        it, that of the argument; nested results, nested arguments and several `argnums` give such
        arrays in the same nesting, that of the results outside.

    Raises:
        LaunchError: An argument has no derivative.
    """

    def blocks(stretch: Stretch) -> Blocks:
        linear = stretch.run()
        outputs = stretch.outputs
        rows = [[_block(out, one) for one in stretch.inputs] for out in outputs]
        for column, one in enumerate(stretch.inputs):
            for cells, directions in _chunks(one, chunk):
                found = pushed(linear, one, directions, outputs)
                for row, out in enumerate(outputs):
                    rows[row][column][:, cells] = found[out].reshape(len(directions), -1).T
        linear.release()
        return rows

    return _jacobian(f, argnums, blocks, "jacfwd")


def jacrev(f: Callable[..., Any], argnums: Argnums = 0, *, chunk: int = CHUNK) -> Any:
    """Return the function that computes the Jacobian of `f` by reverse mode, row by row.

    It suits functions with fewer outputs than inputs; see `jacfwd` for what it returns.

    Args:
        f: A function as for `dt.vjp`.
        argnums: The position of the argument, or of several.
        chunk: How many rows are worked out in one run of the adjoints; their gradients take as
            many times the memory.

    Raises:
        LaunchError: An argument has no derivative.
    """

    def blocks(stretch: Stretch) -> Blocks:
        linear = stretch.run()
        outputs = stretch.outputs
        rows = [[_block(out, one) for one in stretch.inputs] for out in outputs]
        for row, out in enumerate(outputs):
            for cells, seeds in _chunks(out, chunk):
                found = _pulled(linear, out, seeds, stretch.inputs)
                for column, one in enumerate(stretch.inputs):
                    rows[row][column][cells] = found[one].reshape(len(seeds), -1)
        linear.release()
        return rows

    return _jacobian(f, argnums, blocks, "jacrev")


def hessian(f: Callable[..., Any], argnums: Argnums = 0) -> Any:
    """Return the function that computes the Hessian of `f`, forward over reverse.

    Args:
        f: A function as for `dt.grad`: its result is one number.
        argnums: The position of the argument, or of several.

    Returns:
        A function of the same arguments. It returns an array of the shape of the argument, twice;
        nested arguments give such arrays nested twice.

    Raises:
        LaunchError: An argument has no derivative.
    """
    numbers = places(argnums)

    @functools.wraps(f)
    def second(*args: Any, **kwargs: Any) -> Any:
        refuse_nesting("hessian", "jvp of dt.grad")
        stretch = Stretch(f, args, numbers, kwargs=kwargs)
        linear = stretch.run()
        output = stretch.number()
        rows = [[_block(out, one) for one in stretch.inputs] for out in stretch.inputs]
        for column, one in enumerate(stretch.inputs):
            for cell, unit in units(one):
                _, found = push_pull(linear, {one: unit}, {output: 1.0}, {}, stretch.inputs)
                for row, out in enumerate(stretch.inputs):
                    rows[row][column][..., cell] = found[out].to_numpy().reshape(-1)
        linear.release()
        shaped = _shaped(rows, stretch.inputs, stretch.inputs)
        outer = iter([_nested(stretch, iter(row), argnums, numbers) for row in shaped])
        return _nested(stretch, outer, argnums, numbers)

    return second


def _jacobian(
    f: Callable[..., Any], argnums: Argnums, blocks: Callable[[Stretch], Blocks], name: str
) -> Any:
    numbers = places(argnums)

    @functools.wraps(f)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        refuse_nesting(name, "jvp or dt.grad")
        stretch = Stretch(f, args, numbers, kwargs=kwargs)
        found = blocks(stretch)
        shaped = _shaped(found, stretch.outputs, stretch.inputs)
        rows = iter([_nested(stretch, iter(row), argnums, numbers) for row in shaped])
        return rebuilt(stretch.value, rows)

    return jacobian


def _chunks(one: Field, chunk: int) -> Iterator[tuple[slice, npt.NDArray[Any]]]:
    """Yield unit directions of a field, several at a time, and their places."""
    shape = one.to_numpy().shape
    size = int(np.prod(shape, dtype=int))
    for first in range(0, size, chunk):
        cells = slice(first, min(first + chunk, size))
        directions = np.zeros((cells.stop - first, size))
        directions[np.arange(len(directions)), np.arange(first, cells.stop)] = 1.0
        yield cells, directions.reshape(-1, *shape)


def _pulled(
    linear: Pullback, out: Field, seeds: npt.NDArray[Any], inputs: list[Field]
) -> dict[Field, npt.NDArray[Any]]:
    """Pull cotangents back together, or one after the other where that cannot be."""
    try:
        return pull_many(linear, out, seeds, inputs)
    except Unbatchable:
        pass
    rows: dict[Field, list[npt.NDArray[Any]]] = {one: [] for one in inputs}
    for seed in seeds:
        found = linear.pull({out: seed}, inputs)
        for one in inputs:
            rows[one].append(found[one].to_numpy().copy())
    return {one: np.stack(values) for one, values in rows.items()}


def pushed(
    linear: Pullback, one: Field, tangents: npt.NDArray[Any], outputs: list[Field]
) -> dict[Field, npt.NDArray[Any]]:
    """Push tangents together, or one after the other where that cannot be."""
    try:
        return push_many(linear, one, tangents, outputs)
    except Unbatchable:
        pass
    each = [linear.push({one: tangent}, outputs) for tangent in tangents]
    return {out: np.stack([found[out] for found in each]) for out in outputs}


def _nested(
    stretch: Stretch, values: Iterator[Any], argnums: Argnums, numbers: tuple[int, ...]
) -> Any:
    """Return values in the nesting of the arguments."""
    trees = tuple(rebuilt(stretch.trees[k], values) for k in numbers)
    return trees[0] if isinstance(argnums, int) else trees


def _block(out: Field, one: Field) -> npt.NDArray[Any]:
    return np.zeros((out.to_numpy().size, one.to_numpy().size))


def _shaped(rows: Blocks, outputs: list[Field], inputs: list[Field]) -> Blocks:
    outer = [out.to_numpy().shape for out in outputs]
    inner = [one.to_numpy().shape for one in inputs]
    return [
        [block.reshape((*shape, *behind)) for block, behind in zip(row, inner, strict=True)]
        for row, shape in zip(rows, outer, strict=True)
    ]
