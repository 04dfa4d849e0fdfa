"""Whole derivatives as arrays: `jacfwd`, `jacrev`, `hessian`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from difftile.fields.array_kinds import kind_among
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.recording import RECORDING
from difftile.linearization.derivatives import directions_within
from difftile.linearization.pullback import Pullback
from difftile.linearization.together import CHUNK, MEMORY, chunks, curved, pulled, pushed
from difftile.recording.perform import perform
from difftile.tracebacks import boundary
from difftile.transforms.nested import NestedCall
from difftile.transforms.nested_steps import JacobianStep
from difftile.transforms.reverse_mode import grad
from difftile.transforms.stretch import Argnums, Stretch
from difftile.transforms.trees import Array, Tree, with_outputs


@boundary
def jacfwd(f: Callable[..., Tree], argnums: Argnums = 0, *, chunk: int = CHUNK) -> Any:
    """Return the function that computes the Jacobian of `f` by forward mode, column by column.

    Forward mode suits functions with fewer inputs than outputs.

    Args:
        f: A function as for `dt.jvp`.
        argnums: The position of the argument, or of several.
        chunk: The number of columns that one run of the launches computes; their tangents take as
            many times the memory.

    Returns:
        A function of the same arguments that returns an array whose axes are first the axes of the
        result, then of the argument; nested results, nested arguments and several `argnums` give
        such arrays in the same nesting, with the results outside.

    Raises:
        LaunchError: An argument has no derivative.
    """

    def fill(linear: Pullback, blocks: _Blocks) -> None:
        for column, one in enumerate(blocks.inputs):
            for cells, directions in _chunks(one, chunk):
                found = pushed(linear, {one: directions}, blocks.outputs)
                for row, out in enumerate(blocks.outputs):
                    blocks[row, column][:, cells] = found[out].reshape(len(directions), -1).T

    return _jacobian(f, argnums, fill, "jacfwd")


@boundary
def jacrev(f: Callable[..., Tree], argnums: Argnums = 0, *, chunk: int = CHUNK) -> Any:
    """Return the function that computes the Jacobian of `f` by reverse mode, row by row.

    Reverse mode suits functions with fewer outputs than inputs; see `jacfwd` for the form of the
    result.

    Args:
        f: A function as for `dt.vjp`.
        argnums: The position of the argument, or of several.
        chunk: The number of rows that one run of the adjoints computes; their gradients take as
            many times the memory.

    Raises:
        LaunchError: An argument has no derivative.
    """

    def fill(linear: Pullback, blocks: _Blocks) -> None:
        for row, out in enumerate(blocks.outputs):
            for cells, seeds in _chunks(out, chunk):
                found = pulled(linear, {out: seeds}, blocks.inputs)
                for column, one in enumerate(blocks.inputs):
                    blocks[row, column][cells] = found[one].reshape(len(seeds), -1)

    return _jacobian(f, argnums, fill, "jacrev")


@boundary
def hessian(f: Callable[..., Tree], argnums: Argnums = 0, *, chunk: int | None = None) -> Any:
    """Return the function that computes the Hessian of `f`, forward over reverse.

    Args:
        f: A function as for `dt.grad`: its result is one number.
        argnums: The position of the argument, or of several.
        chunk: The number of columns that one run of the launches and their adjoints computes; their
            tangents take as many times the memory of a gradient. By default 64, or as many as half
            a gigabyte holds.

    Returns:
        A function of the same arguments that returns an array of the shape of the argument, twice;
        nested arguments give such arrays nested twice.

    Raises:
        LaunchError: An argument has no derivative.
    """

    @functools.wraps(f)
    @boundary
    def second(*args: Tree, **kwargs: Any) -> Tree:
        if RECORDING.get().recorder is not None:
            return jacfwd(grad(f, argnums), argnums)(*args, **kwargs)
        stretch = Stretch(f, args, argnums, kwargs=kwargs)
        linear = stretch.run()
        seed: dict[ArrayLike, Any] = {stretch.number(): 1.0}
        blocks = _Blocks(stretch.inputs, stretch.inputs)
        width = (
            min(CHUNK, directions_within(MEMORY, linear, stretch.inputs))
            if chunk is None
            else chunk
        )
        for column, one in enumerate(stretch.inputs):
            for cells, directions in _chunks(one, width):
                found = curved(linear, {one: directions}, seed, stretch.inputs)
                for row, out in enumerate(stretch.inputs):
                    blocks[row, column][:, cells] = found[out].reshape(len(directions), -1).T
        linear.release()
        return stretch.nested(stretch.nested(row) for row in _of_kind(stretch, blocks.rows()))

    return second


class _Blocks:
    """The blocks of a Jacobian, a matrix for each pair of an output and an input."""

    def __init__(self, outputs: list[Field], inputs: list[Field]) -> None:
        self.outputs, self.inputs = outputs, inputs
        self._shapes = [[one.to_numpy().shape for one in some] for some in (outputs, inputs)]
        sizes = [[int(np.prod(shape, dtype=int)) for shape in some] for some in self._shapes]
        self._blocks = [[np.zeros((m, n)) for n in sizes[1]] for m in sizes[0]]

    def __getitem__(self, place: tuple[int, int]) -> Array:
        return self._blocks[place[0]][place[1]]

    def rows(self) -> Iterator[list[Array]]:
        """Yield, for each output, its blocks in the shapes of the output and of each input."""
        for blocks, outer in zip(self._blocks, self._shapes[0], strict=True):
            pairs = zip(blocks, self._shapes[1], strict=True)
            yield [block.reshape((*outer, *inner)) for block, inner in pairs]


def _of_kind(stretch: Stretch, rows: Iterable[list[Array]]) -> list[list[Any]]:
    """Return blocks as arrays of the library whose arrays the arguments are; else of NumPy."""
    make = kind_among(leaf.given for leaf in stretch.leaves)
    return [row if make is None else [*map(make, row)] for row in rows]


def _jacobian(
    f: Callable[..., Tree],
    argnums: Argnums,
    fill: Callable[[Pullback, _Blocks], None],
    name: str,
) -> Any:
    @functools.wraps(f)
    @boundary
    def jacobian(*args: Tree, **kwargs: Any) -> Tree:
        stretch = Stretch(f, args, argnums, kwargs=kwargs)

        def filled(linear: Pullback) -> list[list[Array]]:
            blocks = _Blocks(stretch.outputs, stretch.inputs)
            fill(linear, blocks)
            return list(blocks.rows())

        if RECORDING.get().recorder is None:
            linear = stretch.run()
            rows: list[list[Any]] = _of_kind(stretch, filled(linear))
            linear.release()
            value = stretch.value
        else:
            call = NestedCall(stretch)
            step = JacobianStep(name, call, filled)
            perform(step)
            rows, value = step.rows, call.value()
        return with_outputs(value, (stretch.nested(row) for row in rows))

    return jacobian


def _chunks(one: Field, chunk: int) -> Iterator[tuple[slice, Array]]:
    """Yield unit directions of a field, several at a time, and their places."""
    shape = one.to_numpy().shape
    size = int(np.prod(shape, dtype=int))
    for cells in chunks(size, chunk):
        directions = np.zeros((cells.stop - cells.start, size))
        directions[np.arange(len(directions)), np.arange(cells.start, cells.stop)] = 1.0
        yield cells, directions.reshape(-1, *shape)
