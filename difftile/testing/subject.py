"""The subject of a check: a kernel, func, op or function, with its arguments by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any, cast

import numpy as np

from difftile.compile.func import Func
from difftile.compile.methods import BoundKernel
from difftile.diagnostics import LaunchError, brief
from difftile.fields.array_like import ArrayLike
from difftile.fields.create import from_numpy
from difftile.fields.rows import Rows
from difftile.fields.structs import StructField
from difftile.ir.types import is_float
from difftile.runtime.custom_op import BoundOp, CustomOp
from difftile.runtime.kernel import Kernel
from difftile.testing.elementwise import func_name, map_over
from difftile.testing.naming import FieldNames, fields_in


@dataclass(frozen=True, slots=True)
class Subject:
    """A function to check.

    Args:
        title: Its description in messages.
        run: Runs it.
        arguments: Its arguments, by name.
        outputs: The fields for its results, by name, if they are known beforehand.
        is_launch: Whether it is a single launch, so that Python reads no field.
        takes_all: Whether captured fields are checked as well.
        push: Runs it in forward mode, if possible.
        function: The user's object, for the names of captured fields.
        each: Whether the arguments are requested fields, each of which has to be checkable.
    """

    title: str
    run: Callable[[], Any]
    arguments: dict[str, Any]
    outputs: dict[str, ArrayLike]
    is_launch: bool
    takes_all: bool
    push: Callable[[], None] | None = None
    function: Any = None
    each: bool = False

    def names(self) -> FieldNames:
        """Return the names of arguments and of objects that a Python function captures.

        The fields that kernels and funcs capture have names already.
        """
        arguments = [(name, one) for name, one in self.arguments.items() if name]
        return FieldNames([*arguments, *([] if self.is_launch else [("", self.function)])])


def subject_of(f: Any, given: Any) -> Subject:
    """Return the subject for a function and its arguments.

    Raises:
        LaunchError: The function does not take the arguments.
    """
    single = isinstance(given, (ArrayLike, StructField, Rows, np.ndarray))
    if single or not isinstance(given, Iterable):
        given = (given,)
    by_name = dict(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else {}
    args = () if by_name else tuple(cast("Iterable[Any]", given))
    args = tuple(map(_as_field, args))
    by_name = {name: _as_field(value) for name, value in by_name.items()}
    if isinstance(f, Func) or isinstance(getattr(f, "__func__", None), Func):
        arguments = _bound(f, args, by_name)
        mapped, results = map_over(f, arguments)
        return mapped_subject(f, mapped, arguments, results)
    if not callable(f):
        raise LaunchError(f"gradcheck() takes a kernel, a func or a function, not {brief(f)}.")
    is_launch, is_op = isinstance(f, (Kernel, BoundKernel)), isinstance(f, (CustomOp, BoundOp))
    kind = "kernel " if is_launch else "custom op " if is_op else ""
    title = f"{kind}'{func_name(f)}'"
    if not kind and (args or by_name) and not inspect.signature(f).parameters:
        asked = by_name or _by_name(f, args)
        return Subject(title, f, asked, {}, False, False, function=f, each=True)
    arguments = _bound(f, args, by_name)

    def run() -> Any:
        result: object = f(*args, **by_name)
        return None if is_op else result  # an op returns saved values for its rules

    takes_all = bool(kind) or not arguments
    return Subject(title, run, arguments, {}, is_launch, takes_all, function=f)


def mapped_subject(
    func: Any, mapped: Kernel, arguments: dict[str, Any], results: Mapping[str, ArrayLike]
) -> Subject:
    """Return a func that a kernel maps over fields as a subject, with both modes."""
    everything = {**arguments, **results}
    return Subject(
        f"func '{func_name(func)}'",
        lambda: mapped(**everything),
        arguments,
        {name: one for name, one in results.items() if is_float(one.element)},
        True,
        True,
        lambda: mapped.fwds(**everything),
        function=func,
    )


def _as_field(value: Any) -> Any:
    """Return an array as a field, floats in double precision; other values as they are."""
    if not isinstance(value, np.ndarray):
        return value
    array = cast("np.ndarray[Any, Any]", value)
    if array.dtype.kind == "f":
        return from_numpy(array.astype(np.float64), grad=True)
    return from_numpy(array)


def _bound(f: Any, args: tuple[Any, ...], by_name: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments by parameter name."""
    function = f.function if isinstance(f, (Func, Kernel)) else f
    signature = inspect.signature(function)
    if isinstance(f, MethodType):
        own = list(inspect.signature(f.__func__).parameters.values())[1:]
        signature = inspect.Signature(own)
    try:
        bound = signature.bind(*args, **by_name)
    except TypeError as error:
        raise LaunchError(f"{f!r} does not take these arguments: {error}.") from None
    found: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            found |= {f"{name}[{k}]": part for k, part in enumerate(value)}
        elif kind is inspect.Parameter.VAR_KEYWORD:
            found |= value
        else:
            found[name] = value
    return found


def _by_name(f: Any, asked: Sequence[Any]) -> dict[str, Any]:
    """Return fields that a function captures by unique names.

    A field without a name, or whose name is taken, is named by its position.
    """
    names, found, known = FieldNames([("", f)]), dict[str, Any](), set[int]()
    for k, one in enumerate(asked):
        if id(one) in known:
            continue
        known.add(id(one))
        name = names.of(one)
        if not name or name in found:
            name = f"{name}, fields[{k}]" if name else f"fields[{k}]"
            name += f" of shape {one.shape}" if isinstance(one, ArrayLike) else ""
        found[name] = one
    return found


def leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of an argument with their names, and its other contents."""
    if isinstance(value, StructField):
        yield from value.fields(name)
    elif isinstance(value, Rows):
        yield from ((f"{name}.{member}" if name else member, one) for member, one in value.items())
    elif isinstance(value, (list, tuple)):
        for k, part in enumerate(cast("Sequence[Any]", value)):
            yield from leaves(f"{name}[{k}]", part)
    elif isinstance(value, Mapping):
        for key, part in cast("Mapping[Any, Any]", value).items():
            yield from leaves(f"{name}[{key!r}]", part)
    else:
        yield name, value


def held(name: str, value: Any) -> list[tuple[str, ArrayLike]]:
    """Return the fields inside of an argument that is not a field itself, with their names."""
    return [] if isinstance(value, ArrayLike) else list(fields_in(name, value))
