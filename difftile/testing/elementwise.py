"""Kernels that map a func over fields, element by element."""

from __future__ import annotations

import linecache
from collections.abc import Collection, Mapping, Sequence
from itertools import count
from types import FunctionType
from typing import Any

from difftile.diagnostics import LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.create import field
from difftile.fields.structs import StructField
from difftile.ir.types import F64, is_float, with_scalar
from difftile.runtime.kernel import Kernel, kernel

_numbers = count()


class ReturnsNothing(LaunchError):
    """The func has no result: it is called for its effect on fields."""


def call_once(func: Any, arguments: Mapping[str, Any], elements: Collection[str]) -> Kernel:
    """Return a kernel that calls a func once.

    Args:
        func: The func.
        arguments: Its arguments, by parameter.
        elements: The names of fields of one element that are passed as this element.
    """
    given = (f"{name}[None]" if name in elements else name for name in arguments)
    return _kernel("once", [*arguments], [f"f({', '.join(given)})"], func)


def map_over(
    func: Any, arguments: Mapping[str, Any], whole: Collection[str] = ()
) -> tuple[Kernel, dict[str, ArrayLike]]:
    """Return a kernel that maps a func over its arguments, and fields for its results.

    Fields of one shape are mapped element by element; fields of shape () pass their element to all
    calls, and numbers are passed on. The kernel takes the arguments and then the results, by name.

    Args:
        func: The func, or one that is bound to an object.
        arguments: Its arguments, by parameter.
        whole: The names of fields that are passed whole.

    Raises:
        ReturnsNothing: The func has no result.
        LaunchError: The shapes differ, or the func returns no float.
    """
    elements = {
        name: value
        for name, value in arguments.items()
        if isinstance(value, (ArrayLike, StructField)) and name not in whole
    }
    shapes = {value.shape for value in elements.values() if value.shape}
    if len(shapes) > 1:
        shown = ", ".join(f"'{name}' {value.shape}" for name, value in elements.items())
        raise LaunchError(f"{func!r} is mapped over fields of one shape or shape (), not {shown}.")
    shape = shapes.pop() if shapes else ()

    def call(index: str) -> str:
        at = {name: index if value.shape else "None" for name, value in elements.items()}
        given = (f"{name}[{at[name]}]" if name in at else name for name in arguments)
        return f"f({', '.join(given)})"

    called = call(", ".join("0" for _ in shape))
    probe = _kernel("probe", [*arguments], [f"return {called}"], func)
    types = probe.result_types(*arguments.values())
    if not types:
        raise ReturnsNothing(f"{func!r} returns nothing, so it is not mapped.")
    if not any(is_float(type_) for type_ in types):
        raise LaunchError(f"{func!r} returns no float, so it has no derivative.")
    names = ["result"] if len(types) == 1 else [f"result_{k}" for k in range(len(types))]
    results: dict[str, ArrayLike] = {
        name: field(with_scalar(type_, F64) if is_float(type_) else type_, shape)
        for name, type_ in zip(names, types, strict=True)
    }
    indices = [f"i{axis}" for axis in range(len(shape))]
    index = ", ".join(indices) or "None"
    locals_ = [f"z{k}" for k in range(len(names))]
    body = [f"{', '.join(locals_)} = {call(index)}"]
    body += [f"{name}[{index}] = {z}" for name, z in zip(names, locals_, strict=True)]
    if indices:
        body = [f"for {', '.join(indices)} in {names[0]}:", *(f"    {line}" for line in body)]
    return _kernel("mapped", [*arguments, *names], body, func), results


def _kernel(name: str, params: Sequence[str], body: Sequence[str], func: Any) -> Kernel:
    """Compile a kernel from text, which the frontend reads back through `linecache`."""
    text = "".join((f"def {name}({', '.join(params)}):\n", *(f"    {line}\n" for line in body)))
    file = f"<{name} {func_name(func)} {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict[str, Any] = {"f": func}
    exec(compile(text, file, "exec", dont_inherit=True), namespace)
    made: FunctionType = namespace[name]
    return kernel(made)


def func_name(func: Any) -> str:
    """Return the name of a function, as its author wrote it."""
    return getattr(func, "__name__", repr(func))
