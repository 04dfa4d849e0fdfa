"""Numbers of Python that carry derivatives: `dt.Number`.

While a recorder is open, what a kernel returns and what Python reads from a field are such numbers,
and so is what Python's operators and NumPy's functions make of them. They are no floats, so that
everything that would make a plain number of one meets a method here, which tells the recorder.
"""

from __future__ import annotations

import dis
import functools
import itertools
import math
import numbers
import operator
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from types import CodeType, FrameType
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import GradientCut, render
from difftile.fields.any_field import AnyField
from difftile.records import dataclass
from difftile.user_line import UserLine, user_line

CARRIED = frozenset(
    {
        *("negative", "positive", "square", "absolute", "sqrt", "cbrt", "reciprocal"),
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
        *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh"),
        *("add", "subtract", "multiply", "divide", "remainder", "power"),
        *("deg2rad", "rad2deg", "degrees", "radians"),
        *("maximum", "minimum", "hypot", "arctan2", "fmod", "copysign"),
    }
)
"""The operations that derivatives pass, by NumPy's names."""
_CONSTANT = {
    *("isnan", "isinf", "isfinite", "signbit", "sign", "floor", "ceil", "trunc"),
    *("floor_divide", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("logical_and", "logical_or", "logical_xor", "logical_not"),
}
"""The operations whose derivative is zero wherever there is one."""
_SAME_NAME = {"fabs": "absolute", "fmax": "maximum", "fmin": "minimum", "float_power": "power"}


@dataclass(slots=True, eq=False)
class HostRead:
    """A read from Python.

    Args:
        recorder: Identifies the recorder that was open.
        source: What was read, in the words of an error.
        graded: The field has a gradient.
    """

    recorder: object
    source: str
    graded: bool = True


Reads: TypeAlias = frozenset[HostRead]
_COUNT = itertools.count()


@dataclass(slots=True, eq=False)
class Origin:
    """The way a number follows from fields, by which a recorder can follow it in turn.

    Args:
        recorder: The recorder that was open.
        reads: The reads that it follows from.
        value: The number, or the components of a vector or matrix.
        source: The field from which it was read, if it still lives; None for other numbers.
        where: The element that was read.
        version: The version of the contents that were read.
        op: The operation, by NumPy's name.
        operands: The numbers that it was applied to, or their origins where known.
        dtype: The type of its result.
        order: Later reads have a higher number.

    Attributes:
        cell: A field that holds the number, once one was asked for.
        is_lost: No field can hold it: what was read has been written since.
    """

    recorder: weakref.ref[Any]
    reads: Reads
    value: Any = None
    source: weakref.ref[AnyField] | None = None
    where: tuple[int, ...] = ()
    version: object = None
    op: str = ""
    operands: tuple[float | Origin, ...] = ()
    dtype: np.dtype[Any] = np.dtype(np.float64)
    order: int = field(default_factory=_COUNT.__next__)
    cell: AnyField | None = None
    is_lost: bool = False

    @property
    def is_open(self) -> bool:
        """Whether its recorder still records."""
        recorder = self.recorder()
        return recorder is not None and recorder.is_open


class Number:
    """A number that carries its derivative, while a tape or a transformation is recording.

    It stands where a float would: Python's operators and comparisons take it, NumPy's functions,
    lists and object arrays of such numbers, `ti.Vector`, and kernels. `repr`, `str` and formats are
    those of the number, and so are equality and the hash; `copy` and `pickle` give a plain float.

    A conversion, such as `float(a)`, `math.sqrt(a)` or an element of an array of floats, cuts the
    derivative. It warns at its line (`GradientCut`) while the tape is open; `dt.stop_grad(a)` is
    the plain number without a warning. Called with anything else, the class returns a float.
    """

    __slots__ = ("origin", "plain")
    _is_difftile_number = True
    plain: Any
    origin: Origin

    def __new__(cls, value: Any = 0.0, /, *, origin: Origin | None = None) -> Any:
        """Return a number that follows from others; without an origin a plain float."""
        if origin is None:
            return float(value)
        made = super().__new__(cls)
        made.plain, made.origin = value, origin
        return made

    # What stays silent

    def __repr__(self) -> str:
        return repr(self.plain)

    def __str__(self) -> str:
        return str(self.plain)

    def __format__(self, spec: str) -> str:
        return format(self.plain, spec)

    def __hash__(self) -> int:
        return hash(self.plain)

    def __bool__(self) -> bool:
        return bool(self.plain)

    def is_integer(self) -> bool:
        """Tell whether the number is a whole one."""
        return float(self.plain).is_integer()

    # Parts of a real number

    @property
    def real(self) -> Number:
        """The number."""
        return self

    @property
    def imag(self) -> float:
        """0."""
        return 0.0

    def conjugate(self) -> Number:
        """Return the number."""
        return self

    # Plain numbers

    def taken(self, what: str, instead: str = "", name: str = "a") -> Any:
        """Return the plain number, after its recorder has heard of it.

        Args:
            what: What is taken for a constant, in the words of a warning.
            instead: What to write, so that the derivative goes on.
            name: What stands for the number in the code.
        """
        recorder = self.origin.recorder()
        if recorder is not None:
            recorder.lets_go(
                TakenConstant(what, instead, f"dt.stop_grad({name})"), self.origin.reads
            )
        return self.plain

    def __float__(self) -> float:
        if _formats(sys._getframe(1)):
            return float(self.plain)
        return float(self.taken("a number converted to a plain one"))

    def __int__(self) -> int:
        if _formats(sys._getframe(1)):
            return int(self.plain)
        return int(self.taken("a number converted to an integer"))

    def __trunc__(self) -> int:
        return math.trunc(self.taken("a number converted to an integer"))

    def __floor__(self) -> int:
        return math.floor(self.taken("a number converted to an integer"))

    def __ceil__(self) -> int:
        return math.ceil(self.taken("a number converted to an integer"))

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.taken("a number that is rounded"), digits)

    def __complex__(self) -> complex:
        return complex(self.taken("a number converted to a complex one"))

    def as_integer_ratio(self) -> tuple[int, int]:
        """Return two integers whose quotient is the number."""
        return float(self.taken("a number converted to a fraction")).as_integer_ratio()

    def item(self) -> float:
        """Return the plain number."""
        return float(self.taken("a number converted by item()"))

    def __reduce__(self) -> Any:
        return _same, (self.taken("a number that is copied"),)

    # NumPy

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return an array of one object, this one; of a plain number once the tape has ended."""
        if dtype is not None and np.dtype(dtype) != object:
            return np.asarray(self.taken("a number in an array of plain ones"), dtype)
        if not self.origin.is_open:
            return np.asarray(self.plain, dtype)
        made = np.empty((), object)
        made[()] = self
        return made

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any
    ) -> Any:
        if not all(isinstance(one, _OPERANDS) for one in inputs):
            return NotImplemented
        if out is not None and any(one.dtype != object for one in out):
            what = "a number written into an array of plain ones"
            plain = [_without(one, what) for one in inputs]
            return getattr(ufunc, method)(*plain, out=out, **kwargs)
        if method != "__call__" or kwargs or out is not None:
            given = [np.asarray(one, object) if isinstance(one, Number) else one for one in inputs]
            return getattr(ufunc, method)(*given, **kwargs, **({} if out is None else {"out": out}))
        if all(np.ndim(one) == 0 for one in inputs):
            return _applied(ufunc, *[_scalar(one) for one in inputs])
        if ufunc.__name__ in _CONSTANT:
            return ufunc(*[_without(one) for one in inputs])
        each: Any = np.frompyfunc(functools.partial(_applied, ufunc), ufunc.nin, ufunc.nout)
        return each(*[np.asarray(one, object) for one in inputs])

    def __getattr__(self, name: str) -> Any:
        # What NumPy calls for the elements of an object array: 'rint' for np.round(a, 8), where a
        # derivative of zero is not what is meant.
        if name in CARRIED or name in _CONSTANT or name == "rint":
            return functools.partial(getattr(np, name), self)
        raise AttributeError(
            f"a number on an open tape has no attribute '{name}'; dt.stop_grad(a) is a plain one",
            name=name,
            obj=self,
        )


numbers.Real.register(Number)
_OPERANDS = (numbers.Number, np.ndarray, np.bool_, list, tuple)


def _same(value: Any) -> Any:
    return value


def _scalar(one: Any) -> Any:
    """Return an array of one element as its element."""
    return one[()] if isinstance(one, np.ndarray) else one


@functools.lru_cache(1024)
def _remainders(code: CodeType) -> frozenset[int]:
    """Return the places of the instructions for '%'; Python 3.10 names them otherwise."""
    every = dis.get_instructions(code)
    return frozenset(
        one.offset
        for one in every
        if one.argrepr in ("%", "%=") or one.opname in ("BINARY_MODULO", "INPLACE_MODULO")
    )


def _formats(frame: FrameType) -> bool:
    """Tell whether a frame formats a text by '%': of numbers that would call `__rmod__`."""
    return frame.f_lasti in _remainders(frame.f_code)


# Operations


def followed(op: str, plain: Any, operands: Iterable[Any]) -> Any:
    """Return the result of an operation, with its origin while a recorder of it is open."""
    given = tuple(operands)
    known = [one.origin for one in given if isinstance(one, Number) and one.origin.is_open]
    if not known:
        return plain
    latest = max(known, key=lambda origin: origin.order)
    reads = latest.reads
    for one in known:
        if one.recorder is not latest.recorder and (other := one.recorder()):
            other.lets_go(TakenConstant("a number combined with one of another tape"), one.reads)
        elif not one.reads <= reads:
            reads |= one.reads
    origin = Origin(
        latest.recorder,
        reads,
        plain,
        op=op,
        operands=tuple(one.origin if isinstance(one, Number) else float(one) for one in given),
        dtype=np.asarray(plain).dtype,
        order=latest.order,
    )
    return Number(plain, origin=origin)


def carrying(values: Any, origin: Origin) -> Any:
    """Return a number with its origin, or for a vector or matrix the array of its components."""
    if not isinstance(values, np.ndarray):
        return Number(values, origin=origin)
    array = cast("npt.NDArray[Any]", values)
    found = np.empty(array.shape, object)
    for where in np.ndindex(array.shape):
        op = "component" if array.ndim == 1 else "entry"
        component = Origin(
            origin.recorder,
            origin.reads,
            array[where].item(),
            op=op,
            operands=(origin, *where),
            order=origin.order,
        )
        found[where] = Number(component.value, origin=component)
    return found


def _applied(ufunc: np.ufunc, *given: Any) -> Any:
    """Return the result of a function of NumPy, with its derivative where one passes."""
    op = _SAME_NAME.get(ufunc.__name__, ufunc.__name__)
    if not any(isinstance(one, Number) for one in given):
        return ufunc(*given)
    if op in _CONSTANT:
        return ufunc(*[_without(one) for one in given])
    if op not in CARRIED or any(isinstance(one, complex) for one in given):
        return ufunc(*[_without(one, f"a number given to np.{ufunc.__name__}()") for one in given])
    return followed(op, ufunc(*[_without(one) for one in given]), given)


def _without(value: Any, how: str = "") -> Any:
    """Return a number or an array without derivatives, and with some words not in silence."""
    if isinstance(value, Number):
        return value.taken(how) if how else value.plain
    if isinstance(value, np.ndarray) and cast("npt.NDArray[Any]", value).dtype == object:
        return np.asarray(np.frompyfunc(lambda one: _without(one, how), 1, 1)(value), float)
    return value


def _operator(name: str, op: str, *, reflected: bool = False) -> Any:
    apply, ufunc = getattr(operator, name), getattr(np, op)

    def method(self: Number, *others: Any) -> Any:
        operands = (self, *others)[:: -1 if reflected else 1]
        for one in others:
            if isinstance(one, np.ndarray):
                return ufunc(*operands)
            if not isinstance(one, (numbers.Number, np.bool_)):
                return NotImplemented  # a field, or no number
        found = apply(*[_without(one) for one in operands])
        if isinstance(found, (float, np.floating)):
            return followed(op, found, operands)
        what = "a number combined with one of another kind"
        return apply(*[_without(one, what) for one in operands])

    return method


def _comparison(name: str) -> Any:
    apply = getattr(operator, name)

    def method(self: Number, other: Any) -> Any:
        if isinstance(other, (numbers.Number, np.bool_, np.ndarray)):
            return apply(self.plain, _without(other))
        return NotImplemented

    return method


def _quotient(self: Number, other: Any) -> Any:
    return self.plain // _without(other) if isinstance(other, _OPERANDS) else NotImplemented


def _quotient_of(self: Number, other: Any) -> Any:
    return _without(other) // self.plain if isinstance(other, _OPERANDS) else NotImplemented


_BINARY = {
    **{"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide"},
    **{"mod": "remainder", "pow": "power"},
}
for _name, _op in _BINARY.items():
    setattr(Number, f"__{_name}__", _operator(_name, _op))
    setattr(Number, f"__r{_name}__", _operator(_name, _op, reflected=True))
for _name, _op in {"neg": "negative", "pos": "positive", "abs": "absolute"}.items():
    setattr(Number, f"__{_name}__", _operator(_name, _op))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Number, f"__{_name}__", _comparison(_name))
Number.__floordiv__, Number.__rfloordiv__ = _quotient, _quotient_of
Number.__divmod__ = lambda self, other: (self // other, self % other)  # pyrefly: ignore
Number.__rdivmod__ = lambda self, other: (other // self, other % self)  # pyrefly: ignore


# Numbers inside of other values


def numbers_in(value: Any) -> list[Number]:
    """Return the numbers with derivatives in a value: in lists, tuples, dicts, object arrays."""
    if isinstance(value, Number):
        return [value]
    if isinstance(value, dict):
        value = list(cast("dict[Any, Any]", value).values())
    elif isinstance(value, np.ndarray):
        array = cast("npt.NDArray[Any]", value)
        value = array.ravel().tolist() if array.dtype == object else ()
    if not isinstance(value, (list, tuple)):
        return []
    return [found for one in cast("list[Any]", value) for found in numbers_in(one)]


def take_constants(owner: str, values: Mapping[str, Any]) -> None:
    """Tell recorders of the numbers among the arguments of what takes numbers for constants."""
    for name, value in values.items():
        for one in numbers_in(value):
            what = f"the argument '{name}' of {owner}"
            one.taken(what, f"pass the field dt.value({name})", name)


def plain_numbers(value: Any) -> Any:
    """Return a value with plain numbers in place of those with derivatives, in silence."""
    if isinstance(value, np.ndarray):
        return _without(value) if numbers_in(value) else value
    return replaced(value, lambda one: one.plain, Number)


def replaced(value: Any, replace: Callable[[Any], Any], kind: type) -> Any:
    """Return arguments of a function with all of some class replaced, in lists and dicts too."""
    if isinstance(value, kind):
        return replace(value)  # pyrefly: ignore[unknown-argument-type]
    if type(value) in (list, tuple):
        return type(value)([replaced(one, replace, kind) for one in value])
    if type(value) is dict:
        given = cast("dict[Any, Any]", value)
        return {key: replaced(one, replace, kind) for key, one in given.items()}
    return value


# Words

FOLLOWED = (
    "Derivatives follow numbers that a kernel returns, or that Python reads from a field not "
    "written again since, through Python's operators and NumPy's functions."
)


_INSTEAD = (
    "compute with operators and NumPy's functions, 'np.sqrt(a)' for 'math.sqrt(a)', and pass the "
    "result to a kernel as an argument of its own"
)


@dataclass(frozen=True, slots=True)
class TakenConstant:
    """A number that is taken for a constant, although it may vary.

    Args:
        what: The number, in the words of an error.
        instead: What to write so that it carries its derivative.
        meant: What to write where a constant is meant.
    """

    what: str
    instead: str = ""
    meant: str = "dt.stop_grad(a)"

    def warn(self, reads: Iterable[HostRead], line: UserLine | None = None) -> None:
        """Warn at a line of the user, the present one by default, naming the fields read."""
        title = f"The gradient is cut: {self.what} depends on {named(reads)}."
        hint = f"{self.instead or _INSTEAD}; if a constant is meant, {self.meant}."
        (line or user_line()).warn(GradientCut(render(title, (), (FOLLOWED,), hint)))


def named(reads: Iterable[HostRead]) -> str:
    """Return the names of what a number depends on, joined for an error."""
    return " and ".join(dict.fromkeys(sorted(read.source for read in reads)))
