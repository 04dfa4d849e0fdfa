"""Rules of kernels that work on the gradients of a backward pass, without copies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import is_

from difftile.compile.arguments import Arguments, field_at
from difftile.compile.specialisation import Specialisation
from difftile.compile.stage import DerivedCode
from difftile.fields.field import Field
from difftile.fields.storage import Storage
from difftile.ir.derived import After, Bar, Before, Same
from difftile.ir.nodes import Array
from difftile.launch.binding import Binding, Fixed, Kept, LaunchEnvironment, Slot, Temporary
from difftile.recording.opaque import OpaqueRecord
from difftile.substrate import Buffer


class RuleInPlace:
    """A rule that works directly on the gradients of a backward pass.

    Of a field that the kernel writes the rule only reads the gradient; of any other it only adds to
    the gradient. So the one gradient that a pass has of each field suffices, and the gradients of
    stored elements are cleared after the rule has read them.

    Args:
        rule: The rule.
        values: Its arguments; gradients and contents are given by the fields they belong to.
        incoming: The positions of gradients that it reads.
        outgoing: The positions of gradients that it adds to.
        contents: For each position of a field whose contents were kept, whether the contents from
            after the launch are meant where a record has both.
        clearing: The programs that clear gradients afterwards.
        code: The kernel.
        kernel_values: Its arguments.
    """

    def __init__(
        self,
        rule: Specialisation,
        values: Arguments,
        incoming: Sequence[int],
        outgoing: Sequence[int],
        contents: Mapping[int, bool],
        clearing: Sequence[DerivedCode],
        code: Specialisation,
        kernel_values: Arguments,
    ) -> None:
        self._rule = rule
        position = rule.position
        self._shaped = [
            field_at(values, position[role.array])
            if isinstance(role, (Before, After, Bar))
            else value
            for role, value in zip(rule.roles, values, strict=True)
        ]
        self._incoming = [field_at(self._shaped, k) for k in incoming]
        self._outgoing = [field_at(self._shaped, k) for k in outgoing]
        self._bars = (*incoming, *outgoing)
        self._contents = {k: j for j, k in enumerate(contents)}
        self._kept = [(field_at(self._shaped, k).storage, late) for k, late in contents.items()]
        self._clearing = clearing
        self._code = code
        self._targets = [
            field_at(kernel_values, code.position[array])
            for one in clearing
            for array in one.fields(Bar)
        ]
        self._bound: tuple[list[Buffer | None], list[Binding], list[Binding]] | None = None

    def launch(
        self,
        record: OpaqueRecord,
        values: Arguments,
        kernel_values: Arguments,
        gradient: Callable[[Field], Field],
    ) -> bool:
        """Launch the rule and clear gradients; return whether that was possible.

        Args:
            record: The launch.
            values: The arguments of the rule.
            kernel_values: The arguments of the launch.
            gradient: Returns the gradient of a field that the pass works on.
        """
        if not all(field.has_grads for field in self._incoming):
            return False
        if not any(field.has_grads for field in self._outgoing):
            return False
        kept: list[Buffer] = []
        for storage, late in self._kept:
            buffer = record.left.get(storage) if late else None
            buffer = buffer or record.kept.get(storage)
            if buffer is None:
                return False
            kept.append(buffer)
        rule = self._rule
        if rule.limits is not None or rule.ownership is not None:
            pairs = zip(self._shaped, values, strict=True)
            rule.check([a if isinstance(a, Field) else b for a, b in pairs])
        fields = (*self._incoming, *self._outgoing, *self._targets)
        bars = [gradient(field).buffer if field.has_grads else None for field in fields]
        bound = self._bound
        if bound is None or not all(map(is_, bound[0], bars)):
            own = [bar for bar in bars[: len(self._bars)] if bar is not None]
            if len(set(map(id, own))) < len(own):  # fields that share one gradient
                return False
            bound = self._bound = bars, *self._bind(values, kernel_values, bars)
        _, rules, clears = bound
        for one in rules:
            one.launch(values, kept)
        for one in clears:
            one.launch(kernel_values)
        return True

    def _bind(
        self, values: Arguments, kernel_values: Arguments, bars: Sequence[Buffer | None]
    ) -> tuple[list[Binding], list[Binding]]:
        """Bind the rule and the clearing programs to gradients and to the buffers of records."""
        slots: dict[int, Slot] = {}
        for k, bar in zip(self._bars, bars, strict=False):
            field = field_at(self._shaped, k)
            # The gradient of a field without one is thrown away.
            slots[k] = Temporary(field.element, field.shape) if bar is None else Fixed(bar)
        for k, j in self._contents.items():
            slots[k] = Kept(j, field_at(self._shaped, k))
        env = _SlotEnvironment(self._rule, values, slots)
        rules = [Binding(stage.primal, env) for stage in self._rule.stages]
        targets = {
            field.storage: Temporary(field.element, field.shape) if bar is None else Fixed(bar)
            for field, bar in zip(self._targets, bars[len(self._bars) :], strict=True)
        }
        clear = _TargetEnvironment(self._code, kernel_values, targets)
        return rules, [Binding(one, clear) for one in reversed(self._clearing)]


class _SlotEnvironment(LaunchEnvironment):
    """The given slots of the parameters at some positions."""

    def __init__(self, code: Specialisation, values: Arguments, slots: Mapping[int, Slot]) -> None:
        super().__init__(code, values)
        self._slots = slots

    def live(self, array: Array) -> Slot:
        return self._slots.get(self.code.position[array]) or super().live(array)

    def shape(self, array: Array) -> Slot:
        return self._slots.get(self.code.position[array]) or super().shape(array)


class _TargetEnvironment(LaunchEnvironment):
    """The given slots of gradients, by the memory of their fields."""

    def __init__(
        self, code: Specialisation, values: Arguments, targets: Mapping[Storage, Slot]
    ) -> None:
        super().__init__(code, values)
        self._targets = targets

    def bar(self, array: Array) -> Slot:
        return self._targets[self.field(array).storage]


def rule_in_place(
    code: Specialisation,
    values: Arguments,
    rule: Specialisation,
    rule_values: Arguments,
    written: Collection[Storage],
    read: Collection[Storage],
    clearing: Sequence[DerivedCode],
) -> RuleInPlace | None:
    """Return a rule for the gradients of a pass, or None if it needs gradients of its own.

    Args:
        code: The kernel.
        values: Its arguments.
        rule: The rule.
        rule_values: Its arguments.
        written: The memory of the fields that the kernel writes.
        read: The memory of the fields that it reads.
        clearing: The programs that clear the gradients of elements that it stores, by stage.
    """
    first_temp = len(rule.params) - len(rule.temps)
    incoming: list[int] = []
    outgoing: list[int] = []
    contents: dict[int, bool] = {}
    for k, role in enumerate(rule.roles[:first_temp]):
        match role:
            case Bar(array, True):
                incoming.append(k)
            case Bar(array):
                if field_at(rule_values, rule.position[array]).storage in written:
                    return None
                outgoing.append(k)  # the language lets rules only add to these
            case Before():
                contents[k] = False
            case After():
                contents[k] = True
            case Same() if k in rule.loads:
                contents[k] = field_at(rule_values, k).storage not in read
            case _:
                pass
    if set(rule.writes).difference(outgoing, range(first_temp, len(rule.params))):
        return None
    if any(one.fields(Before) or one.fields(After) for one in clearing):
        return None
    return RuleInPlace(rule, rule_values, incoming, outgoing, contents, clearing, code, values)
