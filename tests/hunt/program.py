"""A program of the hunt: kernels as text, fields, launches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Given:
    """A field of a program.

    Args:
        values: What it holds; the components of its elements are the last axes.
        element: The shape of an element.
        graded: It has a gradient.
    """

    values: np.ndarray
    element: tuple[int, ...] = ()
    graded: bool = True

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape[: self.values.ndim - len(self.element)]

    @property
    def kind(self) -> str:
        if self.values.dtype.kind == "i":
            return "i"
        return {(): "f", (2,): "v", (3,): "w", (2, 2): "m"}[self.element]


@dataclass(frozen=True)
class Launch:
    """A launch: the text of the argument for each parameter."""

    kernel: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Write:
    """A write from Python between launches: `field[index] = value`."""

    field: str
    index: tuple[int, ...]
    value: float


@dataclass(frozen=True)
class Program:
    """Kernels, fields and launches.

    Args:
        number: The seed of the program.
        text: The module of the kernels.
        fields: The fields by name; members of the one struct field as 'P.pos'.
        steps: Launches and writes in order.
        affine: No index depends on the contents of a field.
        captured: Fields that kernels use without taking them as arguments.
    """

    number: int
    text: str
    fields: dict[str, Given]
    steps: tuple[Launch | Write, ...]
    affine: bool = True
    captured: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the program as one would write it down."""
        lines = [self.text.rstrip(), ""]
        for name, given in self.fields.items():
            kind = "" if given.graded else "  # no gradient"
            lines.append(f"{name} = {given.values.round(4).tolist()}{kind}")
        for step in self.steps:
            if isinstance(step, Launch):
                lines.append(f"{step.kernel}({', '.join(step.arguments)})")
            else:
                lines.append(f"{step.field}[{step.index}] = {step.value}")
        return "\n".join(lines)
