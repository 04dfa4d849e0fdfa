"""Adjoints of loops window by window, where the log of a whole loop takes too much memory.

A serial loop runs once more from its start, and leaves a snapshot of the fields that it overwrites
at the start of each window; the windows are then reversed from the last to the first. Iterations of
a parallel loop need no snapshots.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import ExitStack

from difftile.compile.stage import DerivedCode, WindowedStage
from difftile.diagnostics import TapeError
from difftile.fields.field import Field, make
from difftile.ir.derived import Scratch
from difftile.ir.nodes import Array, Var
from difftile.launch.binding import Binding, Fixed, Kept, LaunchEnvironment, Slot
from difftile.recording.budget import as_text
from difftile.recording.steps import LaunchRecord
from difftile.substrate import Buffer, current_session


class _WindowEnvironment(LaunchEnvironment):
    """The slots of one window.

    Args:
        outer: The slots of the whole stage.
        stage: The stage of windows.
        contents: The contents at the start of the window, of fields that the loop overwrites and
            of fields that carry values between iterations.
        gradients: The gradients of the fields that carry values.
        window: The first iteration, and the one after the last.
    """

    def __init__(
        self,
        outer: LaunchEnvironment,
        stage: WindowedStage,
        contents: Mapping[Array, Buffer],
        gradients: Mapping[Array, Field],
        window: tuple[int, int],
    ) -> None:
        super().__init__(outer.code, outer.values)
        self._outer = outer
        self._stage = stage
        self._contents = contents
        self._gradients = gradients
        windowed = stage.windowed
        self._numbers = dict(zip((windowed.first, windowed.stop), window, strict=True))

    def number(self, param: Var) -> Slot:
        """Return the slot of a number."""
        return Fixed(self._numbers[param]) if param in self._numbers else super().number(param)

    def shape(self, array: Array) -> Slot:
        """Return the slot of a field of which only the shape matters."""
        found = self._contents.get(array)
        return super().shape(array) if found is None else Fixed(found)

    def before(self, array: Array) -> Slot:
        """Return the slot of contents from before the window."""
        found = self._contents.get(array)
        return self._outer.before(array) if found is None else Fixed(found)

    def after(self, array: Array) -> Slot:
        """Return the slot of contents from after the loop, which no later window changes."""
        return self._outer.after(array)

    def scratch(self, param: Array, like: Array | None) -> Slot:
        """Return the slot of memory that the program needs while it runs."""
        cells = self._stage.windowed.carried
        return super().scratch(param, None if like in cells else like)

    def bar(self, array: Array) -> Slot:
        """Return the slot of a gradient."""
        own = self._gradients.get(array)
        return self._outer.bar(array) if own is None else Fixed(own.buffer)


def reverse_in_windows(
    record: LaunchRecord, outer: LaunchEnvironment, nbytes: int, room: float
) -> bool:
    """Run the adjoint of a launch in windows; return False where the stage is not one loop.

    Args:
        record: The launch.
        outer: The slots of its adjoint.
        nbytes: The bytes of its logs.
        room: The bytes that logs and snapshots may take.

    Raises:
        TapeError: Even the smallest windows take more.
    """
    request, stage = record.plan.request, record.plan.stage.windows
    adjoint = None if stage is None else stage.adjoint(request.wanted, constant=request.constant)
    if stage is None or adjoint is None or adjoint.derived.lengths is None:
        return False
    _Windows(record, outer, stage, adjoint).reverse(nbytes, room)
    return True


class _Windows:
    """The windows of one launch."""

    def __init__(
        self,
        record: LaunchRecord,
        outer: LaunchEnvironment,
        stage: WindowedStage,
        code: DerivedCode,
    ) -> None:
        self.record = record
        self.outer = outer
        self.stage = stage
        self.code = code
        self.gradients: dict[Array, Field] = {}
        for cell in stage.windowed.carried:
            self.gradients[cell] = make(cell.type.element, ())
            self.gradients[cell].buffer.fill(0.0)

    def reverse(self, nbytes: int, room: float) -> None:
        """Run the windows, from the last to the first."""
        count = self._count()
        if self.stage.windowed.is_parallel:
            length = _length(count, nbytes, 0, room)
            self._check(room, length * nbytes / count)
            for window in reversed(_windows(count, length)):
                self._launch({}, window)
            return
        with ExitStack() as stack:
            state = self._start(stack)
            held = sum(buffer.nbytes for buffer in state.values())
            length = _length(count, nbytes, held, room)
            windows = _windows(count, length)
            pool = current_session().pool
            snapshots_bytes = len(windows) * held
            self._check(room, math.ceil(length * nbytes / count) + snapshots_bytes)
            pool.keep(snapshots_bytes)
            stack.callback(pool.keep, -snapshots_bytes)
            snapshots = self._forward(state, windows, stack)
            for window, contents in zip(reversed(windows), reversed(snapshots), strict=True):
                self._launch(contents, window)

    def _check(self, room: float, taken: float) -> None:
        if taken > room:
            name = self.record.plan.code.name
            raise TapeError(
                f"The memory that is left for '{name}', {as_text(room)}, is too small: to reverse "
                f"its loop takes {as_text(taken)}. Give the tape more memory, or launch a part of "
                "the loop at a time."
            )

    def _count(self) -> int:
        """Return the number of iterations."""
        found = self.stage.windowed.found
        with ExitStack() as stack:
            cell = _allocated(found, self.outer, stack)
            self._run(self.stage.count, self.outer, {found: cell})
            return max(int(cell.read_at(())), 1)

    def _run(
        self, code: DerivedCode, env: LaunchEnvironment, given: Mapping[Array, Buffer]
    ) -> None:
        Binding(code, env, given).launch(self.record.values, self.record.kept)

    def _copies(self) -> dict[Array, Array]:
        """Return the copy that a window fills its log from, by field."""
        advance = self.code.advance
        return {
            role.like: param
            for param, role in zip(advance.code.params, advance.roles, strict=True)
            if isinstance(role, Scratch) and isinstance(param, Array) and role.like is not None
        }

    def _start(self, stack: ExitStack) -> dict[Array, Buffer]:
        """Return copies of the overwritten fields as they were before the loop."""
        found: dict[Array, Buffer] = {}
        for array in self._copies():
            buffer = _allocated(array, self.outer, stack)
            if array not in self.gradients:
                buffer.copy_from(_contents(self.outer.before(array), self.record))
            found[array] = buffer
        return found

    def _forward(
        self, state: dict[Array, Buffer], windows: list[tuple[int, int]], stack: ExitStack
    ) -> list[dict[Array, Buffer]]:
        """Run the loop; return the contents of its fields at the start of each window."""
        copies = self._copies()
        snapshots: list[dict[Array, Buffer]] = []
        for number, window in enumerate(windows):
            snapshot: dict[Array, Buffer] = {}
            for array, buffer in state.items():
                snapshot[array] = _allocated(array, self.outer, stack)
                snapshot[array].copy_from(buffer)
            snapshots.append(snapshot)
            if number + 1 < len(windows):
                env = _WindowEnvironment(self.outer, self.stage, state, {}, window)
                given = {copies[array]: buffer for array, buffer in state.items()}
                self._run(self.code.advance, env, given)
        return snapshots

    def _launch(self, contents: Mapping[Array, Buffer], window: tuple[int, int]) -> None:
        env = _WindowEnvironment(self.outer, self.stage, contents, self.gradients, window)
        self._run(self.code, env, {})


def _allocated(array: Array, env: LaunchEnvironment, stack: ExitStack) -> Buffer:
    shape = env.field(array).shape if array in env.code.position else ()
    buffer = current_session().pool.allocate(array.type.element, shape)
    stack.callback(buffer.free)
    return buffer


def _contents(slot: Slot, record: LaunchRecord) -> Buffer:
    """Return the contents in a slot of a launch."""
    assert isinstance(slot, Kept)
    buffer = record.kept[slot.position]
    return (buffer if buffer.packed is None else buffer.unpacked()).under(slot.field.shape)


def _windows(count: int, length: int) -> list[tuple[int, int]]:
    return [(first, min(first + length, count)) for first in range(0, count, length)]


def _length(count: int, nbytes: int, state: int, room: float) -> int:
    """Return the length of the longest windows that fit, or else of the smallest windows."""
    each = max(nbytes / count, 1e-9)
    least = math.sqrt(count * state / each) if state else 1
    length = min(max(1, math.ceil(least)), count)

    def taken(length: int) -> float:
        return length * each + math.ceil(count / length) * state

    if taken(length) <= room:
        low, high = length, count  # beyond the least, longer windows take more
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if taken(middle) <= room else (low, middle - 1)
        length = low
    return length
