"""The fields and gradients that a rule names while it is lowered."""

from __future__ import annotations

from dataclasses import field

from difftile.diagnostics import KernelError, Span, UndefinedAttribute
from difftile.ir.nodes import Array
from difftile.ir.types import is_float
from difftile.records import dataclass

GRADIENTS = ("grad_in", "grad_out")
CONTENTS = ("before", "after")


@dataclass(frozen=True, slots=True, eq=False)
class RuleScope:
    """The rule that is being lowered.

    Args:
        name: The func or kernel whose rule it is, in the user's words.
        written: The fields that this writes; None for a kernel, whose rule has gradients in and
            out in memory of their own.
        forward: It is a rule of a kernel for tangents: it reads those before, and sets those after.
        arrays: The arrays of the thread that the func is given and does not write.
        loaded: The fields that the func reads.
        gradients: The gradients of fields used so far: incoming or not.
        contents: The contents of fields used by name so far: from after the call, or before it.
    """

    name: str
    written: frozenset[Array] | None
    forward: bool = False
    arrays: frozenset[Array] = frozenset()
    loaded: frozenset[Array] = frozenset()
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
        if array.size is not None:
            return array  # which a rule finds as the call left it
        if self.written is not None and not (late and array in self.written):
            return array  # a rule of a func reads fields as the call found them
        key = (array, late)
        if key not in self.contents:
            name = f"{array.name}_{'after' if late else 'before'}"
            self.contents[key] = Array(name, array.type, contents_of=array, late=late)
        return self.contents[key]

    def attribute(self, array: Array, word: str, span: Span) -> Array:
        """Return `array.word` for one of the words in GRADIENTS and CONTENTS.

        Raises:
            KernelError: The field has no such gradient or contents in this rule.
        """
        if array.gradient_of is not None:
            raise UndefinedAttribute(span, "A gradient", word)
        array = array.contents_of or array
        own = array.size is not None
        if own and word == "before" and self.written is not None and array in self.written:
            raise KernelError(
                f"'{self.name}' writes '{array.name}', an array of the thread, which keeps no "
                "contents from before.",
                span,
                hint="pass what the rule needs in another array.",
            )
        if word in CONTENTS:
            return self.content(array, late=word == "after")
        if not is_float(array.type.element):
            raise KernelError(f"Field '{array.name}' of integers has no gradient.", span)
        incoming = word == "grad_in"
        writes = self.written is None or array in self.written
        if incoming and not writes:
            raise KernelError(
                f"'{self.name}' does not write '{array.name}': no gradient comes in.",
                span,
                hint=f"add to '{array.name}.grad_out[...]'; "
                "the adjoint of the result is an argument.",
            )
        is_read = not self.forward and array in self.loaded
        if not incoming and writes and self.written is not None and not is_read:
            raise KernelError(
                f"'{self.name}' writes '{array.name}' without reading it, and its rule adds to the "
                "gradient before the call.",
                span,
                hint="leave it out: what is stored has none, and '+=' passes on what comes in.",
            )
        return self.gradient(array, incoming=incoming)

    def check_read(self, array: Array, span: Span | None) -> None:
        """Check that the rule may read an array.

        Raises:
            KernelError: It is a gradient that the rule gives.
        """
        if array.gradient_of is None or array.incoming != self.forward:
            return
        name = array.gradient_of.name
        if self.forward:
            raise self._backwards(name, span)
        raise KernelError(
            f"A rule adds to '{name}.grad_out' and does not read it.",
            span,
            hint=f"what comes in is '{name}.grad_in', for a field that the call writes.",
        )

    def check_write(self, array: Array, span: Span | None, *, adds: bool) -> None:
        """Check that the rule may write an array; rules add to gradients only.

        Raises:
            KernelError: It may not.
        """
        if array.gradient_of is None:
            raise KernelError(
                f"The rule of '{self.name}' writes the field '{array.name}'.",
                span,
                "a rule writes only gradients",
                hint=f"add to a gradient: '{array.name}.grad_out[...] += ...'.",
            )
        name = array.gradient_of.name
        if self.forward and not array.incoming:
            raise self._backwards(name, span)
        if self.forward:
            return
        if array.incoming:
            raise KernelError(
                f"'{name}.grad_in' is read by a rule, and not written.",
                span,
                hint=f"add to '{name}.grad_out[...]'.",
            )
        if not adds:
            raise KernelError(
                f"Gradients accumulate: a rule adds to '{name}.grad_out'.",
                span,
                hint=f"write '{name}.grad_out[...] += ...'.",
            )

    def _backwards(self, name: str, span: Span | None) -> KernelError:
        return KernelError(
            f"A rule for tangents sets '{name}.grad_in', and reads '{name}.grad_out'.", span
        )
