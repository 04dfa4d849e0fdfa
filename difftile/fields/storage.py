"""Where the contents of a field are now, and which fields have them in common."""

from __future__ import annotations

import weakref
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

import numpy.typing as npt

from difftile.diagnostics import FieldError, TapeError
from difftile.fields.any_field import AnyField
from difftile.fields.pending import PENDING
from difftile.fields.split import Split
from difftile.ir.types import Type, scalar_from_numpy, shape_of, shaped
from difftile.substrate import Buffer, current_session, pack, relieve


class _Ended:
    """Stands in the place of a buffer, so that prepared launches need no check."""

    __slots__ = ("_why",)
    nbytes = 0  # for counts of fields that hold nothing any more

    def __init__(self, why: str) -> None:
        self._why = why

    def disown(self) -> None:
        """Do nothing: the memory is given back already."""

    def __getattr__(self, name: str) -> Any:
        raise FieldError(self._why)


_SCRATCH: ContextVar[bool] = ContextVar("difftile_scratch", default=False)


@contextmanager
def scratch() -> Generator[None]:
    """Mark the fields that are made inside the block as work memory of an operation.

    An operation writes its work memory before it reads it, so no result depends on the earlier
    contents: `dt.gradcheck` does not take such a field for a parameter or a result.
    """
    token = _SCRATCH.set(True)
    try:
        yield
    finally:
        _SCRATCH.reset(token)


class Storage:
    """Where the contents of a field are now; fields that share their values share this.

    A launch on a tape may move the contents to another buffer, for all of them at once, unless
    others write there as well.

    Attributes:
        memory: The buffer, for callers that know that no launch is pending; others use `buffer`.
        graded: The field with these contents that was given gradients last.
        gradient_of: The field whose gradient this is.
        of_overwritten: Whether this is a gradient with respect to contents that launches on the
            tape have overwritten, so that it does not belong to the field's present contents.
        is_array: Whether it was made for an array that stands in the place of a field.
        is_scratch: Whether an operation of the library keeps the memory for itself.
        read_only: Whether the memory belongs to another library that relies on its contents.
        exports: An array over the memory that lives as long as the field.
        split: How the elements are divided among ranks; None if all belong to this process.
    """

    __slots__ = (
        "__weakref__",
        "_fields",
        "exports",
        "graded",
        "gradient_of",
        "is_array",
        "is_scratch",
        "memory",
        "of_overwritten",
        "read_only",
        "split",
    )

    def __init__(self, buffer: Buffer) -> None:
        buffer.own()
        self.memory = buffer
        self.is_scratch = _SCRATCH.get()
        self.graded: weakref.ref[AnyField] | None = None
        self.gradient_of: weakref.ref[AnyField] | None = None
        self.of_overwritten = False
        self.read_only = False
        self.is_array = False
        self.exports: object = None
        self.split: Split | None = None
        self._fields: dict[weakref.ref[AnyField], None] = {}

    def __del__(self) -> None:
        self.memory.disown()

    @property
    def graded_field(self) -> AnyField | None:
        """The field among them that was given gradients last, if it still lives."""
        return None if self.graded is None else self.graded()

    @property
    def fields(self) -> list[AnyField]:
        """The fields that share this, the oldest first."""
        return [field for one in list(self._fields) if (field := one()) is not None]

    def share(self, field: AnyField) -> None:
        """Note that a field has its contents here, for as long as it lives."""
        self._fields[weakref.ref(field, self._fields.pop)] = None

    @property
    def buffer(self) -> Buffer:
        """The buffer, with what all launches up to now have left there."""
        run = PENDING.run  # once: another thread may be done with them at any moment
        if run is not None:
            run()
        return self.memory

    def holds(self, kept: Buffer) -> bool:
        """Tell whether the present contents are kept by a record in some buffer."""
        now = self.buffer
        return now is kept or (now.is_shared and now.has_contents_of(kept.unpacked()))

    def restore(self, kept: Buffer, mark: object = None) -> None:
        """Go back to the contents that a record keeps in some buffer.

        Args:
            kept: The buffer.
            mark: The mark of the contents when they were kept; see `Contents.mark`.

        Raises:
            TapeError: Others have changed memory that is not written here.
        """
        if self.holds(kept):
            if self.memory.is_shared:
                self.memory.contents.go_back(mark)
            return
        if self.read_only:
            raise TapeError(
                f"A field of {kept.element}, shape {kept.shape}, is over memory of others that is "
                "read-only, and they have changed it since the tape read it: its launches cannot "
                "run again. Copy the array, dt.from_dlpack(x, copy=True), or let the tape keep "
                "all values: a tape without 'memory' or 'snapshots'."
            )
        if self.memory.is_shared or kept.is_shared:
            if self.memory.pins:
                self.renew(copy=False)
            self.memory.copy_from(kept.unpacked())
            if self.memory.is_shared:
                self.memory.contents.go_back(mark)
        else:
            self.move(kept)

    def move(self, fresh: Buffer) -> None:
        """Go on in another buffer; the old one lives on while something pins it."""
        old = self.buffer
        fresh.own()
        self.memory = fresh
        old.disown()

    def end(self, why: str) -> None:
        """Give the memory back; later uses raise an error with the reason."""
        self.buffer.disown()
        self.memory = cast(Buffer, _Ended(why))

    def renew(self, *, copy: bool) -> None:
        """Leave pinned memory and go on in fresh, with the contents or with any."""
        pack(relieve(self, copy=copy))

    def __reduce__(self) -> Any:
        if self.split is not None:
            raise FieldError(
                "A field that is split among ranks is not pickled: another process may own other "
                "elements. Write it with dt.distributed.save(), or pickle x.to_global()."
            )
        inner = len(shape_of(self.buffer.element))
        return unpickled_storage, (self.buffer.read(), inner, self.is_scratch)


def allocate(element: Type, shape: tuple[int, ...]) -> Storage:
    """Return fresh memory for elements, with any contents."""
    return Storage(current_session().pool.allocate(element, shape))


def unpickled_storage(values: npt.NDArray[Any], inner: int, is_scratch: bool) -> Storage:
    """Return memory with some contents, as pickles have them.

    Args:
        values: The contents.
        inner: The number of last axes that belong to an element.
        is_scratch: See `Storage`.
    """
    outer = values.ndim - inner
    scalar = scalar_from_numpy(values.dtype)
    if scalar is None:
        raise FieldError(f"Fields cannot hold {values.dtype}.")
    element = shaped(values.shape[outer:], scalar)
    made = allocate(element, values.shape[:outer])
    made.memory.write(values)
    made.is_scratch = is_scratch
    return made
