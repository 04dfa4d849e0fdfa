"""Numbers that remember which fields Python read them from while a recorder was open.

Python computes with them as with any others: a tracked number is a number, a tracked array an
array. The results of NumPy and of Python's operators are tracked as well, so that a recorder can
tell constants from values that vary with the fields it differentiates. Conversions to plain numbers
end the tracking: `float(v)`, the functions of `math`, `np.asarray(x)` of a field, arrays that are
filled element by element, and other libraries.
"""

from __future__ import annotations

import itertools
import math
import operator
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Number
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from difftile.fields.field import Field


@dataclass(slots=True, eq=False)
class HostRead:
    """A read from Python.

    Args:
        recorder: Identifies the recorder that was open.
        field: The field, in the words of an error.
        graded: The field has a gradient.
        lost: The value has become a plain number by `float`.
    """

    recorder: object
    field: str
    graded: bool = True
    lost: bool = False


Reads: TypeAlias = frozenset[HostRead]
NO_READS: Reads = frozenset()
_COUNT = itertools.count()


@dataclass(slots=True, eq=False)
class Origin:
    """The way a number follows from fields, by which a recorder can follow it in turn.

    Args:
        recorder: The recorder that was open.
        value: The number; of a vector or matrix its bytes.
        source: The field from which it was read, if it still lives; None for other numbers.
        where: The element that was read.
        version: The version of the contents that were read.
        op: The operation, by NumPy's name.
        operands: The numbers that it was applied to; the origins of those that have one.
        dtype: The type of its result.
        order: Later reads have a higher number.

    Attributes:
        cell: A field that holds the number, once one was asked for.
    """

    recorder: weakref.ref[Any]
    value: Any
    source: weakref.ref[Field] | None = None
    where: tuple[int, ...] = ()
    version: object = None
    op: str = ""
    operands: tuple[float | Origin, ...] = ()
    dtype: np.dtype[Any] = np.dtype(np.float64)  # noqa: RUF009 - a constant
    order: int = field(default_factory=_COUNT.__next__)
    cell: Field | None = None


class Tracked:
    """A number or array that follows from reads of fields by Python."""

    __slots__ = ()
    reads: Reads

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any
    ) -> Any:
        reads = reads_in((inputs, out))
        op = ufunc.__name__ if method == "__call__" and out is None and not kwargs else ""
        if out is not None:
            kwargs["out"] = _plain(out)
        found = track(getattr(ufunc, method)(*_plain(inputs), **kwargs), reads)
        return _following(found, op, inputs)

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: Any, kwargs: Mapping[str, Any]
    ) -> Any:
        return track(func(*_plain(args), **_plain(kwargs)), reads_in((args, kwargs)))


class TrackedArray(Tracked, np.ndarray[Any, Any]):
    """An array that follows from reads of fields by Python.

    Attributes:
        origin: How it follows from them: that of a vector or matrix that a kernel has returned, as
            long as it is not changed in place. Its `value` is the contents, as bytes.
    """

    origin: Origin | None = None

    def __array_finalize__(self, obj: Any) -> None:
        self.reads = getattr(obj, "reads", NO_READS) if self.dtype.kind in "fc" else NO_READS

    def __getitem__(self, index: Any) -> Any:
        found = track(_plain(self)[index], self.reads)
        origin = self.unchanged()
        if origin is not None and type(found) is TrackedFloat:
            shape = cast("tuple[int, ...]", self.shape)
            places: npt.NDArray[np.intp] = np.arange(math.prod(shape)).reshape(shape)
            at = np.unravel_index(int(places[index]), shape)
            found.origin = Origin(
                origin.recorder,
                found.plain,
                op="component" if self.ndim == 1 else "entry",
                operands=(origin, *[int(k) for k in at]),
                order=origin.order,
            )
        return found

    def unchanged(self) -> Origin | None:
        """Return the origin; None if there is none, or the contents are others now."""
        origin = self.origin
        return origin if origin is not None and origin.value == self.tobytes() else None

    def __setitem__(self, index: Any, value: Any) -> None:
        self.reads |= reads_in(value)
        super().__setitem__(index, _plain(value))

    def __reduce__(self) -> Any:
        return _plain(self).__reduce__()


