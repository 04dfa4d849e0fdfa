"""Rows: fields with one first axis, which grow, shrink and change places together."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError, FieldIndexError, TapeError, counted
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import as_array, as_contents
from difftile.fields.field import Field, make
from difftile.fields.named_fields import NamedFields
from difftile.fields.recording import RECORDING, check_no_tape
from difftile.fields.storage import Storage
from difftile.ir.types import I32, shape_of
from difftile.records import dataclass
from difftile.substrate import current_session


@dataclass(frozen=True, slots=True)
class Change:
    """How rows have changed.

    Args:
        fields: The field that has taken the place of each, by the memory of the one before.
        beside: Returns the values that a follower keeps for each row, with zeros for new ones,
            given the values that it kept for each row before the change.
    """

    fields: Mapping[Storage, Field]
    beside: Callable[[Field], Field]


class Follower(Protocol):
    """Keeps values for each row, and is told when rows change."""

    def follow(self, change: Change) -> None:
        """Change the kept values as the rows have changed."""
        ...


class Rows(NamedFields):
    """Fields with one first axis, whose rows are kept, dropped, repeated and added together.

    `rows.means` and `rows["means"]` are the field of that name *now*: a change of rows makes new
    fields, with a gradient of zeros where there was a gradient, and ends those before, which are
    refused from then on; their gradients stay readable. The state that an optimiser has for a row
    moves with that row. `len(rows)` is the number of rows; `keys()`, `values()` and `items()` give
    the fields by name.

    Rows are kept, dropped and repeated in place, and so are the rows that `rearrange` takes by
    fields; added ones are joined on the host.

    Args:
        named: Fields by name, all with the same size along their first axis.
        fields: More of them.

    Raises:
        FieldError: A value is not a whole field, has other rows, or belongs to other rows already.
    """

    def __init__(self, named: Mapping[str, Field] | None = None, /, **fields: Field) -> None:
        self._fields = {**(named or {}), **fields}
        # In the order in which they came: where rows move between ranks, all tell theirs alike.
        self._followers: weakref.WeakKeyDictionary[Follower, None] = weakref.WeakKeyDictionary()
        self._check()
        for field in self._fields.values():
            _ROWS[field.storage] = weakref.ref(self)

    def _check(self) -> None:
        if not self._fields:
            raise FieldError("Rows are made of fields: dt.Rows(means=x, colours=c).")
        known: dict[Storage, str] = {}
        for name, field in self._fields.items():
            if name.startswith("_") or hasattr(type(self), name):
                raise FieldError(f"A field of rows cannot be called '{name}': rows have that.")
            if not isinstance(field, Field) or field.origin is not field:  # user input
                given: object = cast(object, field)
                advice = " Copy it into a field of its own: copy.copy(x)."
                raise FieldError(
                    f"Rows are made of whole fields, and '{name}' is {field!r}."
                    + (advice if isinstance(given, ArrayLike) else "")
                )
            if not field.shape:
                raise FieldError(f"'{name}', {field!r}, has no axis along which rows could be.")
            _ = field.buffer  # raises where the memory is gone
            first, (size, *_) = next(iter(self._fields)), self._fields[name].shape
            if size != len(self._fields[first]):
                raise FieldError(
                    f"'{name}' has {counted(size, 'row')}, and '{first}' has "
                    f"{len(self._fields[first])}: fields of rows have the same first axis."
                )
            other = known.setdefault(field.storage, name)
            if other != name:
                raise FieldError(f"'{other}' and '{name}' are the same memory.")
            if rows_of(field) is not None:
                raise FieldError(f"'{name}', {field!r}, belongs to other rows already.")

    # What they are

    def __len__(self) -> int:
        return len(next(iter(self._fields.values())))

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_") and name in self._fields:
            raise FieldError(
                f"'{name}' stays a field of these rows. Write into it, or give all rows anew: "
                "'rows.from_numpy({...})'."
            )
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        inside = ", ".join(
            f"{name}: {field.element} {field.shape}" for name, field in self._fields.items()
        )
        return f"<{counted(len(self), 'row')} of {inside}>"

    def __copy__(self) -> Rows:
        """Return rows with memory of their own: the contents, and gradients of zeros."""
        return type(self)({name: copy(field) for name, field in self._fields.items()})

    def __reduce__(self) -> Any:
        # Followers register again when they are loaded.
        return type(self), (self._fields,)

    def to_numpy(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of the contents of each field, by name."""
        return {name: field.to_numpy() for name, field in self._fields.items()}

    # Changes

    def take(self, index: npt.ArrayLike, fresh: npt.ArrayLike | None = None) -> None:
        """Keep the rows of an index, in its order; a row may be there several times.

        Args:
            index: The rows, integers of shape (n,); negative ones count from the end.
            fresh: The places where followers start with a new row, booleans of shape (n,). By
                default every place of a row but its first, which keeps the state of the row.

        Raises:
            FieldIndexError: There is no such row.
            FieldError: These are no integers and booleans of one length.
            TapeError: A tape is open.
        """
        self._check_may_change("take()")
        rows = self._as_index(index)
        if fresh is None:
            anew = np.ones(len(rows), bool)
            anew[np.unique(rows, return_index=True)[1]] = False
        else:
            anew = self._as_mask(fresh, len(rows), "fresh")
        self.rearrange(_index(rows), _index(np.where(anew, -1, rows)))

    def rearrange(self, index: Field, before: Field) -> None:
        """Take the rows of an index that a launch has computed; nothing goes through the host.

        Args:
            index: The rows, from 0 on; each exists, which is not checked. 32-bit integers, shape
                (n,).
            before: The row whose state followers give to each; -1 for none. Of the same shape.

        Raises:
            FieldError: These are not two fields of integers of one shape.
            TapeError: A tape is open.
        """
        self._check_rearranged(index, before)
        made = {name: rows_at(field, index) for name, field in self._fields.items()}
        self._become(made, before)

    def _check_rearranged(self, index: Field, before: Field) -> None:
        self._check_may_change("rearrange()")
        for given in (index, before):
            if given.element != I32 or len(given.shape) != 1 or given.shape != index.shape:
                raise FieldError(
                    f"{self!r}: rearrange() takes two fields of 32-bit integers of shape (n,), not "
                    f"{index!r} and {before!r}."
                )

    def prune(self, mask: npt.ArrayLike) -> None:
        """Drop the rows where a mask is True.

        Args:
            mask: Booleans of shape (rows,).

        Raises:
            FieldError: The values are not a mask.
            TapeError: A tape is open.
        """
        self._check_may_change("prune()")
        gone = self._as_mask(mask, self._count(), "mask")
        if gone.any():
            self.take(np.flatnonzero(~gone))

    def append(
        self, rows: Rows | Mapping[str, npt.ArrayLike] | None = None, /, **arrays: npt.ArrayLike
    ) -> None:
        """Add rows after the others; followers have no state for them yet.

        Args:
            rows: Other rows, or arrays by name: for each field one of shape (added, ...).
            arrays: More of them.

        Raises:
            FieldError: A name is missing or unknown, or the arrays do not fit.
            TapeError: A tape is open.
        """
        self._check_may_change("append()")
        given = rows.to_numpy() if isinstance(rows, Rows) else rows or {}
        added, values = self._as_rows({**given, **arrays})
        if not added:
            return
        before = len(self)
        made = {
            name: filled(field, np.concatenate((field.buffer.array(), values[name])))
            for name, field in self._fields.items()
        }
        self._become(made, _index(np.concatenate((np.arange(before), np.full(added, -1)))))

    def from_numpy(self, values: Mapping[str, npt.ArrayLike]) -> None:
        """Replace all rows by any number of new ones; followers start again.

        To go on where a run was saved, give the rows first and then the optimiser its state.

        Args:
            values: For each field an array of shape (rows, ...), by name.

        Raises:
            FieldError: A name is missing or unknown, or the arrays do not fit.
            TapeError: A tape is open.
        """
        self._check_may_change("from_numpy()")
        count, contents = self._as_rows(values)
        made = {name: filled(field, contents[name]) for name, field in self._fields.items()}
        self._become(made, _index(np.full(count, -1)))

    def forget(self, *names: str) -> None:
        """Let followers start again with some fields, by default all; the contents stay.

        Raises:
            FieldError: There is no such field.
            TapeError: A tape is open.
        """
        self._check_may_change("forget()")
        for name in names:
            if name not in self._fields:
                raise FieldError(self._missing(name))
        kept = [self._fields[name] for name in names or self._fields]
        same = {field.storage: field for field in kept}
        self._tell(Change(same, partial(rows_at, index=_index(np.full(len(self), -1)))))

    def followed_by(self, follower: Follower) -> None:
        """Tell a follower about changes, for as long as it lives."""
        self._followers[follower] = None

    def _become(self, made: Mapping[str, Field], index: Field) -> None:
        """Go on with other fields, and tell followers.

        Args:
            made: The fields by name, without gradients.
            index: Which row each one was before; -1 for new ones.
        """
        self._replace(made, partial(rows_at, index=index))

    def _replace(self, made: Mapping[str, Field], beside: Callable[[Field], Field]) -> None:
        """Go on with other fields, and tell followers.

        Args:
            made: The fields by name, without gradients.
            beside: See `Change`.
        """
        old = self._fields
        if len(next(iter(made.values()))) != len(self):
            # What earlier numbers of rows have left there never comes again.
            current_session().pool.clear()
        self._fields = {name: _graded_like(field, made[name]) for name, field in old.items()}
        for name, field in self._fields.items():
            _ROWS.pop(old[name].storage, None)
            _ROWS[field.storage] = weakref.ref(self)
        fields = {old[name].storage: field for name, field in self._fields.items()}
        for name, field in old.items():  # before followers take memory for theirs
            field.storage.end(
                f"This field was '{name}' of rows that have changed: {field!r} became "
                f"{self._fields[name]!r}. Read 'rows.{name}' anew after each change of the rows."
            )
        self._tell(Change(fields, beside))

    def _tell(self, change: Change) -> None:
        for follower in list(self._followers):
            follower.follow(change)

    # What is given

    def _count(self) -> int:
        """Return the number of rows that indices and masks are about."""
        return len(self)

    def _check_may_change(self, what: str) -> None:
        check_no_tape(f"{self!r}: {what}")
        if RECORDING.get().observer is not None:
            raise TapeError(
                f"{self!r}: {what} changes which fields there are, and is no part of a step that a "
                "tape or a check runs again. Call it outside."
            )

    def _as_index(self, index: npt.ArrayLike) -> npt.NDArray[np.intp]:
        given, count = as_array(index), self._count()
        if given.ndim == 1 and not given.size:
            return np.empty(0, np.intp)
        if given.dtype.kind not in "iu" or given.ndim != 1:
            advice = " Drop rows by a mask with prune()." if given.dtype.kind == "b" else ""
            raise FieldError(
                f"{self!r}: take() wants integers of shape (n,), not {given.dtype} of shape "
                f"{given.shape}.{advice}"
            )
        wrong = (given < -count) | (given >= count)
        if wrong.any():
            raise FieldIndexError(f"{self!r} has no row {given[wrong][0]}.")
        return given.astype(np.intp) % count

    def _as_mask(self, mask: npt.ArrayLike, count: int, what: str) -> npt.NDArray[np.bool_]:
        given = as_array(mask)
        if given.dtype.kind != "b" or given.shape != (count,):
            raise FieldError(
                f"{self!r}: {what} is booleans of shape ({count},), not {given.dtype} of shape "
                f"{given.shape}."
            )
        return given

    def _as_rows(
        self, arrays: Mapping[str, npt.ArrayLike]
    ) -> tuple[int, dict[str, npt.NDArray[Any]]]:
        """Return how many rows are given, and their contents in the types of the fields."""
        for name in arrays:
            if name not in self._fields:
                raise FieldError(self._missing(name))
        missing = next((name for name in self._fields if name not in arrays), None)
        if missing is not None:
            raise FieldError(f"{self!r} is given no '{missing}'; each field takes its rows.")
        given = {name: as_array(values) for name, values in arrays.items()}
        first = next(iter(self._fields))
        count = len(given[first]) if given[first].ndim else 0
        found: dict[str, npt.NDArray[Any]] = {}
        for name, field in self._fields.items():
            wanted = (count, *field.shape[1:], *shape_of(field.element))
            if given[name].shape != wanted:
                raise FieldError(
                    f"{self!r}: {counted(count, 'row')} of '{name}' are an array of shape "
                    f"{wanted}, not {given[name].shape}."
                )
            found[name] = as_contents(field, field.element, given[name], wanted)
        return count, found


