"""The state of a differential equation: several fields, and linear combinations of them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, TypeAlias, cast
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError, brief
from difftile.fields.arrays import field_of, is_array
from difftile.fields.halos import exchange, up_to_date
from difftile.fields.structs import Member
from difftile.ir.types import Type
from difftile.launch.overlaps import check_apart
from difftile.solvers.space import Space, space_of

StateLike: TypeAlias = "Member | Sequence[Member]"

_WORK: WeakKeyDictionary[dt.Field, dict[tuple[str, bool, Type], dt.Field]] = WeakKeyDictionary()
"""The work fields of a field, by use, whether they have a gradient, and type."""


@dt.kernel
def _combine(out: Any, y: Any, terms: Any) -> None:
    """Set `out` to y plus a sum of terms, pairs of a number and a field."""
    for i in ti.grouped(out):
        total = y[i]
        for weight, rate in ti.static(terms):
            total += weight * rate[i]
        out[i] = total


@dt.kernel
def _combine_one(out: Any, y: Any, terms: Any) -> None:
    """Set `out` as `_combine` does, for fields of a single element."""
    total = y[None]
    for weight, rate in ti.static(terms):
        total += weight * rate[None]
    out[None] = total


def combine(
    out: dt.ArrayLike, y: dt.ArrayLike, terms: Sequence[tuple[float, dt.ArrayLike]]
) -> None:
    """Set a field to y + sum weight * rate, without the terms whose weight is 0."""
    ours = tuple((float(weight), rate) for weight, rate in terms if weight != 0.0)
    add = _combine if out.shape else _combine_one
    add(out, y, ours)


class State:
    """Fields, or fields of structs, that change together.

    Args:
        members: The fields, in the order in which functions take them.
    """

    def __init__(self, members: Iterable[Member]) -> None:
        self.members = tuple(members)
        self.leaves: tuple[dt.Field, ...] = tuple(
            leaf for member in self.members for leaf in leaves_of(member)
        )

    @property
    def is_split(self) -> bool:
        """Whether the fields are split among ranks."""
        return any(leaf.split is not None for leaf in self.leaves)

    @property
    def space(self) -> Space:
        """The space of the numbers of the fields.

        Raises:
            FieldError: Some are split among ranks and others not.
        """
        return space_of(self.leaves)

    def refresh(self) -> None:
        """Fill the halos of split fields."""
        if self.is_split:
            exchange(self.leaves)

    @contextmanager
    def refreshed(self) -> Generator[None]:
        """Fill the halos of split fields; inside the block exchanges of them are left out."""
        self.refresh()
        with up_to_date(self.leaves) if self.is_split else nullcontext():
            yield

    def owned(self, arrays: Iterable[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        """Return the elements that this rank owns of arrays in the shapes of the fields."""
        return [
            array if leaf.split is None else leaf.split.part(array)
            for leaf, array in zip(self.leaves, arrays, strict=True)
        ]

    def without_halos(self, arrays: Sequence[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        """Return arrays in the shapes of the fields, with zero in the halos of split fields."""
        if not self.is_split:
            return list(arrays)
        return [a - b for a, b in zip(arrays, self.halos(arrays), strict=True)]

    def halos(self, arrays: Iterable[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        """Return arrays in the shapes of the fields, with zero in what this rank owns."""
        made = [np.array(one) for one in arrays]
        for own in self.owned(made):
            own[...] = 0.0
        return made

    def like(self, *, grad: bool = False) -> State:
        """Return fields of zeros like these.

        Args:
            grad: Give a gradient to each field whose original has one.
        """
        return State(_like(member, grad=grad) for member in self.members)

    def work(self, name: str, *, grad: bool = False) -> State:
        """Return work fields like these, with any contents; the same at each call.

        Solvers rely on functions that use the same fields at each call.

        Args:
            name: The purpose of the fields.
            grad: Give a gradient to each field whose original has one.
        """
        return State(_work(member, name, grad=grad) for member in self.members)

    def clear(self) -> None:
        """Set everything to zero."""
        for leaf in self.leaves:
            leaf.fill(0.0)

    def copy_from(self, other: State) -> None:
        """Set the contents; gradients flow through."""
        for leaf, source in zip(self.leaves, other.leaves, strict=True):
            leaf.copy_from(source)

    def copy_owned_from(self, other: State) -> None:
        """Set what this rank owns, and leave halos as they are; gradients flow through."""
        for leaf, source in zip(self.leaves, other.leaves, strict=True):
            leaf.inner.copy_from(source.inner)

    def combine(self, y: State, terms: Sequence[tuple[float, State]]) -> None:
        """Set the contents to y + sum weight * rate, without the terms whose weight is 0."""
        for place, out in enumerate(self.leaves):
            combine(out, y.leaves[place], [(w, rate.leaves[place]) for w, rate in terms])

    def combine_row(self, row: int, y: State, terms: Sequence[tuple[float, State]]) -> None:
        """Set one row of fields that have one axis more in front to y + sum weight * rate."""
        for place, leaf in enumerate(self.leaves):
            rates = [(w, rate.leaves[place]) for w, rate in terms]
            if leaf.ndim > 1:
                combine(leaf[row, ...], y.leaves[place], rates)
            else:
                single = [(w, rate.broadcast_to(1)) for w, rate in rates]
                combine(leaf[row : row + 1], y.leaves[place].broadcast_to(1), single)

    def arrays(self) -> list[npt.NDArray[np.float64]]:
        """Return copies of the contents in double precision, without halos, one for each field."""
        return [one.astype(np.float64) for one in self.owned(x.to_numpy() for x in self.leaves)]

    def minus(self, other: State) -> list[npt.NDArray[np.float64]]:
        """Return the difference of the contents in double precision."""
        return [a - b for a, b in zip(self.arrays(), other.arrays(), strict=True)]

    def is_finite(self) -> bool:
        """Return whether all numbers are finite, on all ranks."""
        arrays = self.owned(leaf.buffer.array() for leaf in self.leaves)
        return not self.space.any([not all(bool(np.isfinite(one).all()) for one in arrays)])[0]


def leaves_of(member: Member) -> list[dt.Field]:
    """Return the fields of a member: itself, or the members of structs."""
    return [member] if isinstance(member, dt.Field) else [leaf for _, leaf in member.fields()]


def state_of(given: Any, what: str) -> State:
    """Return a user's fields as a state.

    Args:
        given: A field, an array of another library, a field of structs, or a sequence of those.
        what: The name of the argument in errors.

    Raises:
        FieldError: One is not a field of floats, two share their memory, or some are split among
            ranks and others not.
    """
    members = cast("Sequence[Any]", given) if isinstance(given, (tuple, list)) else (given,)
    members = [_over(member, what) if is_array(member) else member for member in members]
    for member in members:
        if not isinstance(member, (dt.Field, dt.StructField)):
            raise FieldError(f"{what} is a field, or a tuple of fields, not {brief(member)}.")
    state = State(cast("Sequence[Member]", members))
    if not state.leaves:
        raise FieldError(f"{what} is a field, or a tuple of fields, and this one is empty.")
    for leaf in state.leaves:
        if leaf.numpy_dtype.kind != "f":
            raise FieldError(f"{what} is made of floats, and {leaf!r} holds integers.")
    if len({leaf.storage for leaf in state.leaves}) < len(state.leaves):
        raise FieldError(f"{what} has two fields with the same memory; give each its own.")
    check_apart(state.leaves)
    _ = state.space  # some split among ranks, and others not, are refused
    return state


def _over(array: object, what: str) -> dt.Field:
    """Return the field over the memory of an array, where the solution will be."""
    found = field_of(array)
    if not isinstance(found, dt.Field):
        raise FieldError(
            f"{what} is an array with gaps between its elements. Copy it: np.ascontiguousarray(x); "
            "the solution is in the copy."
        )
    return found


def _like(member: Member, *, grad: bool) -> Member:
    if isinstance(member, dt.StructField):
        made = {name: _like(one, grad=grad) for name, one in member.members.items()}
        return dt.StructField(made, member.methods)
    with dt.scratch():
        return dt.zeros_like(member, grad=grad and member.has_grads)


def _work(member: Member, name: str, *, grad: bool) -> Member:
    if isinstance(member, dt.StructField):
        made = {part: _work(one, name, grad=grad) for part, one in member.members.items()}
        return dt.StructField(made, member.methods)
    known, graded = _WORK.setdefault(member, {}), grad and member.has_grads
    key = name, graded, member.element  # fields are in double precision while they are checked
    if key not in known:
        with dt.scratch():  # with any contents: zeros would be a write on an open tape
            known[key] = dt.empty_like(member, grad=graded)
    return known[key]
