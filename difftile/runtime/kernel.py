"""`@dt.kernel`: specialising a function on its arguments, and launching it."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Hashable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Protocol, cast

import numpy as np

from difftile.diagnostics import LaunchError, did_you_mean
from difftile.fields.field import Field
from difftile.fields.recording import OPEN_IN, OPEN_TAPE
from difftile.frontend.captures import Capture, key_of, look_up
from difftile.frontend.lower import Given, Known, lower, parameters_of
from difftile.frontend.source import Source, source_of
from difftile.ir.nodes import Array
from difftile.ir.types import (
    BOOL,
    FLOATS,
    I32,
    Scalar,
    is_float,
    scalar_of,
    shape_of,
)
from difftile.ops.vocabulary import FuncMeaning, OpName, TypeName
from difftile.passes.bounds import guard, unchecked
from difftile.passes.conflicts import check_races
from difftile.passes.optimise import normalise
from difftile.passes.stages import split
from difftile.runtime.arguments import AllPassed, first_given, meanings_of, passed
from difftile.runtime.call import Call, Number, picker
from difftile.runtime.explicit import run_adjoint, run_tangents
from difftile.runtime.func import Func
from difftile.runtime.meanings import meaning_of
from difftile.runtime.roles import role_of
from difftile.runtime.specialisation import Specialisation
from difftile.runtime.stage import Stage
from difftile.substrate.device import Session, current
from difftile.substrate.names import value_type
from difftile.substrate.report import raise_first

_I32_LIMIT = 2**31


class LaunchRecorder(Protocol):
    """An open tape, as kernels see it."""

    def launch(self, call: Call, values: list[Any]) -> None:
        """Run a kernel and record it."""
        ...


@dataclass(frozen=True, slots=True)
class _Found:
    """A specialisation and the captures that it depends on."""

    captures: tuple[Capture, ...]
    code: Specialisation
    session: Session


class Kernel:
    """A kernel: call it with fields and numbers to launch it.

    It is compiled for the types of its arguments on the first call; shapes are run-time values.
    """

    _is_difftile_kernel = True

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        functools.update_wrapper(self, function)
        self._parameters = parameters_of(function)
        self._names = [p.name for p in self._parameters]
        if self._names[:1] == ["self"]:
            raise LaunchError(
                f"Kernel '{function.__name__}' takes 'self'; kernels are no methods. "
                "Put '@staticmethod' above '@dt.kernel', and pass what it needs."
            )
        self._annotations = [_annotation(p, function) for p in self._parameters]
        self._roles = {
            p.name: role for p in self._parameters if (role := role_of(p.annotation)) is not None
        }
        self._found: dict[Hashable, list[_Found]] = {}
        self._latest: Specialisation | None = None
        self._source: Source | None = None
        self._call: Call | None = None

    def __repr__(self) -> str:
        return f"<kernel {self.function.__name__}({', '.join(self._names)})>"

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Launch the kernel; on an open tape the launch is recorded.

        Raises:
            LaunchError: The arguments do not fit the parameters.
            KernelError: The body is not a program of the kernel language. Or, under debug, an index
                is out of range or an assertion does not hold; the launch has run to its end.
        """
        call, values = self._ready(args, kwargs)
        if call.code.streams:
            call.draw_anew(values)
        tape = OPEN_TAPE.get()
        if tape is None:
            if OPEN_IN.thread is not None:
                _refuse_mixture(self)
            call.code.run(values)
        else:
            cast("LaunchRecorder", tape).launch(call, values)
        if call.session.debug:
            raise_first()

    def bwds(self, *args: Any, **kwargs: Any) -> None:
        """Run the adjoint of one launch, without a tape.

        It takes the arguments of the launch. Fields hold what they held before that launch, and
        hold it afterwards as well. The adjoint reads `grad_in` of the fields that the launch writes
        and adds to `grad_out` of those that it reads. The gradient of a field that is written alone
        stays as it is; where a field is both, its one gradient changes from that of the contents
        after the launch to that of the contents before. Kernels that draw random numbers draw
        those of their last launch.

        Raises:
            LaunchError: The arguments do not fit, a tape is open, or no gradient comes in.
            KernelError: The body is not a program of the kernel language, or has no adjoint.
        """
        if OPEN_IN.thread is not None:
            raise LaunchError(f"{self!r}: bwds() is for launches without a tape, and one is open.")
        call, values = self._ready(args, kwargs)
        if call.code.streams:
            call.draw_again(values)
        run_adjoint(repr(self), call, values)

    def fwds(self, *args: Any, **kwargs: Any) -> None:
        """Launch the kernel and push tangents through the launch, without a tape.

        Gradient buffers hold the tangents: `grad_out` those of what a field holds before the
        launch, `grad_in` those of what it holds after it; one buffer serves as both by default.
        Tangents are set and not added to.

        Raises:
            LaunchError: The arguments do not fit, a tape is open, or no field has a gradient.
            KernelError: The body is not a program of the kernel language.
        """
        if OPEN_IN.thread is not None:
            raise LaunchError(f"{self!r}: fwds() is for launches without a tape, and one is open.")
        call, values = self._ready(args, kwargs)
        if call.code.streams:
            call.draw_anew(values)
        run_tangents(repr(self), call, values)
        if call.session.debug:
            raise_first()

    def _ready(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Call, list[Any]]:
        """Return the prepared launch for some arguments, and the values of its parameters."""
        if kwargs or len(args) != len(self._names):
            args = self._bind(args, kwargs)
        session = current()
        call = self._call
        values = None if call is None else call.repeated(args, session)
        if values is not None and call is not None and call.captures:
            values = _with_captures(call, values)
        if call is None or values is None:
            call = self._prepare(args, session)
            values = call.values.copy()
        self._latest = call.code
        return call, values

    def _prepare(self, args: tuple[Any, ...], session: Session) -> Call:
        """Find or compile the specialisation for some arguments."""
        keys: list[Hashable] = []
        runtime: list[Any] = []
        numbers: list[Number] = []
        others: list[int] = []
        fields = passed(args)
        for position, arg in enumerate(args):
            one = fields.get(position)
            if one is not None:
                if one.value.base.storage.buffer.session is not session:
                    _ = one.value.base.buffer  # raises the error that says what happened
                keys.append(one.key)
                runtime += one.run_time
                others.append(position)
                continue
            given, key = self._number(position, arg)
            keys.append(key)
            if given is None:
                others.append(position)
            else:
                numbers.append(Number(position, len(runtime), _type(arg), _type(given)))
                runtime.append(given)
        arrays = {self._names[k]: field for k, field in first_given(fields).items()}
        found, captured = self._specialise(tuple(keys), args, session, fields, arrays)
        code = found.code
        pick = picker(others)
        drawn = [0, 0] if code.streams else []
        values = [*runtime, *captured, *drawn, *code.temps]
        self._call = Call(
            code,
            values,
            tuple(numbers),
            pick,
            pick(args),
            session,
            found.captures,
            arrays,
            len(runtime),
        )
        return self._call

    # Arguments

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        for name in kwargs:
            if name not in self._names:
                guess = did_you_mean(name, self._names) or f"it has {', '.join(self._names)}."
                raise LaunchError(f"{self!r} has no argument '{name}'; {guess}")
        try:
            bound = inspect.Signature(self._parameters).bind(*args, **kwargs)
        except TypeError as error:
            raise LaunchError(f"{self!r}: {error}.") from None
        bound.apply_defaults()
        return tuple(bound.arguments[name] for name in self._names)

    def _number(self, position: int, arg: Any) -> tuple[Any, Hashable]:
        """Return the run-time value of an argument that is no field, or None, and its key."""
        wanted = self._annotations[position]
        if self._names[position] in self._roles:
            raise LaunchError(f"{self!r}: '{self._names[position]}' is a field, not {arg!r}.")
        arg = _plain(arg)
        if isinstance(arg, bool) or wanted == "template":
            return None, ("known", _Identity(arg))
        if isinstance(arg, float) or (isinstance(arg, int) and wanted == "float"):
            if wanted == "int":
                raise LaunchError(
                    f"{self!r}: '{self._names[position]}' is an integer, not {arg!r}."
                )
            return float(arg), "float"
        if isinstance(arg, int):
            if not -_I32_LIMIT <= arg < _I32_LIMIT:
                raise LaunchError(
                    f"{self!r}: '{self._names[position]}' = {arg} does not fit 32 bits."
                )
            return arg, "int"
        plain = isinstance(arg, (FunctionType, str, type(None), tuple))
        if plain or isinstance(meaning_of(arg), (OpName, FuncMeaning, TypeName)):
            return None, ("known", _Identity(arg))
        shown = type(arg).__name__
        hint = (
            "make it a field with dt.from_numpy()"
            if hasattr(arg, "__array__")
            else ("pass a field, a number or a func")
        )
        article = "an" if shown[0] in "aeiou" or shown == "ndarray" else "a"
        raise LaunchError(f"{self!r}: '{self._names[position]}' is {article} {shown}; {hint}.")

    # Specialisation

    def _specialise(
        self,
        key: Hashable,
        args: tuple[Any, ...],
        session: Session,
        fields: AllPassed,
        arrays: dict[str, Field],
    ) -> tuple[_Found, list[Any]]:
        for found in self._found.get(key, ()):
            if found.session is session:
                captured = _current_captures(found.captures, arrays)
                if captured is not None:
                    return found, captured
        found = self._compile(args, session, fields)
        self._found.setdefault(key, []).append(found)
        captured = _current_captures(found.captures, arrays)
        if captured is None:
            raise LaunchError(f"{self!r}: a captured name changed while it was compiled.")
        return found, captured

    def _compile(self, args: tuple[Any, ...], session: Session, fields: AllPassed) -> _Found:
        if self._source is None:
            self._source = source_of(self.function)
        floats = [scalar_of(one.value.element) for one in fields.values()]
        float_type = _widest(floats) or session.float_type
        signature = self._signature(args, float_type, fields)
        meanings = {self._names[k]: one for k, one in meanings_of(fields).items()}
        lowered = lower(self._source, signature, meaning_of, float_type, meanings, self._roles)
        params = [p for p in lowered.program.params if isinstance(p, Array)]
        widest = _widest([scalar_of(p.type.element) for p in params])
        if widest is not None and widest != float_type:
            # A captured field is wider, or the only one with floats: literals follow it.
            signature = self._signature(args, widest, fields)
            lowered = lower(self._source, signature, meaning_of, widest, meanings, self._roles)
        # Assertions and indices are checked under debug alone.
        checked = guard(lowered.program) if session.debug else unchecked(lowered.program)
        program = normalise(checked, checked=session.debug)
        check_races(program)
        stages = [Stage(stage) for stage in split(program)]
        code = Specialisation(
            self.function.__name__, lowered.program.params, stages, lowered.streams
        )
        return _Found(lowered.captures, code, session)

    def _signature(
        self, args: tuple[Any, ...], float_type: Scalar, fields: AllPassed
    ) -> dict[str, Given]:
        signature: dict[str, Given] = {}
        for position, (name, arg) in enumerate(zip(self._names, args, strict=True)):
            if position in fields:
                signature[name] = fields[position].given(self._names)
                continue
            given, key = self._number(position, arg)
            if given is None:
                signature[name] = Known(arg)
            else:
                signature[name] = float_type if key == "float" else I32
        return signature

    # Looking inside

    def source(self, mode: str = "forward") -> str:
        """Return the Taichi source of the latest specialisation.

        Args:
            mode: "forward" or "adjoint"; the adjoint is that for gradients of all float fields.

        Raises:
            LaunchError: The kernel has not been launched yet, or the mode is unknown.
        """
        if mode not in ("forward", "adjoint"):
            raise LaunchError(f"source(mode) is 'forward' or 'adjoint', not {mode!r}.")
        if self._latest is None:
            raise LaunchError(f"{self!r} is compiled on its first launch; launch it before.")
        texts: list[str] = []
        for launch in self._latest.launches:
            stage = launch.stage
            if mode == "forward":
                texts.append(stage.forward.source())
                continue
            params = (*stage.program.params, *stage.program.temps)
            wanted = frozenset(
                p for p in params if isinstance(p, Array) and is_float(p.type.element)
            )
            adjoint = stage.adjoint(wanted)
            if adjoint is not None:
                texts.append(adjoint.code.source())
        return "\n\n".join(texts if mode == "forward" else reversed(texts))


