"""The fields that a tape has met, whose gradients it clears."""

from __future__ import annotations

from difftile.diagnostics import TapeError
from difftile.fields.field import Field
from difftile.fields.gradient_changes import GRADIENTS
from difftile.fields.gradients import clear_grads
from difftile.fields.storage import Storage
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.tapes import TAPES
from difftile.substrate import LOCK


class MetFields:
    """The fields that the steps of a tape use.

    Args:
        clears: Whether their gradients are set to zero when the tape meets them.

    Attributes:
        touched: Their memory.
        cleared: The memory among it that has gradients.
        mark: What launches carry all of whose fields were met.
    """

    def __init__(self, *, clears: bool) -> None:
        self.touched: set[Storage] = set()
        self.cleared: set[Field] = set()
        self._clears = clears
        self._met: set[Field] = set()  # since fields were last given other gradients
        self._epoch = -1
        self.mark = object()

    def knows(self, launch: PreparedLaunch) -> bool:
        """Tell whether all fields of a launch were met, since fields were given gradients."""
        return launch.met is self.mark and self._epoch == GRADIENTS.epoch

    def renew(self) -> None:
        """Forget which fields were met, if fields have been given other gradients since."""
        if self._epoch != GRADIENTS.epoch:
            self._epoch, self.mark, self._met = GRADIENTS.epoch, object(), set()

    def meet(self, field: Field) -> None:
        """Set the gradients of a field to zero when the tape meets the field."""
        self.renew()
        if field in self._met:
            return
        self._met.add(field)
        storage = field.storage
        self.touched.add(storage)
        origin = field.origin
        twin = storage.graded_field
        # A launch may read or write the gradient of a field that has not been met yet.
        owner = None if storage.gradient_of is None else storage.gradient_of()
        for one in (origin, owner) if twin is origin else (origin, twin, owner):
            if one is not None and one not in self.cleared and one.has_grads:
                self.cleared.add(one)
                if self._clears:
                    self._clear(one)

    def _clear(self, field: Field) -> None:
        """Set the gradients of a field to zero, unless another thread's pass adds to them now."""
        gradients = {one.storage for one in (field.grad_in, field.grad_out) if one is not None}
        with LOCK:
            if gradients.isdisjoint(TAPES.works_on()):
                clear_grads(field)


def check_owns_gradient(field: Field) -> None:
    """Check that a field to be written is the one whose gradient belongs to its memory.

    Raises:
        TapeError: Another field with the same memory has the gradient, which would miss the write.
    """
    twin = field.storage.graded_field
    if twin is not None and twin is not field.origin and twin.has_grads:
        raise TapeError(
            f"{field!r} shares its memory with {twin!r}, which has a gradient. A write through "
            "the first would be missed by it: write through the field with the gradient."
        )