class TrackedFloat(Tracked, float):
    """A number that follows from reads of fields by Python.

    Args:
        plain: The number itself: a float, or a number of NumPy, whose type and methods stay.
        reads: The reads that it follows from.
        origin: How it follows from them; None where no gradient can pass.
    """

    __slots__ = ("origin", "plain", "reads")
    plain: Any
    origin: Origin | None

    def __new__(cls, plain: Any, reads: Reads, origin: Origin | None = None) -> TrackedFloat:
        """Return a number with the reads that it follows from."""
        made = super().__new__(cls, plain)
        made.plain, made.reads, made.origin = plain, reads, origin
        return made

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # NumPy asks for its protocols, which would end the tracking
            raise AttributeError(name)
        found = getattr(self.plain, name)
        if not callable(found):
            return track(found, self.reads)

        def method(*args: Any, **kwargs: Any) -> Any:
            return track(found(*args, **kwargs), self.reads)  # pyrefly: ignore[unknown-argument-type]

        return method

    def __float__(self) -> float:
        for read in self.reads:
            read.lost = True
        return float(self.plain)

    def __repr__(self) -> str:
        return repr(self.plain)

    def __str__(self) -> str:
        return str(self.plain)

    def __reduce__(self) -> Any:
        return _same, (self.plain,)


def _same(value: Any) -> Any:
    return value


def _operator(name: str, op: str, *, reflected: bool = False) -> Any:
    apply = getattr(operator, name)

    def method(self: TrackedFloat, *others: Any) -> Any:
        operands = (self, *others)
        if not all(isinstance(one, (Number, np.ndarray)) for one in others):
            return NotImplemented  # a field, or no number
        operands = operands[::-1] if reflected else operands
        return _following(track(apply(*_plain(operands)), reads_in(operands)), op, operands)

    return method


def _following(found: Any, op: str, operands: tuple[Any, ...]) -> Any:
    """Return the result of an operation, with its origin where all operands have one."""
    if op and type(found) is TrackedFloat and all(type(one) in _NUMBERS for one in operands):
        origins = [one.origin for one in operands if type(one) is TrackedFloat]
        known = [origin for origin in origins if origin is not None]
        if len(known) == len(origins):
            latest = max(known, key=lambda origin: origin.order)
            found.origin = Origin(
                latest.recorder,
                found.plain,
                op=op,
                operands=tuple(_origin_or_number(one) for one in operands),
                dtype=np.asarray(found.plain).dtype,
                order=latest.order,
            )
    return found


def _origin_or_number(one: Any) -> float | Origin:
    origin = one.origin if type(one) is TrackedFloat else None
    return float(one) if origin is None else origin


_NUMBERS = {
    *(TrackedFloat, float, int, bool, np.float64, np.float32, np.float16, np.bool_),
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
}
_BINARY = {
    **{"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide"},
    **{"mod": "remainder", "pow": "power"},
}
for _name, _op in _BINARY.items():
    setattr(TrackedFloat, f"__{_name}__", _operator(_name, _op))
    setattr(TrackedFloat, f"__r{_name}__", _operator(_name, _op, reflected=True))
for _name, _op in {"neg": "negative", "pos": "positive", "abs": "absolute"}.items():
    setattr(TrackedFloat, f"__{_name}__", _operator(_name, _op))


def _method(name: str) -> Any:
    def method(self: TrackedArray, *args: Any, **kwargs: Any) -> Any:
        found = getattr(_plain(self), name)(*_plain(args), **_plain(kwargs))
        return track(found, reads_in((self, args, kwargs)))

    return method


# Methods of arrays that are no ufuncs and may return something else than an array of their class.
for _name in (
    *("choose", "compress", "cumprod", "cumsum", "diagonal", "dot", "item", "max", "mean", "min"),
    *("prod", "round", "std", "sum", "take", "tolist", "trace", "var"),
):
    setattr(TrackedArray, _name, _method(_name))


def track(value: Any, reads: Reads) -> Any:
    """Return floats as tracked ones, those in lists and tuples too, and the rest as it is."""
    if not reads:
        return value
    if type(value) is float or isinstance(value, np.floating):
        return TrackedFloat(value, reads)
    if isinstance(value, np.ndarray):
        array = cast("npt.NDArray[Any]", value)
        if array.dtype.kind not in "fc":
            return array
        tracked = array.view(TrackedArray)
        tracked.reads = reads
        return tracked
    if type(value) in (list, tuple):
        return type(value)(track(one, reads) for one in value)
    return value


def reads_in(value: Any) -> Reads:
    """Return the reads that a value follows from, also in lists, tuples and dicts."""
    if isinstance(value, Tracked):
        return value.reads
    if isinstance(value, (list, tuple)):
        return _union(cast("Iterable[Any]", value))
    if isinstance(value, dict):
        return _union(cast("dict[Any, Any]", value).values())
    return NO_READS


def _union(values: Iterable[Any]) -> Reads:
    reads = NO_READS
    for value in values:
        found = reads_in(value)
        if not found <= reads:
            reads |= found
    return reads


def _plain(value: Any) -> Any:
    """Return a value without its reads."""
    return replaced(value, _untracked, Tracked)


def _untracked(value: Any) -> Any:
    return value.plain if isinstance(value, TrackedFloat) else value.view(np.ndarray)


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
