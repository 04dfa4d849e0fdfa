"""The bodies of kernels: a Python function, or a program made from one."""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Mapping
from functools import cached_property
from types import FunctionType
from typing import ClassVar, Protocol, get_origin

from difftile.compile.annotations import FieldOf, Kind, kind_of_number, role_of, template
from difftile.compile.meanings import meaning_of
from difftile.diagnostics import TypeMismatch
from difftile.fields.array_like import ArrayLike
from difftile.frontend.annotations import annotated, annotation_span
from difftile.frontend.captures import WiderField
from difftile.frontend.lower import Lowered, lower, parameters_of
from difftile.frontend.parameters import Signature, numbers_in_fields
from difftile.frontend.source import Source, source_of
from difftile.ir.nodes import Array
from difftile.ir.types import F16, F32, FLOATS, I32, Matrix, Scalar, Vector, scalar_of
from difftile.lang.meanings import element_dtype, is_template
from difftile.lang.type_objects import value_type
from difftile.ops.vocabulary import FieldMeaning, StructName
from difftile.substrate import Session


class Body(Protocol):
    """The body of a kernel."""

    @property
    def title(self) -> str:
        """The kernel in the words of an error."""
        ...

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters, as Python sees them."""
        ...

    takes_elements: ClassVar[bool]
    """Whether it runs on the elements of its fields, one call for each."""

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kind of each parameter."""
        ...

    def check(self, kernel: object, fields: Mapping[str, ArrayLike | None]) -> None:
        """Check the fields of a launch.

        Args:
            kernel: The kernel, for errors.
            fields: The arguments by name; members of structs as 'p.pos'. None for other arguments
                than fields.

        Raises:
            LaunchError: A field does not fit.
        """
        ...

    def lower(
        self, signature: Signature, float_type: Scalar, fields: Mapping[str, FieldMeaning]
    ) -> Lowered:
        """Return the program for arguments of certain types."""
        ...


class Definition:
    """The body of a function that is decorated as a kernel."""

    takes_elements: ClassVar[bool] = False

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self.parameters = parameters_of(function)
        roles = {p.name: role_of(p.annotation) for p in self.parameters}
        self.roles = {name: role for name, role in roles.items() if role is not None}

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """The kind of each parameter; an annotation may name what is defined after the kernel."""
        return {
            p.name: "field" if p.name in self.roles else annotation(p, self._function)
            for p in self.parameters
        }

    @property
    def title(self) -> str:
        """The kernel in the words of an error."""
        names = ", ".join(p.name for p in self.parameters)
        return f"<kernel {self._function.__name__}({names})>"

    def check(self, kernel: object, fields: Mapping[str, ArrayLike | None]) -> None:
        """Check the fields of a launch: all fit."""

    def lower(
        self, signature: Signature, float_type: Scalar, fields: Mapping[str, FieldMeaning]
    ) -> Lowered:
        """Return the program for arguments of certain types."""
        return lower(self.source, signature, meaning_of, float_type, fields, self.roles)

    @cached_property
    def source(self) -> Source:
        """The function."""
        return source_of(self._function)


def lowered_for(
    body: Body, signature: Signature, fields: Mapping[str, FieldMeaning], session: Session
) -> tuple[Lowered, Scalar]:
    """Return the program for the arguments of a launch, and the type of its float literals.

    Args:
        body: The function.
        signature: The argument of each parameter.
        fields: The meanings of the fields among the arguments.
        session: The session, whose float type holds where no field decides.
    """
    numbers = {one for name, given in signature.items() for one in numbers_in_fields(name, given)}
    floats = [scalar_of(one.type.element) for name, one in fields.items() if name not in numbers]
    float_type = _widest(floats) or session.float_type
    try:
        lowered = body.lower(signature, float_type, fields)
    except WiderField as field:
        return body.lower(signature, field.scalar, fields), field.scalar
    arrays = [p for p in lowered.program.params if isinstance(p, Array)]
    params = [p for p in arrays if p.name not in numbers]
    widest = _widest([scalar_of(p.type.element) for p in params])
    if widest is None or widest == float_type:
        return lowered, float_type
    # Captured fields are the only ones with floats, and narrower: literals follow them.
    return body.lower(signature, widest, fields), widest


def _widest(scalars: list[Scalar]) -> Scalar | None:
    """Return the type that arithmetic with these is in; f16 is computed in f32."""
    floats = [F32 if s == F16 else s for s in scalars if s in FLOATS]
    return max(floats, key=FLOATS.index) if floats else None


_REFUSED: tuple[object, ...] = (list, dict, set, complex, bytes)
_NUMBER_ANNOTATIONS: dict[object, Kind] = {float: "float", int: I32}


def annotation(parameter: inspect.Parameter, function: FunctionType) -> Kind:
    """Return the kind that a parameter's annotation says: any but 'field'.

    Raises:
        UndefinedName: The annotation is text that names nothing.
        TypeMismatch: No argument of a kernel is of such a type.
    """
    given = annotated(function, parameter.name)
    known = _NUMBER_ANNOTATIONS.get(given) if isinstance(given, Hashable) else None
    if known is not None:
        return known
    if given is template or is_template(given):
        return "template"
    meaning = meaning_of(given)
    if isinstance(meaning, StructName):
        return meaning.type
    elements = element_dtype(given)
    if elements is not None:
        return FieldOf(elements)
    type_ = value_type(given)
    if isinstance(type_, (Vector, Matrix)):
        return type_
    if any((get_origin(given) or given) is one for one in _REFUSED):
        raise TypeMismatch(
            annotation_span(function, parameter.name),
            f"'{parameter.name}' is annotated with a type that kernels do not have.",
            hint="fields and arrays need no annotation; 'float' and 'int' are numbers, "
            "'ti.math.vec3' is a vector.",
        )
    return "" if type_ is None else kind_of_number(type_)
