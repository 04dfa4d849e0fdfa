"""What is checked: a kernel, a func or a function of launches, with its arguments by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any, cast

import numpy as np

from difftile.compile.func import Func
from difftile.compile.methods import BoundKernel
from difftile.diagnostics import LaunchError
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
    """What is checked.

    Args:
        title: What it is, in words.
        run: Runs it.
        arguments: What it was given, by name.
        outputs: Fields that take its results, by name, where they are known beforehand.
        is_launch: Whether it is one launch, so that Python reads no field.
        push: Runs it and pushes tangents, if it can.
        takes_all: Whether fields that it takes from outside are checked as well.
        function: What the user passed, for the names of fields that it takes from outside.
        each: Whether the arguments are fields that were asked for one by one, so that it is an
            error if one cannot be checked.
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
        """Return the names of its arguments, and of what a function takes from outside.

        Kernels and funcs know best how they call what they take.
        """
        arguments = [(name, one) for name, one in self.arguments.items() if name]
        return FieldNames([*arguments, *([] if self.is_launch else [("", self.function)])])


def subject_of(f: Any, given: Any) -> Subject:
    """Return what is checked, given a function and its arguments.

    Raises:
        LaunchError: It cannot be called with them.
    """
    alone = isinstance(given, (ArrayLike, StructField, Rows, np.ndarray))
    if alone or not isinstance(given, Iterable):
        given = (given,)
    by_name = dict(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else {}
    args = () if by_name else tuple(cast("Iterable[Any]", given))
    args = tuple(map(_as_field, args))
    by_name = {name: _as_field(value) for name, value in by_name.items()}
    if isinstance(f, Func) or isinstance(getattr(f, "__func__", None), Func):
        arguments = _bound(f, args, by_name)
        mapped, results = map_over(f, arguments)
        everything = {**arguments, **results}
        title = f"func '{func_name(f)}'"
        floats = {name: one for name, one in results.items() if is_float(one.element)}
        return Subject(
            title, lambda: mapped(**everything), arguments, floats, True, True, function=f
        )
    if isinstance(f, (Kernel, BoundKernel)):
        arguments = _bound(f, args, by_name)
        title = f"kernel '{func_name(f)}'"
        return Subject(title, lambda: f(*args, **by_name), arguments, {}, True, True, function=f)
    if isinstance(f, (CustomOp, BoundOp)):
        arguments = _bound(f, args, by_name)

        def run() -> None:
            f(*args, **by_name)  # what it returns is for its rules

        title = f"custom op '{func_name(f)}'"
        return Subject(title, run, arguments, {}, False, True, function=f)
    if not callable(f):
        raise LaunchError(f"A kernel, a func or a function is checked, not {f!r}.")
    title = f"'{func_name(f)}'"
    if (args or by_name) and not inspect.signature(f).parameters:
        asked = by_name or _by_name(f, args)
        return Subject(title, f, asked, {}, False, False, function=f, each=True)
    arguments = _bound(f, args, by_name)
    return Subject(
        title, lambda: f(*args, **by_name), arguments, {}, False, not arguments, function=f
    )


def _as_field(value: Any) -> Any:
    """Return an array as a field, in double precision if it is one of floats."""
    if not isinstance(value, np.ndarray):
        return value
    array = cast("np.ndarray[Any, Any]", value)
    if array.dtype.kind == "f":
        return from_numpy(array.astype(np.float64), grad=True)
    return from_numpy(array)


def _bound(f: Any, args: tuple[Any, ...], by_name: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments by parameter."""
    function = f.function if isinstance(f, (Func, Kernel)) else f
    signature = inspect.signature(function)
    if isinstance(f, MethodType):
        own = list(inspect.signature(f.__func__).parameters.values())[1:]
        signature = inspect.Signature(own)
    try:
        bound = signature.bind(*args, **by_name)
    except TypeError as error:
        raise LaunchError(f"{f!r} does not take what it is given: {error}.") from None
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
    """Return fields that a function takes from outside, each by a name of its own.

    What no name leads to is called by its place, and so is what another one has the name of.
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
    """Yield what an argument is made of: fields by name, and all that is no field."""
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
    """Return the fields that an object among the arguments holds, by name."""
    return [] if isinstance(value, ArrayLike) else list(fields_in(name, value))
