"""The entry of the frontend: a Python function and the types of its arguments to a program."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace

from difftile.diagnostics import CallMismatch, KernelError, RoleMismatch
from difftile.frontend.captures import Capture
from difftile.frontend.context import Context, FunctionScope, Result
from difftile.frontend.convert import vector_of
from difftile.frontend.expressions import EXPRESSIONS
from difftile.frontend.items import FieldRef, Tuple
from difftile.frontend.jumps import RETURNED, returns, run_body
from difftile.frontend.mapping import Form, Mapped, called_from_python, form_of, run_mapping
from difftile.frontend.parameters import Parameters, Signature, ThreadIndex
from difftile.frontend.results import finished
from difftile.frontend.rule_scope import RuleScope
from difftile.frontend.source import Source, source_of
from difftile.frontend.statements import STATEMENTS
from difftile.frontend.threads import OneThread, alone, run_threads
from difftile.frontend.worlds import WorldFields, no_results, open_worlds, run_worlds
from difftile.ir.nodes import Const, Load, Program, Value, Var
from difftile.ir.types import BOOL, Scalar
from difftile.ir.walk import WRITES, regions, walk
from difftile.ops.vocabulary import FieldMeaning, Meanings, PythonFunction
from difftile.records import dataclass

# Python takes 100 levels of indentation, and kernels have some around the user's.
_DEEPEST = 90


@dataclass(frozen=True, slots=True)
class Lowered:
    """A program, and how its parameters are filled at a launch.

    Args:
        program: The program; its parameters are the user's run-time ones, then the captured ones.
        captures: The captured objects, in the order in which they were met.
        streams: How many streams of random numbers a launch takes. If any, two numbers follow the
            captured parameters: the seed and the first stream.
        result: The values that the kernel returns to Python.
        form: The type of a func's result, where that was asked for.
        world: The index of the world, which no loop binds yet, and the number of worlds; where a
            kernel is lowered for many worlds and its loops are to run for all of them.
        one_world: For a kernel for many worlds, whose threads run its loops one after the other:
            the program of one world, in which races are looked for. Its parameters are the same.
        one_thread: The kernel declares an array of a thread outside of its loops.
    """

    program: Program
    captures: tuple[Capture, ...]
    streams: int
    result: Result | None
    form: Form = None
    world: tuple[Var, Value] | None = None
    one_world: Program | None = None
    one_thread: bool = False


def lower(
    source: Source,
    signature: Signature,
    meanings: Meanings,
    float_type: Scalar,
    fields: Mapping[str, FieldMeaning],
    roles: Mapping[str, str],
    rule: RuleScope | None = None,
    worlds: WorldFields | None = None,
) -> Lowered:
    """Lower a kernel for arguments of certain types.

    Args:
        source: The decorated function.
        signature: Type of each parameter, by name, in order.
        meanings: Gives the meaning of a Python object in a kernel.
        float_type: The type of float literals and of Python floats.
        fields: The field passed for a parameter, to recognise it when it is captured too.
        roles: Declared roles ('In', 'Out', 'InOut') by parameter.
        rule: The function is a rule of a kernel, which reads and changes gradients.
        worlds: The kernel is one of a single world, and is lowered for many.

    Raises:
        KernelError: The body is not a program of the kernel language.
        RoleMismatch: An `In` field is written, or an `Out` field is read.
    """
    world: list[tuple[Var, Value]] = []

    def run(cx: Context) -> None:
        name = next((n for n, given in signature.items() if isinstance(given, ThreadIndex)), None)
        if worlds is not None and not worlds.slots:
            run_worlds(cx, signature, worlds)
        elif name is None:
            if worlds is not None:
                world[:] = [open_worlds(cx, signature, worlds)]  # again where one thread runs all
            if any(True for _ in returns(source.tree.body)):
                cx.env[RETURNED] = Const(False, BOOL)
            run_body(cx, source.tree.body)
        else:
            sizes = cx.env[name]
            assert isinstance(sizes, Tuple)
            run_threads(cx, name, [cx.value(size) for size in sizes.items])
        cx.result = finished(cx)
        if worlds is not None and cx.result is not None and cx.result.types:
            raise no_results(cx)

    def context(*, alone: bool) -> Context:
        scope = FunctionScope(source, rule=rule, alone=alone)
        return Context(scope, meanings, float_type, EXPRESSIONS, STATEMENTS, vector_of)

    lowered = _lower(context, signature, fields, run)
    for stmt in walk(lowered.program.body):
        if not isinstance(stmt, (Load, *WRITES)) or stmt.array.size is not None:
            continue
        # The role of a struct field holds for its members.
        name, role = stmt.array.name, roles.get(stmt.array.name.partition(".")[0])
        if role == "Out" and isinstance(stmt, Load):
            raise RoleMismatch(stmt.span, name, "dt.Out", "read here", "declare it 'dt.InOut'.")
        if role == "In" and not isinstance(stmt, Load):
            raise RoleMismatch(stmt.span, name, "dt.In", "written here", "declare it 'dt.InOut'.")
    return replace(lowered, world=world[0]) if world else lowered


def lower_mapping(
    source: Source,
    mapping: Mapped,
    signature: Signature,
    meanings: Meanings,
    float_type: Scalar,
    fields: Mapping[str, FieldMeaning],
) -> Lowered:
    """Lower the calls of a func on elements of fields; without results, find the form of one call.

    Args:
        source: The func.
        mapping: How the calls get their arguments, and where their results go.
        signature: Type of each argument and result, by name, in order.
        meanings: Gives the meaning of a Python object in a kernel.
        float_type: The type of float literals and of Python floats.
        fields: The field passed for a parameter, to recognise it when it is captured too.

    Raises:
        KernelError: The func is not of the kernel language, or takes other arguments.
    """
    form: list[Form] = []

    def run(cx: Context) -> None:
        if mapping.results or mapping.sizes:
            run_mapping(cx, mapping)
        else:
            form.append(form_of(cx, mapping))

    def context(*, alone: bool) -> Context:
        scope = FunctionScope(called_from_python(source), alone=alone)
        return Context(scope, meanings, float_type, EXPRESSIONS, STATEMENTS, vector_of)

    lowered = _lower(context, signature, fields, run)
    return replace(lowered, form=form[0]) if form else lowered


def _lower(
    context: Callable[..., Context],
    signature: Signature,
    fields: Mapping[str, FieldMeaning],
    run: Callable[[Context], None],
) -> Lowered:
    try:
        return _lowered(context(alone=False), signature, fields, run)
    except OneThread:
        return _lowered(context(alone=True), signature, fields, run)


def _lowered(
    cx: Context,
    signature: Signature,
    fields: Mapping[str, FieldMeaning],
    run: Callable[[Context], None],
) -> Lowered:
    made = Parameters(cx)
    for name, given in signature.items():
        cx.env[name] = made.item(name, given)
    params = made.params
    for name, item in made.items.items():
        if isinstance(item, FieldRef) and name in fields:
            cx.outside.arrays[fields[name].identity] = FieldRef(item.array)
    cx.outside.memories.update(meaning.memory for meaning in fields.values())
    try:
        with alone(cx) if cx.scope.alone else nullcontext():
            run(cx)
    except RecursionError:
        raise KernelError(
            "Expressions or statements are nested too deeply.",
            cx.b.span,
            hint="compute parts of an expression in statements of their own, or write a loop.",
        ) from None
    captures = tuple(cx.outside.captures.values())
    params += [capture.param for capture in captures if capture.param is not None]
    if cx.draws.used:
        params += [cx.draws.seed, cx.draws.first]
    program = Program(cx.source.name, tuple(params), cx.b.block(), tuple(cx.temps))
    _check_depth(program)
    streams = cx.draws.streams if cx.draws.used else 0
    return Lowered(program, captures, streams, cx.result, one_thread=cx.scope.alone)


def _check_depth(program: Program) -> None:
    """Check that the branches and loops of a program can be written one inside the other.

    Raises:
        KernelError: They are nested too deeply.
    """
    due = [(program.body, 0)]
    while due:
        block, depth = due.pop()
        for stmt in block.stmts:
            inner = regions(stmt)
            if inner and depth == _DEEPEST:
                raise KernelError(
                    f"Branches and loops are nested more than {_DEEPEST} deep.",
                    stmt.span,
                    "one more here",
                    hint="each 'elif' is inside of the 'else' before it: read values from a field "
                    "by an index, or call funcs in several 'if' statements.",
                )
            due += [(region, depth + 1) for region in inner]


def parameters_of(function: PythonFunction) -> list[inspect.Parameter]:
    """Return the parameters of a kernel.

    Raises:
        CallMismatch: It has `*args` or `**kwargs`.
    """
    parameters = list(inspect.signature(function).parameters.values())
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            source = source_of(function)
            arguments = source.tree.args
            node = arguments.vararg or arguments.kwarg or source.tree
            raise CallMismatch(
                source.span(node),
                f"kernel '{function.__name__}' has a parameter '{parameter}'.",
                "name its parameters one by one.",
            )
    return parameters