def _refuse_mixture(kernel: Kernel) -> None:
    """Refuse a launch that a tape of another thread would miss."""
    if OPEN_IN.thread != threading.get_ident():
        raise LaunchError(
            f"{kernel!r} is launched while a tape is open in another thread, which would miss it. "
            "Launch kernels from one thread, or after the 'with' block."
        )


def _type(value: object) -> type:
    return type(value)


def _plain(value: Any) -> Any:
    """Return a NumPy number as a Python number, and anything else as it is."""
    if isinstance(value, np.generic):
        return cast("Any", value).item()
    return value


class _Identity:
    """A key for any Python object: equal values of plain types, the same object otherwise."""

    __slots__ = ("_key", "_value")

    def __init__(self, value: Any) -> None:
        self._value = value  # kept alive, so that its id is not used again
        plain = isinstance(value, (bool, int, float, str, type(None)))
        self._key: Hashable = key_of(value) if not plain else (type(value).__name__, value)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self._key == other._key


def _widest(scalars: list[Scalar]) -> Scalar | None:
    floats = [s for s in scalars if s in FLOATS]
    return max(floats, key=FLOATS.index) if floats else None


def _with_captures(call: Call, values: list[Any]) -> list[Any] | None:
    """Return the values with what is captured now, or None if that is not as in the call."""
    captured = _current_captures(call.captures, call.arrays)
    if captured is None:
        return None
    for position, value in enumerate(captured, call.captured_at):
        if isinstance(value, Field) and value is not values[position]:
            return None
        values[position] = value
    return values