_ROWS: weakref.WeakKeyDictionary[Storage, weakref.ref[Rows]] = weakref.WeakKeyDictionary()
"""The rows that each memory belongs to."""


def rows_of(field: Field) -> Rows | None:
    """Return the rows that a field belongs to, or None."""
    rows = _ROWS.get(field.storage)
    return None if rows is None else rows()


def leave_rows(field: Field) -> None:
    """Let a field belong to other rows from now on."""
    _ROWS.pop(field.storage, None)


def filled(field: Field, values: npt.NDArray[Any]) -> Field:
    """Return a field of the same elements with other rows."""
    made = make(field.element, (len(values), *field.shape[1:]))
    made.buffer.write(values)
    return made


def rows_at(field: Field, index: Field) -> Field:
    """Return a field of some rows of another, with zeros where the index is -1."""
    made = make(field.element, (len(index), *field.shape[1:]))
    made.buffer.copy_rows(field.buffer, index.buffer)
    return made


def _index(rows: npt.NDArray[np.intp]) -> Field:
    index = make(I32, (len(rows),))
    index.buffer.write(rows.astype(np.int32))
    return index


def _graded_like(field: Field, made: Field) -> Field:
    """Return a field with gradients of zeros where another has gradients."""
    if field.grad_in is field.grad_out:
        return made.with_grads() if field.has_grads else made
    buffers = (field.grad_in, field.grad_out)
    new = [None if one is None else make(made.element, made.shape) for one in buffers]
    return made.with_grads(*new, zero=True)
