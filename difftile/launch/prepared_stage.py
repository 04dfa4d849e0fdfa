"""The stages of a prepared call: what follows from its fields alone is worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from difftile.compile.specialisation import Specialisation, StageLaunch
from difftile.compile.stage import Stage
from difftile.fields.field import Field, Storage
from difftile.ir.nodes import Array, Const, Value, Var
from difftile.launch.patch import Patch, box_of, patch_of
from difftile.substrate import CompiledProgram, Launcher, pack, relieve

# A patch takes some hundred bytes itself, and longer to be worked out than less is to be copied.
_WORTH_A_PATCH = 512


class Binding:
    """How the values of a call reach a program: the same fields each time, in other memory.

    Args:
        code: The program.
        positions: For each of its parameters the position of its value. Those from `count` on are
            positions of buffers that each launch is given behind the values of the call.
        values: The values of the call, and behind them the fields whose shapes the buffers have.
        count: The number of the call's own values.
    """

    __slots__ = ("_args", "_fields", "_given", "_launchable", "_program", "_reshaped")

    def __init__(
        self, code: CompiledProgram, positions: Sequence[int], values: Sequence[Any], count: int
    ) -> None:
        self._program = code
        self._launchable: Launcher | None = None
        self._args: list[Any] = [None] * len(positions)
        self._fields: list[tuple[int, Storage]] = []
        self._given: list[tuple[int, int]] = []
        self._reshaped: list[tuple[int, tuple[int, ...]]] = []
        for place, k in enumerate(positions):
            value = values[k]
            if isinstance(value, Field) and k < count:
                self._fields.append((place, value.storage))
            else:
                self._given.append((place, k))
            if isinstance(value, Field) and value.storage.buffer.shape != value.shape:
                self._reshaped.append((place, value.shape))

    def launch(self, values: Sequence[Any]) -> None:
        """Launch with the numbers of some values, on the memory in which the fields are now."""
        args = self._args.copy()
        for place, storage in self._fields:
            args[place] = storage.buffer
        for place, k in self._given:
            args[place] = values[k]
        for place, shape in self._reshaped:
            args[place] = args[place].under(shape)
        if self._launchable is None:
            self._launchable = self._program.settled(args)
        self._launchable.launch(args)


class PreparedStage:
    """One stage of a call, ready to be launched.

    Args:
        code: The kernel.
        launch: The stage.
        values: The values of the call.
    """

    def __init__(self, code: Specialisation, launch: StageLaunch, values: Sequence[Any]) -> None:
        self._code = code
        self._stage = launch.stage
        self._values = values
        self._writes = [(k, values[k].storage) for k in launch.writes]
        self._forward = Binding(launch.stage.forward, launch.positions, values, len(values))
        self._renamed: dict[tuple[int, ...], Binding] = {}

    @cached_property
    def overwritten(self) -> frozenset[int]:
        """The positions of the fields that the stage overwrites whole."""
        position, values = self._code.position, self._values
        return frozenset(
            position[array]
            for array, stops in self._stage.overwrites.items()
            if _cover(self._code, self._stage, stops, values, values[position[array]].shape)
        )

    def run(self, values: list[Any]) -> None:
        """Launch; pinned fields move to fresh memory first, with their contents."""
        for _, storage in self._writes:
            if storage.buffer.pins:
                storage.renew(copy=True)
        self._forward.launch(values)

    def launch(
        self,
        values: list[Any],
        patches: dict[int, Patch] | None = None,
        both: frozenset[int] = frozenset(),
    ) -> None:
        """Launch; pinned fields move to fresh memory first, with their contents only if they must.

        Args:
            values: The values of the kernel's parameters.
            patches: Takes by position what is going to be overwritten in fields that stay in pinned
                memory, since that is the smaller part of them. None: all of them move.
            both: Positions of fields that must move, as somebody reads both versions of them.
        """
        moved: list[tuple[int, Storage]] = []
        for k, storage in self._writes:
            if not storage.buffer.pins:
                continue
            if k in self.overwritten:
                moved.append((k, storage))
                continue
            patch = None
            if patches is not None and k not in both and storage.buffer.nbytes >= _WORTH_A_PATCH:
                patch = self._patch(k, values)
            if patch is None:
                storage.renew(copy=True)
            elif patches is not None:
                patches[k] = patch
        if moved:
            self._launch_renamed(values, moved)
        else:
            self._forward.launch(values)

    def _launch_renamed(self, values: list[Any], moved: list[tuple[int, Storage]]) -> None:
        """Launch so that some fields are written into fresh memory and read where they were."""
        key = tuple([k for k, _ in moved])
        renamed = self._renamed.get(key)
        if renamed is None:
            renamed = self._renamed[key] = self._rename(key)
        old = [storage.buffer for _, storage in moved]
        try:
            for _, storage in moved:
                relieve(storage, copy=False)
            renamed.launch([*values, *old])
        except BaseException:
            for (_, storage), buffer in zip(moved, old, strict=True):
                if storage.buffer is not buffer:
                    storage.move(buffer)
            raise
        pack(*old)

    def _rename(self, moved: tuple[int, ...]) -> Binding:
        code = self._code
        arrays = [code.params[k] for k in moved]
        compiled, old = self._stage.renamed(frozenset(a for a in arrays if isinstance(a, Array)))
        behind = {array: len(code.params) + k for k, array in enumerate(arrays)}
        positions = [
            behind[old[p]] if isinstance(p, Array) and p in old else code.position[p]
            for p in compiled.params
        ]
        values = self._values
        return Binding(compiled, positions, [*values, *(values[k] for k in moved)], len(values))

    def _patch(self, k: int, values: list[Any]) -> Patch | None:
        """Return what the launch is going to overwrite of a field, if that is the smaller part."""
        target: Field = values[k]
        code, stage = self._code, self._stage
        array = code.params[k]
        known = {p: v for p, v in zip(code.params, values, strict=True) if isinstance(p, Var)}
        for size, (of, axis) in stage.sizes.items():
            known[size] = values[code.position[of]].shape[axis]
        assert isinstance(array, Array)
        box = stage.extents.box(array, target.shape, known)
        return None if box is None else patch_of(target, box_of(box))


def _cover(
    code: Specialisation,
    stage: Stage,
    stops: Sequence[Value],
    values: Sequence[Any],
    shape: tuple[int, ...],
) -> bool:
    """Tell whether a loop from zero to some bounds visits every element of a shape."""
    for stop, size in zip(stops, shape, strict=True):
        if isinstance(stop, Const):
            bound = int(stop.value)
        elif stop in stage.sizes:
            array, axis = stage.sizes[stop]
            bound = values[code.position[array]].shape[axis]
        else:
            return False
        if bound != size:
            return False
    return True
