"""Funcs that Python calls: one launch runs a func for each element of its arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, cast

from difftile.compile.annotations import Kind
from difftile.compile.arguments import CallArgs, CallKwargs
from difftile.compile.definition import annotation
from difftile.compile.func import Func
from difftile.compile.generated import CallId, Drawn, Grid
from difftile.diagnostics import GradientCut, LaunchError, did_you_mean
from difftile.fields.array_kinds import Make, kind_among
from difftile.fields.array_like import ArrayLike
from difftile.fields.arrays import is_array
from difftile.fields.exchange import as_integer
from difftile.fields.field import Field
from difftile.fields.halos import common_split
from difftile.fields.numbers import Number, plain_numbers
from difftile.fields.recording import RECORDING, no_grad
from difftile.fields.split import Split
from difftile.fields.step_number import StepNumber, plain_number
from difftile.fields.structs import Member, StructField
from difftile.frontend.mapping import Draw, Each, Form, How, IndexOf, Mapped, Whole
from difftile.ir.types import I32
from difftile.launch.kinds import fields_in, parts_of
from difftile.records import dataclass
from difftile.runtime.inputs import as_input
from difftile.runtime.kernel import Kernel
from difftile.runtime.mapped import MappedBody, ResultTypes
from difftile.runtime.number_flow import is_followed
from difftile.runtime.outputs import CONVERSIONS, KINDS, Converted, as_arrays, fields_for
from difftile.runtime.shapes import MappedArgument, call_shape, shown, spread
from difftile.tracebacks import boundary
from difftile.user_line import warn_user

RESULT = "_result"


@dataclass(frozen=True)
class _FuncLaunch:
    """One call, ready to be launched.

    Args:
        kernel: The kernel.
        args: The arguments of the kernel.
        result: The fields that take the results: one, a tuple of several, or None.
        form: The types of the results.
        cut: Whether gradients end where a result leaves the fields.
        numbers: Whether there are no fields among the arguments.
    """

    kernel: Kernel
    args: CallArgs
    result: object
    form: Form
    cut: bool
    numbers: bool

    def converted(self, convert: Callable[[Member], Converted]) -> Converted:
        """Return the results, converted one by one."""
        converted = tuple(map(convert, cast("tuple[Member, ...]", _parts(self.result))))
        return converted if isinstance(self.form, tuple) else converted[0]


class Caller:
    """A func as Python calls it.

    Args:
        func: The func.
        kind: The kind of results: "field", "numpy", "torch"; None for the kind of the arguments:
            fields, arrays of their library, or Python numbers where all are numbers.
        axes: For some parameters, the axes of the call that the argument runs along; None for an
            argument that each call gets whole.
    """

    def __init__(
        self,
        func: Func,
        kind: str | None = None,
        axes: Mapping[str, tuple[int, ...] | None] | None = None,
    ) -> None:
        self._func = func
        self._kind = kind
        self._axes = dict(axes or {})
        self._kernels: dict[Mapped, Kernel] = {}
        self._results: dict[Mapped, ResultTypes] = {}
        parameters = inspect.signature(func.function).parameters
        for one in parameters.values():
            if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
                raise LaunchError(
                    f"{func!r} has a parameter '{one}'; name its parameters one by one."
                )
        self._parameters = dict(parameters)
        self._signature = inspect.Signature(list(parameters.values()))
        self._asks = {name: annotation(p, func.function) for name, p in parameters.items()}

    def __repr__(self) -> str:
        return repr(self._func)

    def __reduce__(self) -> Any:
        return Caller, (self._func, self._kind, self._axes)

    # Variants

    def return_type(self, kind: object) -> Caller:
        """Return the func with another kind of results; see `Func.return_type`."""
        return self._variant(self._known_kind(kind), self._axes)

    def map(self, **axes: object) -> Caller:
        """Return the func with arguments along other axes of the call; see `Func.map`."""
        found = dict(self._axes)
        for name, given in axes.items():
            if name not in self._parameters:
                raise LaunchError(self._unknown(name))
            found[name] = self._as_axes(name, given)
        return self._variant(self._kind, found)

    def _variant(self, kind: str | None, axes: Mapping[str, tuple[int, ...] | None]) -> Caller:
        made = Caller(self._func, kind, axes)
        made._kernels, made._results = self._kernels, self._results
        return made

    def _as_axes(self, name: str, given: object) -> tuple[int, ...] | None:
        if given is None:
            return None
        several = isinstance(given, (tuple, list))
        parts = list(cast("tuple[object, ...]", given)) if several else [given]
        axes = tuple(as_integer(part) for part in parts)
        found = tuple(axis for axis in axes if axis is not None and axis >= 0)
        if len(found) != len(axes) or len(set(found)) != len(found):
            raise LaunchError(
                f"{self!r}: 'map' takes the axes of the call that '{name}' runs along, such as "
                f"{name}=(0,), or None for the whole field; not {given!r}."
            )
        return found

    def _known_kind(self, kind: object) -> str:
        found = KINDS.get(kind) if isinstance(kind, Hashable) else None
        if found is None:
            raise LaunchError(f'{self!r} returns "field", "numpy" or "torch", not {kind!r}.')
        return found

    # Calls

    @boundary
    def __call__(self, *args: object, _result: object = None, **kwargs: object) -> object:
        """Run the func for each element of its arguments; see `Func.__call__`."""
        kind = self._kind
        if isinstance(_result, (str, type)):
            kind, _result = self._known_kind(_result), None
        launch = self._prepare(args, kwargs, _result)
        launch.kernel(*launch.args)
        if _result is not None:
            return _result
        make = None if kind is not None else self._kind_of(args, kwargs)
        return self._given_back(launch, kind, make)

    @boundary
    def bwds(self, *args: object, _result: object = None, **kwargs: object) -> None:
        """Run the adjoint of one call; see `Func.bwds`."""
        if _result is None:
            raise LaunchError(
                f"{self!r}: bwds() reads the gradient of the results; "
                "pass the field of them as '_result'."
            )
        launch = self._prepare(args, kwargs, _result)
        launch.kernel.bwds(*launch.args)

    @boundary
    def fwds(self, *args: object, _result: object = None, **kwargs: object) -> object:
        """Call the func and push tangents through the call; see `Func.fwds`."""
        launch = self._prepare(args, kwargs, _result)
        launch.kernel.fwds(*launch.args)
        return launch.result

    def _prepare(self, args: CallArgs, kwargs: CallKwargs, result: object) -> _FuncLaunch:
        given = self._bound(args, kwargs)
        arguments = [self._argument(name, value) for name, value in given.items()]
        title = repr(self)
        taker = self._taker(result)
        shape = call_shape(title, arguments, taker)
        hows: list[tuple[str, How]] = []
        passed: dict[str, object] = {}
        for one in arguments:
            how, value = _mapped(one, shape, self._asks[one.name])
            hows.append((one.name, how))
            if not isinstance(how, IndexOf):
                passed[one.name] = value
        by_name = frozenset(
            name for name in given if self._parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        )
        plan = Mapped(self._func, tuple(hows), by_name, (), (), len(shape))
        form, captured = self._results_of(plan, passed).of([*map(_now, passed.values())])
        parts = [
            *(part for name, value in passed.items() for part in parts_of(value, self._asks[name])),
            *captured,
        ]
        graded = any(map(_varies, parts))
        if result is None:
            result = fields_for(form, shape, graded, _split_of(arguments, shape, title))
        else:
            self._check_result(result, form)
        fields = _parts(result)
        names = [RESULT] if not isinstance(form, tuple) else _numbered(RESULT, len(fields))
        sizes = [] if fields else _numbered("_size", len(shape))
        if not fields and not any(isinstance(how, Whole) for _, how in hows):
            raise LaunchError(f"{title} returns nothing that a field could take.")
        passed |= dict(zip(names if fields else [], fields, strict=True))
        passed |= dict(zip(sizes, shape, strict=False))
        mapped = Mapped(
            self._func,
            plan.arguments,
            by_name,
            tuple(names if fields else ()),
            tuple(sizes),
            len(shape),
        )
        kernel = self._kernel(mapped, passed)
        in_structs = any(isinstance(how, Whole) and not _is_field(passed[n]) for n, how in hows)
        shaped = any(one.shape is not None for one in arguments)
        numbers = not shaped and not in_structs and shape == ()
        return _FuncLaunch(kernel, tuple(passed.values()), result, form, graded, numbers)

    def _bound(self, args: CallArgs, kwargs: CallKwargs) -> dict[str, object]:
        """Return the given arguments by name, without defaults."""
        for name in kwargs:
            if name not in self._parameters:
                raise LaunchError(self._unknown(name))
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise LaunchError(f"{self!r}: {error}.") from None
        function = self._func.function
        return {
            name: as_input(
                repr(self), self._parameters[name], function, value, whole=self._takes_whole(name)
            )
            for name, value in bound.arguments.items()
        }

    def _takes_whole(self, name: str) -> bool:
        """Tell whether each call gets a whole field for a parameter."""
        return self._asks[name] == "template" or self._axes.get(name, ()) is None

    def _kind_of(self, args: CallArgs, kwargs: CallKwargs) -> Make | None:
        """Return the kind of array that results are; None if they are fields or numbers."""
        given = (*args, *kwargs.values())
        make = kind_among(given)
        if make is None or any(not is_array(one) and fields_in(one, "") for one in given):
            return None
        return make

    def _unknown(self, name: str) -> str:
        names = list(self._parameters)
        guess = did_you_mean(name, names) or f"it has {', '.join(names) or 'none'}."
        return f"{self!r} has no argument '{name}'; {guess}"

    def _argument(self, name: str, value: object) -> MappedArgument:
        if self._takes_whole(name):
            return MappedArgument(name, value, None)
        shape = value.shape if isinstance(value, (ArrayLike, StructField, Grid)) else None
        return MappedArgument(
            name, value, shape, self._axes.get(name) if shape is not None else None
        )

    def _taker(self, result: object) -> MappedArgument | None:
        """Return the fields that take the results, as a row of the table of shapes.

        Raises:
            LaunchError: The value is not a field, or is one that cannot be written.
        """
        if result is None:
            return None
        shapes: dict[tuple[int, ...], object] = {}
        for part in _parts(result):
            if not isinstance(part, (ArrayLike, StructField)):
                raise LaunchError(
                    f"{self!r}: '_result' is a field, a tuple of fields, "
                    f'"field", "numpy" or "torch", not {shown(part)}.'
                )
            leaves = part.fields() if isinstance(part, StructField) else [("", part)]
            for _, one in leaves:
                if one.window is not None and one.window.repeats:
                    raise LaunchError(
                        f"{self!r}: '_result' is {one!r}, which repeats elements and is not "
                        "written. Give a field of its own."
                    )
            shapes.setdefault(part.shape, part)
        if len(shapes) != 1:
            raise LaunchError(f"{self!r}: the fields of '_result' differ in their shapes.")
        ((shape, part),) = shapes.items()
        return MappedArgument(RESULT, part, shape)

    def _check_result(self, result: object, form: Form) -> None:
        count = len(form) if isinstance(form, tuple) else int(form is not None)
        several = isinstance(form, tuple)
        if isinstance(result, tuple) != several or len(_parts(result)) != count:
            wants = f"a tuple of {count} fields" if several else "one field"
            wants = "nothing" if form is None else wants
            returned = f"{count} values" if several else "nothing" if form is None else str(form)
            raise LaunchError(
                f"{self!r} returns {returned}: its '_result' is {wants}, not {shown(result)}."
            )

    def _results_of(self, plan: Mapped, passed: Mapping[str, object]) -> ResultTypes:
        found = self._results.get(plan)
        if found is None:
            found = self._results[plan] = ResultTypes(self._body(plan, passed))
        return found

    def _kernel(self, mapped: Mapped, passed: Mapping[str, object]) -> Kernel:
        found = self._kernels.get(mapped)
        if found is None:
            body = self._body(mapped, passed)
            found = self._kernels[mapped] = Kernel(self._func.function, body)
        return found

    def _body(self, mapped: Mapped, passed: Mapping[str, object]) -> MappedBody:
        asks = {**self._asks, **dict.fromkeys(mapped.sizes, I32)}
        asks |= dict.fromkeys(mapped.results, "field")
        drawn = {name for name, how in mapped.arguments if isinstance(how, Draw)}
        kinds = {name: I32 if name in drawn else asks[name] for name in passed}
        return MappedBody(self._func, mapped, kinds)

    def _given_back(self, launch: _FuncLaunch, kind: str | None, make: Make | None) -> object:
        if make is not None:
            kind = "array"
        kind = ("number" if launch.numbers else "field") if kind is None else kind
        if kind == "field" or launch.result is None:
            return launch.result
        convert = CONVERSIONS[kind] if make is None else as_arrays(make)
        if launch.cut and kind != "number" and RECORDING.get().recorder is not None:
            text = (
                f"{self!r} returns numbers that vary with fields that have gradients, and the tape "
                "takes them for constants. Write 'return_type(\"field\")', which keeps them."
            )
            warn_user(GradientCut(text))
            with no_grad():
                return launch.converted(convert)
        return launch.converted(convert)


def _mapped(one: MappedArgument, shape: tuple[int, ...], kind: Kind) -> tuple[How, object]:
    """Return how each call gets an argument, and the value that is passed."""
    value = one.value
    if isinstance(value, CallId):
        return IndexOf(tuple(range(len(shape)))), None
    if isinstance(value, Drawn):
        return Draw(value.name == "randn"), value.seed
    if one.shape is None:
        return Whole() if fields_in(value, kind) else Each(), value
    axes = one.along(len(shape))
    if isinstance(value, Grid):
        sizes = zip(axes, value.shape, strict=True)
        return IndexOf(tuple(axis if size == shape[axis] else None for axis, size in sizes)), None
    assert isinstance(value, (ArrayLike, StructField))
    return Each(), spread(value, axes, shape)


def _split_of(
    arguments: Sequence[MappedArgument], shape: tuple[int, ...], title: str
) -> Split | None:
    """Return how results are divided among ranks: as the arguments of their shape are."""
    fields: list[Field] = []
    for one in arguments:
        if isinstance(one.value, Field):
            fields.append(one.value)
        elif isinstance(one.value, StructField):
            fields += [leaf for _, leaf in one.value.fields()]
    return common_split([one for one in fields if one.shape == shape], title)


def _now(value: object) -> object:
    """Return the present numbers of an argument: of step numbers, and without derivatives."""
    return plain_number(value) if isinstance(value, StepNumber) else plain_numbers(value)


def _varies(part: object) -> bool:
    """Tell whether derivatives are needed with respect to a part of an argument."""
    if isinstance(part, (ArrayLike, StructField)):
        return part.has_grads
    return isinstance(part, Number) and is_followed(part)


def _is_field(value: object) -> bool:
    return isinstance(value, (ArrayLike, StructField))


def _parts(result: object) -> CallArgs:
    if result is None:
        return ()
    return cast(CallArgs, result) if isinstance(result, tuple) else (result,)


def _numbered(name: str, count: int) -> list[str]:
    return [f"{name}_{k}" for k in range(count)]
