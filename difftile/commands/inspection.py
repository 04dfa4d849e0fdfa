"""Explanation of the kernels of a file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import getattr_static, signature
from pathlib import Path
from types import ModuleType
from typing import Any

from difftile.arguments import Parser, did_you_mean
from difftile.commands.loading import Unloaded, load
from difftile.commands.specimens import Specimen, Unclear, arguments_of, read, suggestion
from difftile.compile.func import Func
from difftile.diagnostics import DifftileError, FieldError, LaunchError
from difftile.runtime.kernel import Kernel
from difftile.runtime.measured_schedules import (
    MeasuredSteps,
    measured_schedules,
    measurements_report,
)


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """The request of `difftile explain`.

    Args:
        file: The Python file.
        kernel: Name of the kernel, or CLASS.METHOD; None for all.
        args: The types of its arguments.
        source: Print the adjoint too.
        measure: Measure the steps of parallel loops instead.
        argv: Run the file as a program with these arguments; None to import it.
    """

    file: Path
    kernel: str | None
    args: str | None
    source: bool
    measure: bool
    argv: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class FoundKernel:
    """A kernel in a file.

    Args:
        name: Its name, or CLASS.METHOD.
        kernel: The kernel.
        owner: The class of a method.
    """

    name: str
    kernel: Kernel
    owner: type | None = None


def inspect(task: ExplainRequest, parser: Parser) -> int:
    """Print the explanation; return the exit code. Mistakes in the arguments end the process."""
    try:
        said = None if task.args is None else read(task.args)
    except Unclear as error:
        parser.error(f"--args: {error}")
    try:
        module = load(task.file, task.argv)
    except Unloaded as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return 1
    if task.kernel is not None:
        chosen = [_named(task, module, parser)]
    else:
        chosen = kernels_of(module)
        if not chosen:
            parser.error(f"there is no kernel in '{task.file}', at the top of it or in a class")
        if len(chosen) > 1 and task.argv is not None:
            chosen = [one for one in chosen if _of_last_launch(one) is not None]
            if not chosen:
                parser.error(f"'{task.file}' launched none of its kernels")
        elif len(chosen) > 1 and said is not None:
            parser.error(f"--args is for one kernel: name it, as in {task.file}:{chosen[0].name}")
        elif len(chosen) > 1:
            shown = [f"{one.name}({', '.join(_parameters(one))})" for one in chosen]
            width = max(map(len, shown))
            print(f"{task.file} has {len(chosen)} kernels:")
            for one, text in zip(chosen, shown, strict=True):
                print(f"  {text:{width}}  line {_line(one)}")
            print(f"Explain one with: difftile explain {task.file}:{chosen[0].name}")
            return 0
    texts: list[str] = []
    for one in chosen:
        try:
            if task.measure:
                texts.append(_measured(one, task))
            else:
                texts.append(_explained(one, task, module, said))
        except (Unclear, FieldError, LaunchError) as error:
            parser.error(str(error))
        except DifftileError as error:
            print(f"{parser.prog}: error: {error}", file=sys.stderr)
            return 1
    print("\n\n".join(texts))
    return 0


# Finding kernels


def kernels_of(module: ModuleType) -> list[FoundKernel]:
    """Return the kernels that a file itself defines, in order of their lines."""
    found: list[FoundKernel] = []
    for name, value in vars(module).items():
        if isinstance(value, Kernel):
            found.append(FoundKernel(name, value))
        elif isinstance(value, type) and value.__module__ == module.__name__:
            bases = reversed(value.__mro__)
            members = {key: member for base in bases for key, member in vars(base).items()}
            found += [
                FoundKernel(f"{name}.{key}", member, value)
                for key, member in members.items()
                if isinstance(member, Kernel)
            ]
    own = [one for one in found if one.kernel.function.__module__ == module.__name__]
    distinct = {id(one.kernel): one for one in reversed(own)}
    return sorted(distinct.values(), key=_line)


def _line(found: FoundKernel) -> int:
    return found.kernel.function.__code__.co_firstlineno


def _parameters(found: FoundKernel) -> list[str]:
    return list(signature(found.kernel.function).parameters)


def _named(task: ExplainRequest, module: ModuleType, parser: Parser) -> FoundKernel:
    assert task.kernel is not None
    first, *rest = task.kernel.split(".")
    value: Any = getattr(module, first, None)
    owner: type | None = None
    for name in rest:
        owner = value if isinstance(value, type) else None
        value = None if value is None else getattr_static(value, name, None)
    if isinstance(value, Kernel):
        return FoundKernel(task.kernel, value, owner)
    if isinstance(value, Func):
        parser.error(f"'{task.kernel}' is a func: explain a kernel that calls it")
    if value is not None:
        parser.error(f"'{task.kernel}' in '{task.file}' is not a kernel: use @dt.kernel")
    names = [one.name for one in kernels_of(module)]
    otherwise = f"it has {', '.join(names)}" if names else "it has none"
    hint = did_you_mean(task.kernel, names, otherwise)
    parser.error(f"there is no kernel '{task.kernel}' in '{task.file}'{hint}")


# Explaining them


def _of_last_launch(found: FoundKernel) -> str | None:
    """Return the explanation of the last launch, or None if there is none."""
    try:
        found.kernel.source()  # a kernel without parameters can be explained without a launch, too
        return found.kernel.explain()
    except LaunchError:  # also after dt.gradcheck, which clears its launches
        return None


def _explained(
    found: FoundKernel, task: ExplainRequest, module: ModuleType, said: dict[str, Specimen] | None
) -> str:
    kernel = found.kernel
    last = _of_last_launch(found) if said is None else None
    if last is not None:
        parts = [last]
    elif task.argv is not None:
        raise Unclear(f"'{task.file}' did not launch '{found.name}'")
    else:
        owner, given = found.owner, list[Any]()
        takes_self = owner is not None and next(iter(_parameters(found)), "") == "self"
        if owner is not None and takes_self:
            given = [value for value in vars(module).values() if isinstance(value, owner)][:1]
            if not given:
                raise Unclear(
                    f"'{found.name}' is a method, and there is no '{owner.__name__}' at the top of "
                    "the file: run it with --run"
                )
        types = suggestion(kernel.function, takes_self)
        if said is None and types:
            raise Unclear(
                f"importing '{task.file}' does not launch '{found.name}': run it with --run, or "
                f'give the types of the arguments, as in --args "{types}"'
            )
        named = arguments_of(kernel.function, said or {}, takes_self)
        parts = [kernel.explain(*given, **named)]
    if task.source:
        parts.append(kernel.source("adjoint") or "There is no adjoint: no field of floats.")
    return "\n\n".join(parts)


def _measured(found: FoundKernel, task: ExplainRequest) -> str:
    """Return a table of the steps that the loops of the last launch can have, with their times."""
    _of_last_launch(found)
    launch = found.kernel.latest_launch
    if launch is None:
        more = "" if task.argv is not None else ": run it with --run"
        raise Unclear(f"--try needs a launch of '{found.name}'{more}")
    if not launch.session.schedules:
        raise Unclear("--try measures compiled code: leave debug=True and arch='python' out")
    measured: list[MeasuredSteps] = []
    for one in measured_schedules(launch):
        place = f"{found.name}, {one.stage}, line {one.line}"
        print(f"{place}: {one.steps}: {one.seconds * 1e3:.4f} ms", file=sys.stderr, flush=True)
        measured.append(one)
    return f"{found.name}\n\n{measurements_report(found.name, measured)}"
