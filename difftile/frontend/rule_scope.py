"""The fields and gradients that a rule names while it is lowered."""

from __future__ import annotations

from dataclasses import dataclass, field

from difftile.ir.nodes import Array


@dataclass
class RuleScope:
    """What is known while a rule is lowered.

    Args:
        name: What the rule is for, in the user's words.
        written: The fields that this writes; None for a kernel, whose rule has gradients in and
            out in memory of their own.
        forward: It is a rule of a kernel for tangents: it reads those before, and sets those after.
        gradients: The gradients of fields used so far: incoming or not.
        contents: The contents of fields used by name so far: from after the call, or before it.
    """

    name: str
    written: frozenset[Array] | None
    forward: bool = False
    gradients: dict[tuple[Array, bool], Array] = field(
        default_factory=dict[tuple[Array, bool], Array]
    )
    contents: dict[tuple[Array, bool], Array] = field(
        default_factory=dict[tuple[Array, bool], Array]
    )

    def gradient(self, array: Array, *, incoming: bool) -> Array:
        """Return the gradient of a field."""
        key = (array, incoming)
        if key not in self.gradients:
            name = f"{array.name}_{'in' if incoming else 'out'}_bar"
            self.gradients[key] = Array(name, array.type, gradient_of=array, incoming=incoming)
        return self.gradients[key]

    def content(self, array: Array, *, late: bool) -> Array:
        """Return the contents of a field from before the call or launch, or from after it."""
        if self.written is not None and not (late and array in self.written):
            return array  # a rule of a func reads fields as the call found them
        key = (array, late)
        if key not in self.contents:
            name = f"{array.name}_{'after' if late else 'before'}"
            self.contents[key] = Array(name, array.type, contents_of=array, late=late)
        return self.contents[key]
