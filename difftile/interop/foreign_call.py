"""One call of a function of another library's arrays, on fields, as a step of a tape.

The function runs once before the step, since the fields that take its result follow from that.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from difftile.diagnostics import Label, LaunchError, Span, place, render
from difftile.fields.array_like import ArrayLike
from difftile.fields.create import element_type
from difftile.fields.elements import check_is_field
from difftile.fields.field import Field, make
from difftile.fields.gradients import fields_with_grads
from difftile.fields.recording import RECORDING
from difftile.ir.types import (
    Scalar,
    Type,
    is_float,
    scalar_from_numpy,
    shape_of,
    with_scalar,
)
from difftile.lang.type_objects import has_own_scalar
from difftile.recording.access_observer import RefusingObserver, observed_by
from difftile.recording.opaque import OpaqueStep
from difftile.recording.perform import perform
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.uses import Keeps, Use
from difftile.recording.watching import closed, watched
from difftile.runtime.operands import FieldOperand, stand_in, uses_of
from difftile.runtime.source_location import caller, span_of
from difftile.transforms.trees import aligned, mapped


class ForeignRun(Protocol):
    """A run of the function, with its results."""

    @property
    def outputs(self) -> Sequence[Any]:
        """The arrays of the result, in the number types of their fields."""
        ...


R = TypeVar("R", bound=ForeignRun)


class ForeignCall(OpaqueStep, Generic[R]):
    """A call of a function of another library's arrays.

    Args:
        name: The function.
        arguments: The arguments by name, with fields in place of arrays.
        out: The fields that take the result, in its structure; None for new ones.
        dtype: The element types of new ones: None, one for all, or in the structure of the result.
        differentiates: Whether derivatives may be asked for.

    Attributes:
        inputs: The fields among the arguments.
        outputs: The fields of the result.
        result: The result of the function with fields in place of arrays.
    """

    kind: ClassVar[str]
    """What the function is, for errors: 'module'."""
    array: ClassVar[str]
    """What its arrays are called: 'tensor'."""

    def __init__(
        self, name: str, arguments: Mapping[str, Any], out: Any, dtype: Any, *, differentiates: bool
    ) -> None:
        self.title = f"{self.kind} '{name}'"
        self.arguments = arguments
        self.inputs = [
            FieldOperand(where, value, "In")
            for where, value in self.leaves_of(arguments)
            if isinstance(value, ArrayLike)
        ]
        self.outputs: list[FieldOperand] = []
        self.result: Any = None
        self._given, self._dtype = out, dtype
        self._is_nested = isinstance(dtype, (tuple, list, Mapping))
        self._differentiates = differentiates
        self._elements: list[Type] = []
        self._where = caller()
        uses = uses_of(self.title, self.inputs)
        with watched(self.title, tuple(uses)) as writes:
            with closed(keeping={use.field.storage for use in uses}), self.refusing(uses):
                first, result = self.evaluated()
            writes.uses()
        self._first: R | None = first
        self._make_fields(result, first)
        self._is_recorded = RECORDING.get().recorder is not None
        super().__init__(name, self._uses() if self._is_recorded else (), kind=self.kind)

    def perform(self) -> Any:
        """Run the call, as a step of the open tape if there is one; return the result."""
        if self._is_recorded:
            perform(self)
        else:
            self.run()
        return self.result

    # What the library says

    @abstractmethod
    def evaluated(self) -> tuple[R, Any]:
        """Call the function; return the run, and the result with arrays in it."""

    @abstractmethod
    def again(self) -> R:
        """Call the function again, with the same arguments."""

    @abstractmethod
    def write(self, target: ArrayLike, array: Any) -> None:
        """Set the contents of a field from an array of its shape and number type."""

    @abstractmethod
    def is_array(self, value: object) -> bool:
        """Tell whether a value is an array of the library."""

    @abstractmethod
    def ends_gradients(self, first: R) -> bool:
        """Tell whether gradients end in the function itself."""

    # Nested values

    def leaves_of(self, tree: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """Return the leaves of nested values, with their places in words."""
        return leaves_of(tree)

    def mapped(self, tree: Any, change: Callable[[Any, str], Any], name: str) -> Any:
        """Return nested values with a function applied to each leaf and its place in words."""
        return mapped(tree, change, name)

    def aligned(self, tree: Any, other: Any, name: str) -> list[Any]:
        """Return the entries of nested values at the leaves of others.

        Raises:
            LaunchError: They differ in form.
        """
        return aligned(tree, other, name)

    # The result

    def converted(self, result: Any, convert: Callable[[Any, Type], Any]) -> list[Any]:
        """Return the arrays in a result in the number types of their fields.

        Raises:
            LaunchError: The result has no arrays, fields cannot hold them, or the given fields do
                not fit.
        """
        arrays = [(name, one) for name, one in self._leaves(result) if self.is_array(one)]
        if not arrays:
            raise LaunchError(
                f"{self.title} returned {result!r}, in which there is no {self.array}."
            )
        if not self._elements:
            self._elements = self._elements_of(result, arrays)
        pairs = zip(arrays, self._elements, strict=True)
        return [convert(one, element) for (_, one), element in pairs]

    def _leaves(self, result: Any) -> list[tuple[str, Any]]:
        return self.leaves_of({"the result": result})

    def _elements_of(self, result: Any, arrays: list[tuple[str, Any]]) -> list[Type]:
        """Return the element types of the fields of a result."""
        leaves = [one for _, one in self._leaves(result)]
        if self._given is None:
            asked = [self._dtype] * len(leaves)
            if self._is_nested:
                asked = self.aligned(result, self._dtype, "dtype")
            asked = [want for want, one in zip(asked, leaves, strict=True) if self.is_array(one)]
            return [
                self._element(one, want, f"{name} of {self.title}")
                for (name, one), want in zip(arrays, asked, strict=True)
            ]
        given = self.aligned(result, self._given, "out")
        given = [field for field, one in zip(given, leaves, strict=True) if self.is_array(one)]
        for (name, one), field in zip(arrays, given, strict=True):
            check_is_field(field, f"{self.title}: 'out' takes")
            self._check_fits(field, one, f"{name} of {self.title}")
        return [field.element for field in given]

    def _element(self, array: Any, dtype: Any, name: str) -> Type:
        """Return the elements of the field that an array becomes.

        Raises:
            LaunchError: Fields cannot hold it, or it does not end in the shape of an element.
        """
        if dtype is None:
            return self._scalar(array, name)
        element = element_type(dtype)
        if is_float(element) and not has_own_scalar(dtype):
            element = with_scalar(element, self._scalar(array, name))
        shape, inner = tuple(array.shape), shape_of(element)
        if len(shape) < len(inner) or shape[len(shape) - len(inner) :] != inner:
            raise LaunchError(
                f"{name} is of shape {shape}, which does not end in the shape {inner} of {element}."
            )
        return element

    def _scalar(self, array: Any, name: str) -> Scalar:
        dtype = dtype_name(array)
        try:
            scalar = scalar_from_numpy(np.dtype(dtype))
        except TypeError:  # not a type of NumPy
            scalar = None
        if scalar is None:
            raise LaunchError(
                f"{name} is a {self.array} of {dtype}, which fields cannot hold. Return another "
                "type, such as float32."
            )
        return scalar

    def _check_fits(self, target: ArrayLike, array: Any, name: str) -> None:
        wanted = (*target.shape, *shape_of(target.element))
        if tuple(array.shape) != wanted:
            raise LaunchError(
                f"{name} is of shape {tuple(array.shape)}, and its field in 'out', {target!r}, "
                f"takes {wanted}."
            )
        floats = not is_float(target.element) and "float" in dtype_name(array)
        if floats:
            raise LaunchError(
                f"{name} holds floats, and its field in 'out', {target!r}, holds integers. Round "
                "them in the function."
            )

    def _make_fields(self, result: Any, first: R) -> None:
        """Make the fields of the result, unless they are given."""
        graded = self.ends_gradients(first) or any(one.value.has_grads for one in self.inputs)
        given = None if self._given is None else iter(self.aligned(result, self._given, "out"))
        elements = iter(self._elements)

        def replaced(value: Any, name: str) -> Any:
            field = None if given is None else next(given)
            if not self.is_array(value):
                return value
            element = next(elements)
            if field is None:
                shape = tuple(value.shape)
                field = make(element, shape[: len(shape) - len(shape_of(element))])
                field = field.with_grads() if graded and is_float(element) else field
            self.outputs.append(FieldOperand(name, field, "Out"))
            return field

        self.result = self.mapped(result, replaced, "the result")

    # The step

    def _uses(self) -> list[Use]:
        """Return the uses of the fields; fields for the result may be arguments as well."""
        inputs, outputs = list(self.inputs), list(self.outputs)
        for k, out in enumerate(outputs):
            for j, operand in enumerate(inputs):
                same = out.value.base.storage is operand.value.base.storage
                if same and out.window == operand.window:
                    outputs[k] = replace(out, role="InOut")
                    inputs[j] = replace(operand, role="InOut")
        return [
            replace(use, keeps=Keeps.BEFORE if use.reads else Keeps.NOTHING)
            for use in uses_of(self.title, [*inputs, *outputs])
        ]

    def run(self) -> R:
        """Write the result into its fields.

        Raises:
            TapeError: The call runs again, and a value that it depends on has changed.
        """
        found, self._first = self._first, None
        if found is None:
            with self.refusing(self.uses):
                found = self.again()
        for operand, array in zip(self.outputs, found.outputs, strict=True):
            self.write(operand.value, array)
        return found

    def stand(self, then: ReverseContext, operand: FieldOperand) -> ArrayLike:
        """Return the stand-in for a field in a derivative."""
        return stand_in(then, {use.field.storage: use for use in self.uses}, operand.value)

    # Errors

    @property
    def place(self) -> Span | None:
        """The call."""
        return span_of(*self._where)

    @contextmanager
    def refusing(self, uses: Sequence[Use]) -> Generator[None]:
        """Refuse that the function reads fields with gradients that are not arguments."""
        if not self._differentiates:
            yield
            return
        outside = {one.storage for one in fields_with_grads()}
        outside -= {use.field.storage for use in uses}
        with observed_by(RefusingObserver(outside, self._refuse_outside)):
            yield

    def _refuse_outside(self, field: Field, what: str) -> None:
        if what == "reads" and not field.has_grads:
            return
        label = "no gradient would flow to it" if what == "reads" else "no tape would know"
        title = f"{self.title} {what} {field!r}, which has a gradient and is not an argument."
        hint = "pass it as an argument, or read x.detach() if it is a constant."
        raise LaunchError(render(title, [Label(span_of(*caller()), label)], (), hint))

    @contextmanager
    def noted(self, arrays: Sequence[Any]) -> Generator[None]:
        """Note the given arrays on an exception of the function."""
        try:
            yield
        except Exception as error:
            given = ", ".join(
                f"{operand.name}: {dtype_name(one)} {tuple(one.shape)} on "
                f"{getattr(one, 'device', 'cpu')}"
                for operand, one in zip(self.inputs, arrays, strict=True)
            )
            note(error, f"In {self.title}, which was given {given or 'no field'}.")
            raise

    @contextmanager
    def differentiating(self, what: str) -> Generator[None]:
        """Note the differentiated call on an exception of the library.

        Args:
            what: The derivative.
        """
        try:
            yield
        except Exception as error:
            file, line = self._where
            note(error, f"In the {what} of {self.title}, called at {place(file, line)}.")
            raise


def leaves_of(tree: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the leaves of nested values, with their places in words."""
    found: list[tuple[str, Any]] = []

    def take(value: Any, name: str) -> Any:
        found.append((name, value))
        return value

    for name, value in tree.items():
        mapped(value, take, name)
    return found


def dtype_name(array: Any) -> str:
    """Return the number type of an array as NumPy names it."""
    return str(array.dtype).removeprefix("torch.")


def note(error: Exception, text: str) -> None:
    """Add a line to an exception, where Python can."""
    add_note: Callable[[str], None] | None = getattr(error, "add_note", None)
    if add_note is not None:  # from Python 3.11 on
        add_note(text)
