"""The stages of a prepared launch, bound once to its fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from difftile.compile.arguments import Argument, Arguments, field_at, number_at
from difftile.compile.specialisation import Specialisation
from difftile.compile.stage import Renamed, Stage
from difftile.fields.storage import Storage
from difftile.ir.nodes import Array, Const, Value, Var
from difftile.ir.types import FLOATS, scalar_of
from difftile.launch.binding import Binding, Kept, LaunchEnvironment, Slot
from difftile.launch.patch import Patch, patch_of
from difftile.substrate import pack, relieve

# A patch takes some hundred bytes itself, and longer to be worked out than less is to be copied.
_WORTH_A_PATCH = 512


class _WithOldBuffers(LaunchEnvironment):
    """The old buffers of the fields at some positions are brought along, in their order."""

    def __init__(
        self, code: Specialisation, values: Sequence[Argument], moved: tuple[int, ...]
    ) -> None:
        super().__init__(code, values)
        self._moved = moved

    def before(self, array: Array) -> Slot:
        return Kept(self._moved.index(self.code.position[array]), self.field(array))


class PreparedStage:
    """One stage of a launch, ready to run.

    Args:
        code: The kernel.
        stage: The stage.
        values: The arguments of the launch.
    """

    def __init__(self, code: Specialisation, stage: Stage, values: Arguments) -> None:
        self._code = code
        self._stage = stage
        self._values = values
        self._writes = [(k, field_at(values, k).storage) for k in code.stage_writes[stage.number]]
        self._binding = Binding(stage.primal, LaunchEnvironment(code, values))
        self._renamed: dict[tuple[int, ...], Binding] = {}

    @cached_property
    def overwritten(self) -> frozenset[int]:
        """The positions of the fields that the stage overwrites whole."""
        position, values = self._code.position, self._values
        return frozenset(
            position[array]
            for array, stops in self._stage.overwrites.items()
            if _cover(
                self._code, self._stage, stops, values, field_at(values, position[array]).shape
            )
        )

    def run(self, values: Arguments) -> None:
        """Launch; pinned fields move to fresh memory first, with their contents."""
        for _, storage in self._writes:
            if storage.memory.pins:
                storage.renew(copy=True)
        self._binding.launch(values)

    def launch(
        self,
        values: Arguments,
        both: frozenset[int] = frozenset(),
        may_patch: Callable[[], bool] | None = None,
    ) -> Mapping[int, Patch]:
        """Launch; pinned fields move to fresh memory first, with their contents only if they must.

        Args:
            values: The arguments.
            both: Positions of fields that must move, as both versions of them are read.
            may_patch: Tells whether a field may stay in pinned memory where that is the smaller
                part of it to keep; None: all fields move.

        Returns:
            The overwritten contents of the fields that stayed, by position.
        """
        moved: list[tuple[int, Storage]] = []
        patches: dict[int, Patch] = {}
        for k, storage in self._writes:
            if not storage.memory.pins:
                continue
            if k in self.overwritten:
                moved.append((k, storage))
                continue
            patch = None
            if may_patch is not None and k not in both and storage.memory.nbytes >= _WORTH_A_PATCH:
                patch = self._patch(k, values) if may_patch() else None
            if patch is None:
                storage.renew(copy=True)
            else:
                patches[k] = patch
        try:
            if moved:
                self._launch_renamed(values, moved)
            else:
                self._binding.launch(values)
        except BaseException:
            for patch in patches.values():
                patch.release()
            raise
        return patches

    def _launch_renamed(self, values: Arguments, moved: list[tuple[int, Storage]]) -> None:
        """Launch so that some fields are written into fresh memory and read where they were."""
        key = tuple([k for k, _ in moved])
        renamed = self._renamed.get(key)
        if renamed is None:
            renamed = self._renamed[key] = self._rename(key)
        old = [storage.memory for _, storage in moved]
        try:
            for _, storage in moved:
                relieve(storage, copy=False)
            renamed.launch(values, old)
        except BaseException:
            for (_, storage), buffer in zip(moved, old, strict=True):
                if storage.memory is not buffer:
                    storage.move(buffer)
            raise
        pack(*old)

    def _rename(self, moved: tuple[int, ...]) -> Binding:
        arrays = frozenset(a for k in moved if isinstance(a := self._code.params[k], Array))
        code = self._stage.code(Renamed(arrays))
        assert code is not None
        return Binding(code, _WithOldBuffers(self._code, self._values, moved))

    def _patch(self, k: int, values: Arguments) -> Patch | None:
        """Return a patch of the part that the launch will overwrite, if it is the smaller part."""
        target = field_at(values, k)
        code, stage = self._code, self._stage
        array = code.params[k]
        known = {
            p: int(number_at(values, k))
            for k, p in enumerate(code.params)
            if isinstance(p, Var) and scalar_of(p.type) not in FLOATS
        }
        for size, (of, axis) in stage.sizes.items():
            known[size] = field_at(values, code.position[of]).shape[axis]
        assert isinstance(array, Array)
        box = stage.extents.box(array, target.shape, known)
        if box is None:
            return None
        return patch_of(target, tuple((low, high + 1) for low, high in box))


def _cover(
    code: Specialisation,
    stage: Stage,
    stops: Sequence[Value],
    values: Arguments,
    shape: tuple[int, ...],
) -> bool:
    """Tell whether a loop from zero to some bounds visits every element of a shape."""
    for stop, size in zip(stops, shape, strict=True):
        if isinstance(stop, Const):
            bound = int(stop.value)
        elif stop in stage.sizes:
            array, axis = stage.sizes[stop]
            bound = field_at(values, code.position[array]).shape[axis]
        else:
            return False
        if bound != size:
            return False
    return True
