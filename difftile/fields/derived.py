"""Fields that are computed from others, and always agree with them when they are read."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.fields.create import element_type
from difftile.fields.field import Field, make
from difftile.fields.recording import RECORDING
from difftile.fields.storage import scratch
from difftile.substrate import LOCK


class DerivedField(Field):
    """A field that a function fills from others before a launch, or Python, reads it.

    The function runs if the contents of a source or of the field itself have changed since its last
    run. On each open tape it runs once for the same contents, so that gradients pass on to the
    sources. The field has a gradient if a source has one.

    Args:
        dtype: The type of its elements, as `dt.field` takes it.
        shape: Its shape.
        sources: The fields that it is computed from.
        derive: Fills the whole field that it is given, by launches and other recorded operations.
    """

    __slots__ = ("_derive", "_filled", "_filling", "_recorded", "_sources")

    def __init__(
        self,
        dtype: Any,
        shape: tuple[int, ...],
        sources: Sequence[Field],
        derive: Callable[[DerivedField], None],
    ) -> None:
        element = element_type(dtype)
        with scratch():
            super().__init__(element, shape, make(element, shape).storage)
        self._sources = tuple(sources)
        self._derive = derive
        self._filling = False
        self._filled: tuple[object, ...] = ()
        self._recorded: weakref.ref[Any] | None = None
        if any(one.has_grads for one in sources):
            gradient = make(element, shape)
            gradient.fill(0.0)
            self.grad_in = self.grad_out = gradient

    @property
    def sources(self) -> tuple[Field, ...]:
        """The fields that it is computed from."""
        return self._sources

    def refresh(self) -> None:
        """Fill the field where it is out of date, or the open tape has no record of it."""
        with LOCK:
            if self._filling:
                return
            tape = None if RECORDING.get().constant else RECORDING.get().recorder
            known = tape is None or (self._recorded is not None and self._recorded() is tape)
            if (known or not self.has_grads) and self._versions() == self._filled:
                return
            self._filling = True
            try:
                self._derive(self)
            finally:
                self._filling = False
            self._filled = self._versions()
            self._recorded = None if tape is None else weakref.ref(tape)

    def _versions(self) -> tuple[object, ...]:
        return tuple([one.storage.buffer.contents.version for one in (*self._sources, self)])

    def to_numpy(self) -> npt.NDArray[Any]:
        """Return a copy of the contents, as they follow from the sources."""
        self.refresh()
        return super().to_numpy()

    def __getitem__(self, index: Any) -> Any:
        self.refresh()
        return super().__getitem__(index)

    def __deepcopy__(self, memo: object) -> Field:
        return self.__copy__()

    def __reduce__(self) -> Any:
        raise FieldError(
            f"{self!r} follows from other fields, which a pickle of it would not have. Pickle "
            "those, or the object that it belongs to, or copy it into a field: copy.copy(x)."
        )

    def under(self, shape: tuple[int, ...]) -> Field:
        """Return the field itself: it has no other shape.

        Raises:
            FieldError: The shape is another one.
        """
        if shape != self.shape:
            raise FieldError(f"{self!r} follows from other fields and has only one shape.")
        return self
