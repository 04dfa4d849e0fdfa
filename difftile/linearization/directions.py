"""Gradients or tangents along many directions: memory with one axis more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat

import numpy as np

from difftile.compile.stage import Batched
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field, make
from difftile.fields.recording import Where
from difftile.fields.storage import Storage
from difftile.ir.derived import Bar, Logged, Role
from difftile.ir.nodes import Array
from difftile.launch.binding import Binding, Fixed, LaunchEnvironment, Slot, Temporary
from difftile.launch.tangents import make_writable
from difftile.recording.opaque import OpaqueRecord
from difftile.recording.replay import AdjointEnvironment
from difftile.recording.replayed_fields import reverse_opaque
from difftile.recording.runs import RunRecord
from difftile.recording.steps import LaunchRecord
from difftile.recording.write import setting
from difftile.substrate import Buffer


class Directions:
    """Gradients or tangents along many directions, the first axis of their memory.

    Args:
        width: The number of directions.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self._work: dict[Storage, Field] = {}

    def gradient(self, field: Field) -> Field:
        """Return the gradients of a field, which are zero to begin with."""
        return self.lanes(field).under((self.width, *field.shape))

    def lanes(self, field: Field) -> Field:
        """Return the gradients of a field in the shape of its origin."""
        work = self._work.get(field.storage)
        if work is None:
            work = self._work[field.storage] = make(
                field.element, (self.width, *field.origin.shape)
            )
            work.buffer.fill(0.0)
        return work

    def repeated(self, field: Field, values: Buffer) -> Fixed:
        """Return the slot of the memory of a field, with the same contents in each direction."""
        lanes = self.gradient(field).buffer
        lanes.write(np.broadcast_to(values.array(), lanes.array().shape))
        return Fixed(lanes)

    def launch(self, record: LaunchRecord) -> None:
        """Run the adjoint of a launch."""
        adjoint = record.plan.stage.code(Batched(record.plan.request))
        assert adjoint is not None
        Binding(adjoint, _WideAdjoint(self, record)).launch(record.values, record.kept)

    def run(self, record: RunRecord) -> None:
        """Run the adjoint of each launch of a run."""
        for one in record.expanded():
            self.launch(one)

    def opaque(self, record: OpaqueRecord) -> None:
        """Run the reverse of an opaque step, for one direction after the other."""
        for gradient in self.each():
            reverse_opaque(record, gradient)

    def each(self) -> Iterator[Callable[[Field], Field]]:
        """Yield a function for each direction, which returns the gradients of a field to work on.

        The gradients are stored when the next function is requested.
        """
        for k in range(self.width):
            work: dict[Storage, Field] = {}

            def gradient(field: Field, k: int = k, work: dict[Storage, Field] = work) -> Field:
                one = work.get(field.storage)
                if one is None:
                    one = work[field.storage] = make(field.element, field.origin.shape)
                    one.buffer.write(self.lanes(field).buffer.array()[k])
                return one.under(field.shape)

            yield gradient
            for storage, one in work.items():
                self._put(storage, k, one)

    def _put(self, storage: Storage, k: int, one: Field) -> None:
        lanes = self._work[storage]
        make_writable(lanes)

        def put(array: HostArray) -> None:
            array[k] = one.buffer.array()

        lanes.buffer.change(put)

    def arrays(self, field: Field) -> list[HostArray]:
        """Return the gradients of a field as arrays, one for each direction, to read them."""
        return _each(self.gradient(field).buffer.array())

    def change(self, field: Field, change: Callable[[HostArray], None]) -> None:
        """Let a function change the gradients of a field, one direction after the other."""

        def each(lanes: HostArray) -> None:
            for lane in _each(lanes):
                change(lane)

        self.gradient(field).buffer.change(each)

    def drop(self, field: Field, where: Where) -> None:
        """Set the gradients of a field, a part or an element to zero."""
        if where:
            self.change(field, setting(where, repeat(0.0)))
        else:
            self.gradient(field).buffer.fill(0.0)


def _each(lanes: HostArray) -> list[HostArray]:
    """Return a view of each lane, also of lanes of one number."""
    return [lanes[k, ...] for k in range(len(lanes))]


class WideEnvironment(LaunchEnvironment):
    """Memory with an axis more for the directions."""

    directions: int

    def width(self) -> Slot:
        """Return the slot of the number of directions."""
        return Fixed(self.directions)

    def lead(self, param: Array, role: Logged) -> tuple[int, ...]:
        """Return the extents of a log along axes that come before its own."""
        return (self.directions,) if param.type.ndim > len(role.extents) else ()

    def scratch(self, param: Array, like: Array | None) -> Slot:
        """Return the slot of memory that the program needs while it runs."""
        shape = () if like is None else self.field(like).shape
        lead = (self.directions,) if param.type.ndim > len(shape) else ()
        return Temporary(param.type.element, (*lead, *shape))


class _WideAdjoint(WideEnvironment, AdjointEnvironment):
    """Gradients with an axis more, and contents among the buffers of a record."""

    def __init__(self, many: Directions, record: LaunchRecord) -> None:
        AdjointEnvironment.__init__(self, record, many.gradient)
        self.directions = many.width

    def lane(self, of: Role) -> Slot | None:
        """Return the slot of the gradients of a field along all directions."""
        return self.bar(of.array) if isinstance(of, Bar) else None
