"""Rules of kernels: a kernel over the same parameters, which reads and changes gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from difftile.ad.derive import derive
from difftile.compile.meanings import meaning_of
from difftile.compile.specialisation import Specialisation
from difftile.diagnostics import Label, LaunchError, render
from difftile.frontend.captures import Capture
from difftile.frontend.lower import Signature, lower, parameters_of
from difftile.frontend.rule_scope import RuleScope
from difftile.frontend.source import source_of
from difftile.ir.derived import Role, Same
from difftile.ir.types import Scalar
from difftile.ops.vocabulary import FieldMeaning, PythonFunction
from difftile.passes.bind_gradients import bind_gradients
from difftile.passes.bounds import guard, unchecked
from difftile.passes.conflicts import clashes, races
from difftile.passes.optimise import normalise
from difftile.passes.reach import reach


@dataclass(frozen=True, slots=True)
class KernelRule:
    """A rule of a kernel.

    Args:
        function: Its Python function.
        approximate: It is no exact derivative by its own account.
    """

    function: PythonFunction
    approximate: bool


@dataclass(frozen=True, slots=True)
class RuleCode:
    """A rule compiled for certain argument types.

    Args:
        code: What is launched: its parameters are those of the kernel without what that captures,
            then what the rule captures, then gradients and contents by name.
        captures: What the rule takes from outside.
        roles: The role of each parameter and hidden field of `code`.
        loads: The positions of the fields, among those without another role, that it reads.
    """

    code: Specialisation
    captures: tuple[Capture, ...]
    roles: tuple[Role, ...]
    loads: frozenset[int]


def check_rule(kernel: PythonFunction, rule: PythonFunction, word: str) -> None:
    """Check that a rule has the parameters of its kernel.

    Raises:
        LaunchError: It has others.
    """
    names = [p.name for p in parameters_of(kernel)]
    given = [p.name for p in parameters_of(rule)]
    if names == given:
        return
    sources = source_of(rule), source_of(kernel)
    labels = [
        Label(source.span(source.tree), f"takes ({', '.join(parameters)})")
        for source, parameters in zip(sources, (given, names), strict=True)
    ]
    title = f"The {word} rule of kernel '{kernel.__name__}' has other parameters."
    raise LaunchError(render(title, labels, (), f"write 'def _({', '.join(names)}):'."))


def compile_rule(
    name: str,
    rule: KernelRule,
    signature: Signature,
    fields: Mapping[str, FieldMeaning],
    float_type: Scalar,
    *,
    forward: bool,
    debug: bool,
) -> RuleCode:
    """Compile a rule for the arguments of a launch.

    Args:
        name: The kernel.
        rule: Its rule.
        signature: What each parameter is given.
        fields: The meanings of the fields among the arguments.
        float_type: The type of literals.
        forward: The rule pushes tangents.
        debug: Check programs and indices.

    Raises:
        KernelError: The rule is no program of the kernel language, or does what a rule cannot.
    """
    scope = RuleScope(name, None, forward)
    source = source_of(rule.function)
    lowered = lower(source, signature, meaning_of, float_type, fields, {}, scope)
    bound = bind_gradients(derive(lowered.program))
    guarded = guard(bound.program)
    checked = guarded if debug else unchecked(bound.program)
    program = normalise(checked, checked=debug)
    code = Specialisation(
        f"{name}_rule",
        bound.program.params,
        program,
        0,
        None,
        None if debug else reach(guarded),
        (*races(program), *(doubt for doubt in clashes(program) if not doubt.of_constants)),
    )
    roles = tuple(bound.role(param) for param in code.params)
    loads = frozenset(
        position
        for stage in code.stages
        for array in stage.loaded
        if isinstance(roles[position := code.position[array]], Same)
    )
    return RuleCode(code, lowered.captures, roles, loads)
