"""Whole derivatives: `jacfwd`, `jacrev`, `hessian`, as arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.fields.field import Field
from difftile.tape.second import push_pull
from difftile.transforms.gradients import Argnums, places, refuse_nesting
from difftile.transforms.stretch import Stretch
from difftile.transforms.trees import rebuilt, units

Blocks = list[list[npt.NDArray[Any]]]


def jacfwd(f: Callable[..., Any], argnums: Argnums = 0) -> Any:
    """Return the function that computes the Jacobian of `f` by forward mode, column by column.

    It suits functions with fewer inputs than outputs. Its cost is one run with tangents for each
    number in the arguments.

    Args:
        f: A function as for `dt.jvp`.
        argnums: The position of the argument, or of several.

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
            for cell, unit in units(one):
                found = linear.push({one: unit}, outputs)
                for row, out in enumerate(outputs):
                    rows[row][column][..., cell] = found[out].reshape(-1)
        linear.release()
        return rows

    return _jacobian(f, argnums, blocks, "jacfwd")


def jacrev(f: Callable[..., Any], argnums: Argnums = 0) -> Any:
    """Return the function that computes the Jacobian of `f` by reverse mode, row by row.

    It suits functions with fewer outputs than inputs; see `jacfwd` for what it returns.

    Args:
        f: A function as for `dt.vjp`.
        argnums: The position of the argument, or of several.

    Raises:
        LaunchError: An argument has no derivative.
    """

    def blocks(stretch: Stretch) -> Blocks:
        linear = stretch.run()
        outputs = stretch.outputs
        rows = [[_block(out, one) for one in stretch.inputs] for out in outputs]
        for row, out in enumerate(outputs):
            for cell, unit in units(out):
                found = linear.pull({out: unit}, stretch.inputs)
                for column, one in enumerate(stretch.inputs):
                    rows[row][column][cell] = found[one].to_numpy().reshape(-1)
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
        outer = iter([_row(stretch, row, argnums, numbers) for row in shaped])
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
        rows = iter([_row(stretch, row, argnums, numbers) for row in shaped])
        return rebuilt(stretch.value, rows)

    return jacobian


def _row(
    stretch: Stretch, row: list[npt.NDArray[Any]], argnums: Argnums, numbers: tuple[int, ...]
) -> Any:
    return _nested(stretch, iter(row), argnums, numbers)


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
