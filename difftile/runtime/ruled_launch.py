"""A launch of a kernel that has a rule, as a step of a tape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from difftile.compile.kernel_rule import RuleCode
from difftile.compile.specialisation import argument_of, scratch_for
from difftile.compile.stage import AdjointCode
from difftile.diagnostics import LaunchError, NotDifferentiable
from difftile.fields.field import Field, Storage
from difftile.ir.nodes import Array
from difftile.ir.types import is_float
from difftile.launch.parse_arguments import current_captures
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.opaque import Keeps, OpaqueStep, Use
from difftile.recording.replayed_fields import ReverseContext


class RuledLaunch(OpaqueStep):
    """A launch whose derivative is that of a rule.

    What the kernel stores is overwritten: it takes the gradient of those elements from what was
    there before, as in any other kernel. The rule adds to that.

    Args:
        name: The kernel.
        call: The launch.
        values: The values of its parameters.
        rules: The rules, by 'backward' and 'forward', each with the values of its parameters.
        word: Which of them is meant.
        approximate: It is no exact derivative by its own account.
    """

    def __init__(
        self,
        name: str,
        call: PreparedLaunch,
        values: list[Any],
        rules: Mapping[str, tuple[RuleCode, list[Any]]],
        word: str,
        *,
        approximate: bool = False,
    ) -> None:
        self._call = call
        self._values = values
        self._rules = rules
        self._rule, self._rule_values = rules[word]
        self._forward = word == "forward"
        self._storing = _storing(call, values)
        super().__init__(name, self._uses(), kind="kernel", approximate=approximate)
        self._check_gradients()

    def forward(self) -> RuledLaunch | None:
        """Return the launch as one whose reverse pushes tangents."""
        if "forward" not in self._rules:
            return None
        given = (self.name, self._call, self._values, self._rules, "forward")
        return RuledLaunch(*given, approximate=self.approximate)

    def _uses(self) -> list[Use]:
        """Return what the launch does with each field, and which contents the reverse reads."""
        code, rule = self._call.code, self._rule
        names: dict[Storage, tuple[Field, str]] = {}
        params = (*code.params, *rule.code.params)
        every = zip(params, (*self._values, *self._rule_values), strict=True)
        hidden = (*code.temps, *rule.code.temps)
        for param, value in every:
            if isinstance(value, Field) and value not in hidden:
                names.setdefault(value.storage, (value, param.name))
        loaded = {code.position[a] for launch in code.launches for a in launch.stage.loaded}
        reads = self._read = _memory(self._values, loaded)
        writes = _memory(self._values, code.writes)
        places = {code.position[a] for adjoint in self._storing for a in adjoint.reads}
        needed = _memory(self._rule_values, rule.loads) | _memory(self._values, places)
        before = _memory(self._rule_values, (k for _, k, late in rule.contents if not late))
        after = _memory(self._rule_values, (k for _, k, late in rule.contents if late))
        uses: list[Use] = []
        for storage, (field, name) in names.items():
            if storage in needed:
                (before if storage in reads else after).add(storage)
            keeps = _KEEPS[storage in before, storage in after]
            if storage not in writes and keeps is not Keeps.NOTHING:
                keeps = Keeps.BEFORE
            # What is not overwritten passes through, so that the gradient before matters, too.
            passes = storage not in reads
            uses.append(Use(field, True, storage in writes, keeps, name, passes=passes))
        return uses

    def _check_gradients(self) -> None:
        """Check that the rule reads gradients of fields that the kernel writes.

        Raises:
            LaunchError: It does not.
        """
        written = {use.field.storage for use in self.uses if use.writes}
        for _, which, incoming in self._rule.gradients:
            field: Field = self._rule_values[which]
            if incoming and field.storage not in written:
                name = self._rule.code.params[which].name
                raise LaunchError(
                    f"The rule of {self.title} uses '{name}.grad_in', the gradient of what is in "
                    f"'{name}' after the launch; the kernel does not write it."
                )

    def run(self) -> None:
        """Launch the kernel."""
        self._call.run(self._values)

    def reverse(self, then: ReverseContext, saved: None) -> None:
        """Launch the rule."""
        for use in self.uses:
            if not use.writes or not is_float(use.field.element):
                continue
            stand = then[use.field]
            assert stand.grad_in is not None and stand.grad_out is not None
            if self._forward:
                stand.grad_in.buffer.copy_from(stand.grad_out.buffer)
            else:
                stand.grad_out.buffer.copy_from(stand.grad_in.buffer)
        if not self._forward:
            self._take_overwritten(then)
        values = self._rule_values.copy()
        for place, which, incoming in self._rule.gradients:
            stand = then[self._rule_values[which]]
            values[place] = stand.grad_in if incoming else stand.grad_out
        for place, which, late in self._rule.contents:
            field = self._rule_values[which]
            values[place] = then.after(field) if late else then[field]
        for k in self._rule.loads:
            if isinstance(values[k], Field) and values[k] not in self._rule.code.temps:
                values[k] = self._plainly(then, values[k])
        self._rule.code.check(values)
        self._rule.code.run(values)

    def _plainly(self, then: ReverseContext, field: Field) -> Field:
        """Return what a rule reads of a field that it names alone: `x[i]`."""
        return then[field] if field.storage in self._read else then.after(field)

    def _take_overwritten(self, then: ReverseContext) -> None:
        """Set the gradient of elements to zero that the kernel stores."""
        for adjoint in reversed(self._storing):
            self._run_constant(adjoint, then)

    def _run_constant(self, adjoint: AdjointCode, then: ReverseContext) -> None:
        code = self._call.code
        written = {use.field.storage for use in self.uses if use.writes}
        fields: list[Any] = []
        scratch: list[Any] = []
        for p in adjoint.code.params:
            of = adjoint.bars.get(p) if isinstance(p, Array) else None
            late = adjoint.after.get(p) if isinstance(p, Array) else None
            if of is not None:
                fields.append(then[self._values[code.position[of]]].grad_out)
            elif late is not None or (isinstance(p, Array) and p in adjoint.reads):
                value = self._values[code.position[late or p]]
                if value in code.temps or value.storage in written:
                    raise NotDifferentiable(
                        None,
                        f"where {self.title} stores depends on what it writes itself, and it has a "
                        "rule.",
                        "",
                        hint="write the places with another kernel, which is launched before it.",
                    )
                fields.append(then[value])
            elif p in code.position:
                fields.append(self._values[code.position[p]])
            else:
                assert isinstance(p, Array)
                scratch.append(scratch_for(p, code, self._values))
                fields.append(scratch[-1])
        adjoint.code.launch([one if one in scratch else argument_of(one) for one in fields])
        for buffer in scratch:
            buffer.free()


_KEEPS = {
    (False, False): Keeps.NOTHING,
    (True, False): Keeps.BEFORE,
    (False, True): Keeps.AFTER,
    (True, True): Keeps.BOTH,
}


def rule_values(
    rule: RuleCode, given: list[Any], arrays: Mapping[str, Field], known: Mapping[str, Any]
) -> list[Any]:
    """Return the values of a rule's parameters, with None for gradients and contents by name.

    Args:
        rule: The rule.
        given: The values of the kernel's own parameters.
        arrays: The field passed for each of them that is an array of its own.
        known: The arguments that are looked into.

    Raises:
        LaunchError: A name that the rule captures has changed.
    """
    captured = current_captures(rule.captures, arrays, known)
    if captured is None:
        raise LaunchError(f"{rule.code.name}: a name that its rule captures has changed.")
    by_name = len(rule.gradients) + len(rule.contents)
    return [*given, *captured, *(None,) * by_name, *rule.code.temps]


def _memory(values: list[Any], positions: Iterable[int]) -> set[Storage]:
    """Return the memory of the fields at some positions."""
    return {values[k].storage for k in positions}


def _storing(call: PreparedLaunch, values: list[Any]) -> list[AdjointCode]:
    """Return what sets the gradients of stored elements to zero, stage by stage."""
    code = call.code
    wanted = frozenset(
        p
        for p, value in zip(code.params, values, strict=True)
        if isinstance(p, Array) and is_float(p.type.element) and value not in code.temps
    )
    found = (launch.stage.adjoint(wanted, constant=True) for launch in code.launches)
    return [adjoint for adjoint in found if adjoint is not None]
