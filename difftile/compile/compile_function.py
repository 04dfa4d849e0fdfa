"""Functions compiled for the arguments of a launch: kernels and their rules alike."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from difftile.ad.derive import derive
from difftile.compile.definition import Body, lowered_for
from difftile.compile.meanings import meaning_of
from difftile.compile.specialisation import Specialisation
from difftile.compiling import deriving
from difftile.diagnostics import KernelError, Label, LaunchError, render
from difftile.frontend.lower import Lowered, lower, parameters_of
from difftile.frontend.parameters import Signature
from difftile.frontend.rule_scope import RuleScope
from difftile.frontend.source import source_of
from difftile.ir.derived import Derived, primal
from difftile.ir.nodes import Print, Program
from difftile.ir.walk import size_of, walk
from difftile.ops.vocabulary import FieldMeaning, PythonFunction, RuleMeaning
from difftile.passes.bind_gradients import bind_gradients
from difftile.passes.bounds import guard, unchecked
from difftile.passes.conflicts import PossibleConflict, clashes, races
from difftile.passes.known_indices import KnownIndices, known_indices
from difftile.passes.lane_conflicts import check_lanes
from difftile.passes.optimise import normalise
from difftile.substrate import KeptResults, Native, Session, kept_for
from difftile.uncollected import uncollected


@uncollected()
def compile_kernel(
    name: str,
    body: Body,
    rules: Mapping[str, RuleMeaning],
    signature: Signature,
    fields: Mapping[str, FieldMeaning],
    session: Session,
    natives: Mapping[str, Native] = MappingProxyType({}),
) -> Specialisation:
    """Compile a kernel and its rules for the arguments of a launch.

    A rule is a kernel over the same parameters, which reads and changes gradients.

    Args:
        name: The kernel.
        body: The function of the kernel.
        rules: The rules of the kernel: 'backward', 'forward'.
        signature: The argument of each parameter.
        fields: The meanings of the fields among the arguments.
        session: The session.
        natives: The native kernels that may run instead of the kernel, under 'kernel', and of its
            rules, under their words.

    Raises:
        KernelError: A function is not a program of the kernel language, or a rule uses a construct
            that rules do not support.
    """
    started = time.perf_counter()
    with deriving(f"reading {name}"):
        lowered, float_type = lowered_for(body, signature, fields, session)
        code = compile_function(name, lowered, session, native=natives.get("kernel"))
        for word, rule in rules.items():
            source, scope = source_of(rule.function), RuleScope(name, None, word == "forward")
            lowered = lower(source, signature, meaning_of, float_type, fields, {}, scope)
            code.rules[word] = compile_function(
                f"{name}_rule", lowered, session, is_rule=True, native=natives.get(word)
            )
    code.seconds = time.perf_counter() - started
    return code


def compile_function(
    name: str,
    lowered: Lowered,
    session: Session,
    *,
    is_rule: bool = False,
    native: Native | None = None,
) -> Specialisation:
    """Compile a lowered function.

    Args:
        name: The function.
        lowered: The program of the function.
        session: The session; under debug, assertions and indices are checked while kernels run.
        is_rule: Whether gradients and contents that the program names become parameters.
        native: Native kernels that may run instead.

    Raises:
        KernelError: The function has breakpoints, and kernels are compiled.
    """
    if session.compiles:
        _refuse_stops(lowered.program)
    kept = _kept(lowered, session, is_rule=is_rule)
    found = kept.get("function", lambda: _analysed(lowered, session, is_rule=is_rule))
    derived, program, tests, doubts = found
    code = Specialisation(name, derived, program, lowered, session, tests, doubts, native, kept)
    code.sizes = {"as written": size_of(lowered.program), "normalised": size_of(program)}
    return code


def _analysed(
    lowered: Lowered, session: Session, *, is_rule: bool
) -> tuple[Derived, Program, KnownIndices | None, list[PossibleConflict]]:
    """Return the program of a function, its normal form, and what is checked at launches."""
    written = derive(lowered.program)
    derived = bind_gradients(written) if is_rule else primal(written)
    checked = guard(derived.program) if session.debug else unchecked(derived.program)
    program = normalise(checked, checked=session.debug)
    check_lanes(program)
    doubts = list(races(program))
    if lowered.one_world is not None:
        doubts += [doubt for doubt in clashes(program) if not doubt.of_constants]
        remedy = "give the field an axis of worlds, so that each world has its own."
        doubts = [replace(doubt, remedy=remedy) for doubt in doubts]
        doubts += races(normalise(unchecked(derive(lowered.one_world))))
    if is_rule:
        doubts += [doubt for doubt in clashes(program) if not doubt.of_constants]
    tests = None if session.debug else known_indices(derived.program)
    return derived, program, tests, doubts


def _kept(lowered: Lowered, session: Session, *, is_rule: bool) -> KeptResults:
    """Return what is kept on disk of a lowered function.

    The launch knows the parameters and hidden fields as the frontend has made them.
    """
    programs = [one for one in (lowered.program, lowered.one_world) if one is not None]
    own = [param for one in programs for param in (*one.params, *one.temps)]
    own += () if lowered.result is None else lowered.result.cells
    return kept_for(session.kept, own, (session.settings, is_rule, programs))


def _refuse_stops(program: Program) -> None:
    for stmt in walk(program.body):
        if isinstance(stmt, Print) and stmt.stops:
            raise KernelError(
                "A compiled kernel has no breakpoints.",
                stmt.span,
                hint="run it as Python: dt.init(arch='python'), or DIFFTILE_ARCH=python.",
            )


def check_rule(kernel: PythonFunction, rule: PythonFunction, word: str) -> None:
    """Check that a rule has the parameters of its kernel.

    Raises:
        LaunchError: The rule has other parameters.
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
