"""A function over fields as an operation on arrays: its names, and the types of its elements."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from difftile.compile.func import Func
from difftile.diagnostics import LaunchError, brief, did_you_mean
from difftile.fields.exchange import as_shape
from difftile.fields.field import Field
from difftile.ir.types import Type, numpy_dtype, scalar_from_numpy, scalar_of, shape_of, shaped
from difftile.lang.type_objects import has_own_scalar, value_type
from difftile.runtime.kernel import Kernel

Shape: TypeAlias = tuple[int, ...]
Values: TypeAlias = tuple[Any, ...]
Names: TypeAlias = Sequence[str] | Mapping[str, Any]
"""Names, or for each of them the type of an element: a type, the sizes of its axes, or None."""


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """The layout of a contiguous array, without its memory.

    Args:
        shape: All axes; the axes of an element are last.
        dtype: The type of a number.
        device: The ordinal of a CUDA device; None in memory of the host.
    """

    shape: Shape
    dtype: np.dtype[Any]
    device: int | None = None


@dataclass(frozen=True, slots=True)
class ElementType:
    """The type of one element of an array.

    Args:
        axes: The sizes of its axes: () for a number.
        dtype: The type of its numbers; None for the array's.
    """

    axes: Shape = ()
    dtype: np.dtype[Any] | None = None

    def of(self, layout: ArrayLayout, title: str) -> tuple[Type, Shape]:
        """Return the type of an element of an array, and the shape of its field.

        Raises:
            LaunchError: The array does not fit; the message begins with the title.
        """
        scalar = scalar_from_numpy(layout.dtype)
        if scalar is None:
            raise LaunchError(f"{title} has elements of {layout.dtype}, which fields do not have.")
        if self.dtype is not None and self.dtype != layout.dtype:
            raise LaunchError(
                f"{title} has elements of {layout.dtype}, and {self.dtype} is declared; convert it."
            )
        at = len(layout.shape) - len(self.axes)
        if at < 0 or layout.shape[at:] != self.axes:
            raise LaunchError(
                f"{title} has the shape {layout.shape}; the last axes are those of an element and "
                f"have the sizes {self.axes}."
            )
        if 0 in layout.shape:
            raise LaunchError(
                f"{title} has the shape {layout.shape} and so no elements; operations take one or "
                "more."
            )
        return shaped(self.axes, scalar), layout.shape[:at]


@dataclass(frozen=True, slots=True)
class Output:
    """An output.

    Args:
        name: The parameter; for a field that the function returns, its number.
        start: The position of the array whose contents it starts with; None for zeros.
        like: The position of an array of its layout, if that is how the shape is given.
        shape: The shape, or a function of the shapes of the arrays by name.
    """

    name: str
    start: int | None
    like: int | None = None
    shape: Shape | Callable[..., Any] | None = None


class Operation:
    """A function over fields that arrays of others are passed to.

    Args:
        function: A kernel, a func, or a Python function that launches kernels.
        inputs: The parameters that are arrays. A mapping gives the type of their elements: a type
            such as `ti.math.vec3`, the sizes of the last axes, `(3,)`, or None for numbers.
        params: More of them, which stand for parameters.
        outputs: The parameters whose contents after the function are its results; by default the
            fields that the function returns. Outputs that are not arrays of the caller begin as
            zeros: a mapping gives the array whose layout they have, or their shape.
        mutates: The parameters whose arrays are overwritten; then there are no derivatives.

    Attributes:
        name: The name of the function.
        names: The parameters that are arrays, in the order of the function's.
        taken: The parameters that a caller passes.
        constants: The passed parameters that are not arrays.
        elements: The types of the elements of the arrays.
        results: The outputs; None for fields that the function returns.
        pure: The outputs that are not arrays of the caller.

    Raises:
        LaunchError: Names or shapes do not fit the function.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Names = (),
        params: Names = (),
        outputs: Names | None = None,
        mutates: Names = (),
    ) -> None:
        if not callable(function):
            raise LaunchError(f"An operation is a function over fields, not {brief(function)}.")
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        self.parameters = self._parameters_of(function)
        arrays = dict(_as_mapping(inputs))
        for name, element in _as_mapping(params).items():
            if name in arrays:
                raise LaunchError(
                    f"{self.name}: '{name}' is an input and a parameter; name it in one of them."
                )
            arrays[name] = element
        self.mutates = tuple(_as_mapping(mutates))
        for name in self.mutates:
            arrays.setdefault(name, _as_mapping(mutates)[name])
        for name in arrays:
            self._check_name(name)
        if not arrays:
            raise LaunchError(f"{self.name}: no parameter is an array; name some: inputs=('x',).")
        self.names = tuple([name for name in self.parameters if name in arrays])
        self.elements = [_element(self.name, name, arrays[name]) for name in self.names]
        self.results = None if outputs is None else self._declared(_as_mapping(outputs))
        self._check_outputs()
        self.pure = tuple([one for one in self.results or () if one.start is None])
        own = {one.name for one in self.pure}
        self.taken = [name for name in self.parameters if name not in own]
        self._signature = inspect.Signature([self.parameters[name] for name in self.taken])
        self.constants = tuple([name for name in self.taken if name not in arrays])
        self._arrays_at = [self.taken.index(name) for name in self.names]
        self._constants_at = [self.taken.index(name) for name in self.constants]

    def _parameters_of(self, function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
        plain = function.function if isinstance(function, (Kernel, Func)) else function
        try:
            found = inspect.signature(plain).parameters
        except (TypeError, ValueError):
            raise LaunchError(
                f"{self.name}: its parameters cannot be found; call it in a 'def' with named ones."
            ) from None
        for one in found.values():
            if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
                raise LaunchError(
                    f"{self.name}: '{one}' has no name by which an array can be passed; call it in "
                    "a 'def' with named parameters."
                )
        return dict(found)

    def _check_name(self, name: str) -> None:
        if name not in self.parameters:
            guess = did_you_mean(name, self.parameters) or f"it has {', '.join(self.parameters)}."
            raise LaunchError(f"{self.name} has no parameter '{name}'; {guess}")

    def _declared(self, outputs: Mapping[str, Any]) -> tuple[Output, ...]:
        if not outputs:
            raise LaunchError(f"{self.name}: outputs=() leaves no result; name a parameter.")
        return tuple([self._output(name, like) for name, like in outputs.items()])

    def _output(self, name: str, like: Any) -> Output:
        self._check_name(name)
        if name in self.names:
            if like is not None and like is not ... and like != name:
                raise LaunchError(
                    f"{self.name}: '{name}' is an input, which gives its output the shape; "
                    f"leave {like!r} out."
                )
            start = self.names.index(name)
            return Output(name, start, start)
        if isinstance(like, str):
            if like not in self.names:
                raise LaunchError(f"{self.name}: '{name}' is like '{like}', which is no input.")
            return Output(name, None, self.names.index(like))
        if callable(like):
            return Output(name, None, None, like)
        if isinstance(like, (tuple, list)):
            return Output(name, None, None, as_shape(cast("Sequence[int]", like)))
        raise LaunchError(
            f"{self.name}: the output '{name}' is no input, so its shape is not known; write "
            f"outputs={{'{name}': '{self.names[0]}'}} for that of an input, or a shape."
        )

    def _check_outputs(self) -> None:
        if self.mutates and self.results is not None:
            raise LaunchError(
                f"{self.name}: an operation that overwrites arrays, mutates={self.mutates}, "
                "returns nothing; leave outputs= out."
            )
        if self.results is None and not self.mutates and isinstance(self.function, Kernel):
            raise LaunchError(
                f"{self.name} is a kernel: name what it writes, outputs=('{self.names[0]}',)."
            )

    def bind(self, args: Values, kwargs: Mapping[str, Any]) -> tuple[Values, Values]:
        """Return the arrays of a call, as in `names`, and the others, as in `constants`.

        Raises:
            LaunchError: The arguments do not fit.
        """
        if kwargs or len(args) != len(self.taken):
            try:
                bound = self._signature.bind(*args, **kwargs)
            except TypeError as error:
                raise LaunchError(f"{self.name}({', '.join(self.taken)}): {error}.") from None
            bound.apply_defaults()
            args = tuple(bound.arguments.values())
        if not self.constants:
            return args, ()
        return (
            tuple([args[k] for k in self._arrays_at]),
            tuple([args[k] for k in self._constants_at]),
        )

    def call(self, fields: Mapping[str, Field], constants: Sequence[Any]) -> Any:
        """Call the function.

        Args:
            fields: A field for each array and each output.
            constants: The other arguments.
        """
        named = {**fields, **dict(zip(self.constants, constants, strict=True))}
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, one in self.parameters.items():
            if one.kind is one.KEYWORD_ONLY:
                kwargs[name] = named[name]
            else:
                args.append(named[name])
        return self.function(*args, **kwargs)

    def title(self, k: int) -> str:
        """Return an array in the words of an error."""
        return f"{self.name}: '{self.names[k]}'"

    def layout_of(self, output: Output, layouts: Sequence[ArrayLayout]) -> ArrayLayout:
        """Return the layout of an output that is not an array of the caller."""
        if output.like is not None:
            return layouts[output.like]
        shape = output.shape
        if callable(shape):
            shapes = [one.shape for one in layouts]
            shape = as_shape(shape(**dict(zip(self.names, shapes, strict=True))))
        assert shape is not None
        first = next((one for one in layouts if one.dtype.kind == "f"), layouts[0])
        return ArrayLayout(shape, first.dtype, first.device)

    def kind_of(self, output: Output, layout: ArrayLayout) -> tuple[Type, Shape]:
        """Return the type of an element of such an output, and the shape of its field."""
        element = ElementType() if output.like is None else self.elements[output.like]
        return element.of(layout, f"{self.name}: the output '{output.name}'")


def _as_mapping(names: Names) -> Mapping[str, Any]:
    if isinstance(names, str):
        return {names: None}
    if isinstance(names, Mapping):
        return names
    return dict.fromkeys(names)


def _element(operation: str, name: str, declared: Any) -> ElementType:
    """Return the declared type of an element of an array."""
    if declared is None or declared is ...:
        return ElementType()
    if isinstance(declared, (tuple, list)):
        axes = tuple(cast("Sequence[int]", declared))
        if len(axes) <= 2 and all(isinstance(n, int) and n > 0 for n in axes):
            return ElementType(axes)
    elif (type_ := value_type(declared)) is not None:
        dtype = numpy_dtype(scalar_of(type_)) if has_own_scalar(declared) else None
        return ElementType(shape_of(type_), dtype)
    raise LaunchError(
        f"{operation}: the elements of '{name}' are declared as {declared!r}; a type such as "
        "ti.math.vec3, or up to two sizes, says what an element is."
    )
