"""Arguments of kernels from a description of their types: "x: f32[2d] grad, h: float"."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from difftile.arguments import did_you_mean
from difftile.commands.guesses import examples
from difftile.compile.annotations import Kind
from difftile.compile.definition import annotation
from difftile.fields.create import zeros
from difftile.ir.types import F32, SCALARS, Matrix, Scalar, Type, Vector

_EXTENT = 4  # of each dimension of a field without a shape
_EXAMPLE = "'x: f32[2d] grad, h: float'"
_ENTRY = re.compile(
    r"\s*(?P<name>[^\W\d]\w*)\s*:\s*(?P<type>[\w.<>+-]+)\s*"
    r"(?P<shape>\[[^\]]*\])?\s*(?P<grad>\bgrad\b)?\s*(?:,|$)"
)
_COMPOSED = re.compile(r"(vec[1-9]\d*|mat[1-9]\d*x[1-9]\d*)(?:<(\w+)>)?")
_NUMBERS: dict[str, float | int] = {"float": 1.0, "int": 1}


class Unclear(Exception):
    """A description cannot be understood; the message says what to write."""


@dataclass(frozen=True, slots=True)
class Specimen:
    """The description of an argument.

    Args:
        element: The element type of a field; None for a number.
        shape: The shape of a field.
        grad: Whether the field has a gradient.
        number: An example of a number.
    """

    element: Type | None
    shape: tuple[int, ...] = ()
    grad: bool = False
    number: float | int = 0

    def made(self) -> Any:
        """Return the argument.

        Raises:
            FieldError: Such a field cannot be created.
        """
        if self.element is None:
            return self.number
        return zeros(self.shape, self.element, grad=self.grad)


def read(text: str) -> dict[str, Specimen]:
    """Return the descriptions of arguments in a text, by name.

    Raises:
        Unclear: The text cannot be read.
    """
    found: dict[str, Specimen] = {}
    at = 0
    while text[at:].strip():
        entry = _ENTRY.match(text, at)
        if entry is None:
            raise Unclear(f"cannot read '{text[at:].strip()}'; write NAME: TYPE, as in {_EXAMPLE}")
        if entry["name"] in found:
            raise Unclear(f"'{entry['name']}' is there twice")
        found[entry["name"]] = _specimen(entry)
        at = entry.end()
    return found


def _specimen(entry: re.Match[str]) -> Specimen:
    name, type_ = entry["name"], entry["type"].removeprefix("ti.").removeprefix("math.")
    if entry["shape"] is not None:
        element = _element(name, type_)
        inside = entry["shape"][1:-1].strip()
        dimensions = re.fullmatch(r"(\d)d", inside)
        words = re.split(r"\s*[,x]\s*", inside.removesuffix(",")) if inside else []
        if dimensions is not None:
            words = [str(_EXTENT)] * int(dimensions[1])
        if not all(word.isdecimal() for word in words):
            raise Unclear(
                f"'{name}' has the shape {entry['shape']}; write [2d], [64, 64], or [] for one "
                "element"
            )
        return Specimen(element, tuple(map(int, words)), bool(entry["grad"]))
    if entry["grad"]:
        raise Unclear(f"'{name}' is a number, which has no gradient; a field is {type_}[1d] grad")
    number = _NUMBERS.get(type_)
    for kind in (int, float):
        if number is None:
            with suppress(ValueError):
                number = kind(entry["type"])
    if number is None:
        _element(name, type_)  # raises for an unknown type
        raise Unclear(f"'{name}' needs a shape, as in {type_}[1d]; a number is float or int")
    return Specimen(None, number=number)


def _element(name: str, text: str) -> Type:
    text = {"float": "f32", "int": "i32"}.get(text, text)
    composed = _COMPOSED.fullmatch(text)
    sizes, word = (composed[1], composed[2] or F32.name) if composed else ("", text)
    scalar = SCALARS.get(word)
    if scalar is None:
        known = [*SCALARS, "float", "int", "vec2", "vec3", "vec4", "mat2x2", "mat3x3"]
        hint = did_you_mean(word, known, "use f32, i32, vec3, mat2x2, vec3<f64> or their like")
        raise Unclear(f"'{name}' has the unknown type '{word}'{hint}")
    if not sizes:
        return scalar
    rows, *columns = (int(size) for size in sizes[3:].split("x"))
    return Matrix(rows, columns[0], scalar) if columns else Vector(rows, scalar)


def arguments_of(function: Any, said: dict[str, Specimen], bound: bool) -> dict[str, Any]:
    """Return arguments for a kernel by name; annotated numbers need no description.

    Args:
        function: The function of the kernel.
        said: The descriptions.
        bound: Whether the first parameter is the object of a method.

    Raises:
        Unclear: A description is missing, or there is no such parameter.
        FieldError: Such a field cannot be created.
    """
    parameters = _parameters(function, bound)
    names = [p.name for p in parameters]
    for name in said:
        if name not in names:
            otherwise = f"the kernel has {', '.join(names) or 'none'}"
            raise Unclear(
                f"--args: there is no parameter '{name}'{did_you_mean(name, names, otherwise)}"
            )
    wanted = {p.name: _number(annotation(p, function)) for p in parameters}
    missing = [
        p.name
        for p in parameters
        if p.name not in said and p.default is p.empty and wanted[p.name] is None
    ]
    if missing:
        raise Unclear(f'--args lacks {", ".join(missing)}; write "{_template(function, missing)}"')
    assumed = {p.name: wanted[p.name] for p in parameters if p.default is p.empty}
    return {**assumed, **{name: specimen.made() for name, specimen in said.items()}}


def suggestion(function: Any, bound: bool) -> str:
    """Return an example of a description for `read`; '' if a kernel needs none."""
    names = [
        p.name
        for p in _parameters(function, bound)
        if p.default is p.empty and _number(annotation(p, function)) is None
    ]
    return _template(function, names)


def _number(kind: Kind) -> float | int | None:
    """Return an example of a parameter that is a number; None for others."""
    if isinstance(kind, Scalar):
        return _NUMBERS["int"]
    return _NUMBERS["float"] if kind == "float" else None


def _parameters(function: Any, bound: bool) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())[int(bound) :]


def _template(function: Any, names: Iterable[str]) -> str:
    guesses = examples(function)
    return ", ".join(f"{name}: {guesses.get(name, 'f32[1d] grad')}" for name in names)
