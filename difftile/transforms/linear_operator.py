"""Derivatives as operators of SciPy: products with vectors of all numbers of fields."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError, LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field, make_like
from difftile.linearization.flat import Columns, FlatDerivative, FlatFields
from difftile.linearization.together import CHUNK
from difftile.runtime.scipy import scipy_module
from difftile.tracebacks import boundary
from difftile.transforms.stretch import Argnums, Stretch, refuse_nesting
from difftile.transforms.trees import Tree, aligned, shown, with_outputs


@boundary
def linear_operator(
    f: Callable[..., Tree], *args: Tree, argnums: Argnums | None = None, chunk: int = CHUNK
) -> Any:
    """Return the Jacobian of `f` at a point as a `scipy.sparse.linalg.LinearOperator`.

    `f` runs once, now. Products with the operator push tangents through its launches, those with
    the transposed one (`rmatvec`, `op.T`) pull cotangents back, always at the original arguments.
    Of a matrix, many columns go through the launches at once.

    The columns count the numbers of the arguments and the rows the numbers of the result, one after
    the
    other: tuples and lists in order, mappings in the order of their keys, fields of structs member
    by member; in each field or array the last axis fastest, after it the components of a vector or
    matrix. `op.inputs` and `op.outputs` convert: `ravel(tree)` makes a vector, `unravel(vector)`
    something of the form and the kind of the arguments or of the result.

    Args:
        f: A function as for `dt.jvp`.
        *args: Its arguments.
        argnums: The position of the argument that derivatives are taken with respect to, or of
            several; all by default.
        chunk: The number of columns that one run of the launches takes.

    Returns:
        The operator, whose attribute `value` holds the result of `f`. The type of its numbers is
        the widest of all fields', at least single precision.

    Raises:
        ImportError: SciPy is not installed.
        LaunchError: An argument has no derivative, or a tape is open.
    """
    stretch, linear = _run(f, args, argnums, "linear_operator", "linearize or dt.vjp")
    value, outputs = stretch.value, FlatFields(stretch.outputs)
    if not outputs.fields:
        raise LaunchError(f"{stretch.name} returns {value!r}; dt.linear_operator takes fields.")

    def flattened(given: Tree) -> list[Any]:
        return aligned(with_outputs(value, iter(outputs.fields)), given, "the result")

    def nested(fields: Sequence[Field]) -> Tree:
        return shown(with_outputs(value, iter(fields)), stretch.leaves)

    inputs = _inputs(stretch)
    product = FlatDerivative(linear, inputs.flat, outputs, chunk)
    results = Ravel(outputs, flattened, nested, "the result")
    return _operator_class()(
        product.push, product.pull, product.dtype, inputs, results, shown(value, stretch.leaves)
    )


@boundary
def hessian_operator(
    f: Callable[..., Tree], *args: Tree, argnums: Argnums | None = None, chunk: int = CHUNK
) -> Any:
    """Return the Hessian of `f` at a point as a `scipy.sparse.linalg.LinearOperator`.

    Products are computed as in `dt.hvp`, forward over reverse, at the original arguments; see
    `linear_operator` for the order of rows and columns.

    Args:
        f: A function as for `dt.grad`: its result is one number.
        *args: Its arguments.
        argnums: The position of the argument that derivatives are taken with respect to, or of
            several; all by default.
        chunk: The number of columns that one run of the launches and their adjoints takes.

    Returns:
        The operator, which is its own adjoint; `op.value` is the result of `f`, and `op.outputs`
        is `op.inputs`.

    Raises:
        ImportError: SciPy is not installed.
        LaunchError: An argument has no derivative, the result is not one number, or a tape is open.
    """
    stretch, linear = _run(f, args, argnums, "hessian_operator", "hvp")
    inputs = _inputs(stretch)
    product = FlatDerivative(linear, inputs.flat, FlatFields([stretch.number()]), chunk)
    one = np.ones(1)

    def curve(columns: Columns) -> Columns:
        return product.curve(columns, one)

    value = shown(stretch.value, stretch.leaves)
    dtype = inputs.flat.dtype
    return _operator_class()(curve, curve, dtype, inputs, inputs, value)


def _run(
    f: Callable[..., Tree], args: Sequence[Tree], argnums: Argnums | None, name: str, instead: str
) -> tuple[Stretch, Any]:
    """Run a function on copies of its arguments."""
    scipy_module("scipy.sparse.linalg", f"dt.{name}")
    refuse_nesting(name, instead)
    if argnums is None:
        argnums = 0 if len(args) == 1 else range(len(args))
    stretch = Stretch(f, args, argnums, kwargs={})
    return stretch, stretch.run()


def _inputs(stretch: Stretch) -> Ravel:
    def flattened(given: Tree) -> list[Any]:
        return stretch.matched((given,) if stretch.single else given)

    return Ravel(FlatFields(stretch.inputs), flattened, stretch.as_arguments, "the arguments")


class Ravel:
    """The order of nested fields, arrays and numbers in a vector, and the conversion both ways.

    Args:
        flat: Fields like those, in their order.
        flattened: Returns the parts of a tree one after the other.
        nested: Returns the tree that some fields make.
        name: The tree in words.
    """

    def __init__(
        self,
        flat: FlatFields,
        flattened: Callable[[Tree], list[Any]],
        nested: Callable[[Sequence[Field]], Tree],
        name: str,
    ) -> None:
        self.flat = flat
        self._flattened = flattened
        self._nested = nested
        self._name = name

    @property
    def size(self) -> int:
        """The length of the vector."""
        return self.flat.size

    def ravel(self, tree: Tree) -> npt.NDArray[Any]:
        """Return the numbers of fields, arrays or numbers as a vector.

        Raises:
            LaunchError: The tree has another form.
            FieldError: A part has another shape.
        """
        given = [
            one.to_numpy() if isinstance(one, ArrayLike) else np.asarray(one)
            for one in self._flattened(tree)
        ]
        for one, shape in zip(given, self.flat.shapes, strict=True):
            if one.shape != shape:
                raise FieldError(
                    f"A part of {self._name} has the shape {shape}, and {one.shape} is given."
                )
        return np.concatenate([one.astype(self.flat.dtype).ravel() for one in given])

    def unravel(self, vector: npt.ArrayLike) -> Tree:
        """Return a vector as something of the form and the kind of the original.

        Raises:
            LaunchError: The vector has another length, or complex numbers.
        """
        array = np.asarray(vector)
        if array.shape not in ((self.size,), (self.size, 1)) or array.dtype.kind not in "fiub":
            raise LaunchError(
                f"A vector of {self._name} has {self.size} real numbers; given are {array.dtype} "
                f"of shape {array.shape}."
            )
        parts = self.flat.split(array.reshape(-1, 1))
        fields: list[Field] = []
        for like, part in parts.items():
            fields.append(make_like(like))
            fields[-1].from_numpy(part[0])
        return self._nested(fields)


class _Products:
    """The methods of a `LinearOperator` that represents a derivative.

    Args:
        push: Returns the products with the columns of a matrix.
        pull: Returns the products of the transposed operator.
        dtype: The type of the numbers.
        inputs: The order of the columns.
        outputs: The order of the rows.
        value: The result of the function.
    """

    def __init__(
        self,
        push: Callable[[Columns], Columns],
        pull: Callable[[Columns], Columns],
        dtype: np.dtype[Any],
        inputs: Ravel,
        outputs: Ravel,
        value: Tree,
    ) -> None:
        super().__init__(dtype, (outputs.size, inputs.size))  # pyrefly: ignore[bad-argument-count] - of SciPy's class
        self._push = push
        self._pull = pull
        self.inputs = inputs
        self.outputs = outputs
        self.value = value

    def _matmat(self, columns: Columns) -> Columns:
        return _real(self._push, columns)

    def _rmatmat(self, columns: Columns) -> Columns:
        return _real(self._pull, columns)

    def _matvec(self, vector: Columns) -> Columns:
        return self._matmat(np.asarray(vector).reshape(-1, 1))

    def _rmatvec(self, vector: Columns) -> Columns:
        return self._rmatmat(np.asarray(vector).reshape(-1, 1))

    def _adjoint(self) -> Any:
        return self if self._pull is self._push else super()._adjoint()  # pyrefly: ignore[missing-attribute]

    _transpose = _adjoint  # it is real


def _real(product: Callable[[Columns], Columns], columns: Columns) -> Columns:
    """Return products with columns that may be complex, by a real operator.

    Raises:
        LaunchError: A tape is open, which would take the products for constants.
    """
    refuse_nesting("linear_operator", "linearize or dt.vjp")
    array = np.asarray(columns)
    if array.dtype.kind == "c":
        both = product(np.concatenate([np.real(array), np.imag(array)], axis=1))
        real, imaginary = np.split(both, 2, axis=1)
        return real + 1j * imaginary
    return product(array)


@functools.cache
def _operator_class() -> Any:
    """Return the class of the operators, which needs SciPy."""
    base = scipy_module("scipy.sparse.linalg", "dt.linear_operator").LinearOperator
    return type("DerivativeOperator", (_Products, base), {"__doc__": "A derivative at a point."})