def _current_captures(captures: tuple[Capture, ...], arrays: dict[str, Field]) -> list[Any] | None:
    """Return the values of captured parameters now, or None if the specialisation does not fit.

    Args:
        captures: What the specialisation took from outside.
        arrays: The field passed for each array. A captured field shares memory with one of them,
            or with another captured field, exactly if it did when the kernel was compiled.
    """
    values: list[Any] = []
    taken = {field.storage for field in arrays.values()}
    at = dict(arrays)
    for capture in captures:
        value = look_up(capture.path)
        param = capture.param
        if capture.same_as is not None:
            if not isinstance(value, Field) or not _is_one(value, at[capture.same_as.name]):
                return None
        elif param is None:
            if key_of(value) != capture.key:
                return None
        elif isinstance(param, Array):
            if not isinstance(value, Field) or value.type is not param.type:
                return None
            _ = value.buffer  # raises if it was made before the last start
            if value.storage in taken:
                return None
            taken.add(value.storage)
            at[param.name] = value
            values.append(value)
        else:
            number = _plain(value)
            if not isinstance(number, int if param.type == I32 else float):
                return None
            values.append(number)
    return values


def _is_one(a: Field, b: Field) -> bool:
    return a.storage is b.storage and a.shape == b.shape


_NUMBER_ANNOTATIONS: dict[Any, str] = {float: "float", int: "int", "float": "float", "int": "int"}


def _annotation(parameter: inspect.Parameter, function: FunctionType) -> str:
    """Return what a parameter's annotation says: 'float', 'int', 'template', or ''."""
    given = parameter.annotation
    if isinstance(given, str):
        try:
            given = eval(given, function.__globals__)
        except Exception:
            given = parameter.annotation
    known = _NUMBER_ANNOTATIONS.get(given) if isinstance(given, Hashable) else None
    if known is not None:
        return known
    if type(given).__name__ == "Template" or getattr(given, "__name__", "") == "template":
        return "template"
    type_ = value_type(given)
    if type_ is None or shape_of(type_) or type_ == BOOL:
        return ""
    return "float" if type_ in FLOATS else "int"


def kernel(function: Any) -> Kernel:
    """Make a function a kernel; the decorator `@dt.kernel`.

    Raises:
        LaunchError: It is not a plain Python function.
    """
    if isinstance(function, (Kernel, Func)):
        kind = "a kernel" if isinstance(function, Kernel) else "a func"
        raise LaunchError(f"{function!r} is {kind} already; remove one of the two decorators.")
    if not isinstance(function, FunctionType):
        raise LaunchError(f"@dt.kernel decorates a function, not {function!r}.")
    return Kernel(function)
