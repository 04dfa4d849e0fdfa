"""A launch of a kernel that has a rule, as a step of a tape."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_
from typing import Any

from difftile.compile.arguments import Arguments, CallArgs, field_at
from difftile.compile.specialisation import Specialisation
from difftile.compile.stage import Adjoint, DerivedCode
from difftile.diagnostics import LaunchError, NotDifferentiable
from difftile.fields.field import Field
from difftile.fields.gradients import carrier
from difftile.fields.recording import RECORDING
from difftile.fields.storage import Storage
from difftile.ir.derived import After, Bar, Before, Role, Same
from difftile.ir.nodes import Array
from difftile.ir.types import is_float
from difftile.launch.binding import Binding, LaunchEnvironment, Live, Slot
from difftile.launch.captured import Captured, captured, current_captures
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.tangents import make_writable
from difftile.recording.opaque import OpaqueRecord, OpaqueStep
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.uses import Keeps, Use
from difftile.runtime.rule_in_place import RuleInPlace, rule_in_place


class _RulePlan:
    """The common data of all launches on the same fields as steps with a rule.

    Args:
        launch: The launch.
        values: Its arguments.
        rule: The rule that the reverse runs.
        rule_values: The arguments of the rule.

    Attributes:
        uses: The uses of the fields.
        carrying: The field in each memory to which derivatives pass.
        read: The memory of the fields that the launch reads.
        clearing: The programs that clear the gradients of elements that it stores, by stage.
        in_place: The rule on the gradients of a pass; None if it needs gradients of its own.
    """

    def __init__(
        self,
        launch: PreparedLaunch,
        values: Arguments,
        rule: Specialisation,
        rule_values: Arguments,
    ) -> None:
        code = launch.code
        graded = [isinstance(v, Field) and is_float(v.element) for v in values]
        wanted = code.arrays(graded).difference(code.params[len(values) - len(code.temps) :])
        requests = [(stage, Adjoint(wanted, constant=True)) for stage in code.stages]
        self.clearing = [c for stage, request in requests if (c := stage.code(request))]
        self._rule = rule
        self._fields = tuple([v for v in rule_values if isinstance(v, Field)])
        self.read: set[Storage] = set()
        self.uses = tuple(self._uses(code, values, rule_values))
        self.carrying = {use.field.storage: use.field for use in self.uses}
        self.in_place: RuleInPlace | None = None

    def fits(self, rule: Specialisation, rule_values: Arguments) -> bool:
        """Tell whether the plan is one for a rule on these fields."""
        fields = [v for v in rule_values if isinstance(v, Field)]
        return (
            rule is self._rule
            and len(fields) == len(self._fields)
            and all(map(is_, fields, self._fields))
        )

    def rule_fields(self, rule_values: Arguments, kind: type[Role]) -> list[Field]:
        """Return the fields to which the roles of a kind in the rule belong."""
        position = self._rule.position
        return [
            field_at(rule_values, position[role.array])
            for role in self._rule.roles
            if isinstance(role, (Before, After, Bar)) and isinstance(role, kind)
        ]

    def _uses(self, code: Specialisation, values: Arguments, rule_values: Arguments) -> list[Use]:
        """Return how the launch uses each field, and which contents the reverse reads."""
        rule = self._rule
        names: dict[Storage, tuple[Field, str]] = {}
        params = (*code.params, *rule.params)
        hidden = (*code.temps, *rule.temps)
        for param, value in zip(params, (*values, *rule_values), strict=True):
            if isinstance(value, Field) and value not in hidden:
                known, name = names.get(value.storage, (value, param.name))
                names[value.storage] = carrier((known, value)), name
        loaded = {code.position[a] for stage in code.stages for a in stage.loaded}
        reads = self.read = _memory(values, loaded)
        writes = _memory(values, code.writes)
        places = {code.position[a] for one in self.clearing for a in one.fields(Before)}
        needed = _memory(rule_values, rule.loads) | _memory(values, places)
        before = {one.storage for one in self.rule_fields(rule_values, Before)}
        after = {one.storage for one in self.rule_fields(rule_values, After)}
        uses: list[Use] = []
        for storage, (field, name) in names.items():
            if storage in needed:
                (before if storage in reads else after).add(storage)
            keeps = _KEEPS[storage in before, storage in after]
            if storage not in writes and keeps is not Keeps.NOTHING:
                keeps = Keeps.BEFORE
            # Other elements pass through, so the gradient from before matters, too.
            passes = storage not in reads
            uses.append(Use(field, True, storage in writes, keeps, name, passes=passes))
        return uses


class RuledLaunch(OpaqueStep):
    """A launch whose derivative is computed by a rule.

    Elements that the kernel stores are overwritten: as in any other kernel, their former contents
    lose the gradient. The rule adds to the rest.

    Args:
        name: The kernel.
        launch: The launch.
        values: The arguments of the launch.
        rules: The rules, by 'backward' and 'forward', each with its own arguments: the fields and
            numbers of parameters that have no other role.
        word: The rule for which values are kept.
        approximate: Whether reports name the rule as an approximate derivative.
    """

    is_contained = True

    def __init__(
        self,
        name: str,
        launch: PreparedLaunch,
        values: Arguments,
        rules: Mapping[str, tuple[Specialisation, Arguments]],
        word: str,
        *,
        approximate: bool = False,
    ) -> None:
        self._launch = launch
        self._values = values
        self._rules = rules
        self._plan = self._plan_for(word)
        super().__init__(name, self._plan.uses, kind="kernel", approximate=approximate)

    def _plan_for(self, word: str) -> _RulePlan:
        """Return the data of one of the rules, which launches on the same fields share."""
        launch, values, rule = self._launch, self._values, self._rules[word]
        plan: _RulePlan | None = launch.ruled.get(word)
        if plan is None or not plan.fits(*rule):
            plan = _RulePlan(launch, values, *rule)
            self._check_gradients(plan, *rule)
            if word == "backward":
                written = {use.field.storage for use in plan.uses if use.writes}
                given = launch.code, values, *rule, written, plan.read, plan.clearing
                plan.in_place = rule_in_place(*given)
            launch.ruled[word] = plan
        return plan

    @property
    def pushes(self) -> bool:
        """Whether the kernel has a rule that pushes tangents."""
        return "forward" in self._rules

    @property
    def push_uses(self) -> tuple[Use, ...]:
        """The uses of the fields by the kernel and its rule that pushes tangents."""
        return self._plan_for("forward").uses if self.pushes else self.uses

    def _check_gradients(
        self, plan: _RulePlan, rule: Specialisation, rule_values: Arguments
    ) -> None:
        """Check that the rule reads gradients of fields that the kernel writes.

        Raises:
            LaunchError: The rule reads the gradient of a field that the kernel does not write.
        """
        written = {use.field.storage for use in plan.uses if use.writes}
        for role in rule.roles:
            if not isinstance(role, Bar) or not role.incoming:
                continue
            if field_at(rule_values, rule.position[role.array]).storage not in written:
                name = role.array.name
                title = f"kernel '{self._launch.code.name}'"
                raise LaunchError(
                    f"The rule of {title} uses '{name}.grad_in', the gradient of the contents "
                    f"of '{name}' after the launch; the kernel does not write it."
                )

    def run(self) -> None:
        """Launch the kernel."""
        self._launch.run(self._values)

    def reverse_in_place(self, record: OpaqueRecord, gradient: Callable[[Field], Field]) -> bool:
        """Launch the backward on the gradients of the pass, then clear those of stored elements."""
        rule, (_, values) = self._plan.in_place, self._rules["backward"]
        return rule is not None and rule.launch(record, values, self._values, gradient)

    def reverse(self, then: ReverseContext, saved: None) -> None:
        """Clear the gradients of the elements that the kernel stores, and launch the backward."""
        for stand in self._written(then):
            stand.grad_out.copy_from(stand.grad_in)
        recorder = RECORDING.get().recorder
        env = _ClearingEnvironment(self, self._launch, self._values, then)
        if recorder is None:
            env.clear(self._plan.clearing)
        else:
            recorder.opaque(_Clearing(self.title, env, self._plan.clearing))
        self._launch_rule("backward", then)

    def push(self, at: Sequence[ReverseContext], saved: None) -> bool:
        """Launch the forward, along one direction; other elements keep their tangents."""
        if len(at) > 1:
            return False
        for stand in self._written(at[0]):
            stand.grad_in.copy_from(stand.grad_out)
        self._launch_rule("forward", at[0])
        return True

    def _written(self, then: ReverseContext) -> list[Any]:
        """Return what stands for the fields of floats that the kernel writes."""
        return [then[u.field] for u in self.uses if u.writes and is_float(u.field.element)]

    def _launch_rule(self, word: str, then: ReverseContext) -> None:
        plan, (code, given) = self._plan_for(word), self._rules[word]
        values = [_argument(plan, code, given, k, then) for k in range(len(code.roles))]
        code.check(values)
        recorder = RECORDING.get().recorder
        if recorder is not None:
            recorder.launch(PreparedLaunch.bare(code, values), values)
            return
        env = LaunchEnvironment(code, values)
        for stage, writes in zip(code.stages, code.stage_writes, strict=True):
            for k in writes:
                make_writable(field_at(values, k))
            Binding(stage.primal, env).launch(values)


def _argument(
    plan: _RulePlan, rule: Specialisation, given: Arguments, k: int, then: ReverseContext
) -> Field | float:
    """Return the argument of a parameter of a rule, which may be the stand-in of a field."""

    def stand(field: Field, *, late: bool = False) -> Any:
        return then.stand_in(field, plan.carrying[field.storage], late=late)

    match rule.roles[k]:
        case Bar(array, incoming):
            one = stand(field_at(given, rule.position[array]))
            gradient = one.grad_in if incoming else one.grad_out
            assert gradient is not None
            return gradient
        case Before(array):
            return stand(field_at(given, rule.position[array]))
        case After(array):
            return stand(field_at(given, rule.position[array]), late=True)
        case Same() if k in rule.loads and given[k] not in rule.temps:
            field = field_at(given, k)  # `x[i]`: the contents that the kernel met or left
            return stand(field, late=field.storage not in plan.read)
        case _:
            return given[k]


class _Clearing(OpaqueStep):
    """Leaves zero in the gradients of elements that a launch stores, as a step.

    Gradients and their tangents are cleared in the same way, in either direction.

    Args:
        name: The launch.
        env: The gradients.
        adjoints: The programs that clear them, in the order of the stages.
    """

    def __init__(
        self,
        name: str,
        env: _ClearingEnvironment,
        adjoints: Sequence[DerivedCode],
    ) -> None:
        super().__init__(name, [Use(one, True, True) for one in env.targets.values()])
        self._env = env
        self._adjoints = adjoints

    def run(self) -> None:
        """Clear the gradients."""
        self._env.clear(self._adjoints)

    def reverse(self, then: ReverseContext, saved: None) -> None:
        """Clear the gradients of the gradients."""
        self.derivative([then], saved)

    def derivative(self, at: Sequence[ReverseContext], saved: None) -> bool:
        """Clear the gradients of the gradients, and the tangents of these in the same way."""
        for one in at:
            self._clear(one, forward=False)
        return True

    def push(self, at: Sequence[ReverseContext], saved: None) -> bool:
        """Clear the tangents of the gradients."""
        for one in at:
            self._clear(one, forward=True)
        return True

    def _clear(self, then: ReverseContext, *, forward: bool) -> None:
        targets: dict[Storage, Field] = {}
        for storage, one in self._env.targets.items():
            before, after = then[one].grad_out, then[one].grad_in
            assert before is not None and after is not None
            source, targets[storage] = (before, after) if forward else (after, before)
            targets[storage].copy_from(source)
        self._env.on(targets).clear(self._adjoints)


class _ClearingEnvironment(LaunchEnvironment):
    """The gradients of a step, to be set to zero where a launch of it stores.

    Args:
        step: The launch as a step.
        launch: The launch.
        values: Its arguments.
        then: The fields of the step, whose `grad_out` is cleared.

    Attributes:
        targets: The gradients, by the memory of the fields.
    """

    def __init__(
        self, step: RuledLaunch, launch: PreparedLaunch, values: Arguments, then: ReverseContext
    ) -> None:
        super().__init__(launch.code, values)
        self._step = step
        self._then = then
        written = [use.field for use in step.uses if use.writes]
        self._written = {one.storage for one in written}
        gradients = ((one, then[one].grad_out) for one in written if is_float(one.element))
        self.targets = {one.storage: bar for one, bar in gradients if bar is not None}

    def on(self, targets: dict[Storage, Field]) -> _ClearingEnvironment:
        """Return the same for other gradients."""
        twin = copy.copy(self)
        twin.targets = targets
        return twin

    def clear(self, adjoints: Sequence[DerivedCode]) -> None:
        """Run the programs that clear gradients."""
        for one in self.targets.values():
            make_writable(one)
        for adjoint in reversed(adjoints):
            Binding(adjoint, self).launch(self.values)

    def before(self, array: Array) -> Slot:
        field = self.field(array)
        if field in self.code.temps or field.storage in self._written:
            raise NotDifferentiable(
                None,
                f"where {self._step.title} stores depends on what it writes itself, and it has a "
                "rule.",
                "",
                hint="write the places with another kernel, which is launched before it.",
            )
        return Live(self._then[field])

    def after(self, array: Array) -> Slot:
        return self.before(array)

    def bar(self, array: Array) -> Slot:
        field = self.field(array)
        return Live(self.targets[field.storage].under(field.shape))


_KEEPS = {
    (False, False): Keeps.NOTHING,
    (True, False): Keeps.BEFORE,
    (False, True): Keeps.AFTER,
    (True, True): Keeps.BOTH,
}


def rule_arguments(
    rule: Specialisation, launch: PreparedLaunch, given: Arguments, args: CallArgs
) -> Arguments:
    """Return the arguments of a rule's parameters, with 0 for parameters that have another role.

    Args:
        rule: The rule.
        launch: The launch of the kernel.
        given: The arguments of the kernel's own parameters.
        args: The arguments of the call.

    Raises:
        LaunchError: A name that the rule captures has changed.
    """
    known: tuple[Arguments, Captured | None] | None = launch.ruled.get(rule)
    if known is not None:  # usually the captured values are the same as the last time
        values = [*given, *known[0]]
        if known[1] is None or known[1].put(args, values):
            return values
    positions = {name: position for name, position, _ in launch.objects}
    looked_into = {name: args[position] for name, position in positions.items()}
    found = current_captures(rule.captures, launch.arrays, looked_into)
    if found is None:
        raise LaunchError(f"{rule.name}: a name that its rule captures has changed.")
    by_name = sum(isinstance(role, (Before, After, Bar)) for role in rule.roles)
    rest: Arguments = [*found, *(0,) * by_name, *rule.temps]
    values = [*given, *rest]
    launch.ruled[rule] = rest, captured(rule.captures, args, positions, values, len(given))
    return values


def _memory(values: Sequence[Field | float], positions: Iterable[int]) -> set[Storage]:
    """Return the memory of the fields at some positions."""
    return {field_at(values, k).storage for k in positions}
