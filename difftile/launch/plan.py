"""What recording a launch does, worked out once for each set of fields with gradients."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from difftile.diagnostics import Span
from difftile.fields.field import Field
from difftile.ir.nodes import Array, Const, Value, Var
from difftile.ir.types import Type
from difftile.launch.patch import Patch, box_of, patch_of
from difftile.launch.specialisation import Specialisation, StageLaunch, arguments, make_writable
from difftile.launch.stage import AdjointCode, Stage
from difftile.substrate.compile import CompiledProgram
from difftile.substrate.memory import POOL

# A patch takes some hundred bytes itself, and longer to be worked out than less is to be copied.
_WORTH_A_PATCH = 512


class Source(Enum):
    """Where a parameter of an adjoint comes from."""

    NUMBER = "a number"
    SHAPE = "a field of which the shape alone matters"
    KEPT = "a buffer with contents from before the launch"
    KEPT_AFTER = "a buffer with contents from after the launch"
    GRADIENT = "the gradient of a field"
    SCRATCH = "memory that the adjoint needs while it runs"


@dataclass(frozen=True, slots=True)
class Overwrite:
    """A field that a loop may overwrite whole: each of its sizes must equal the loop's bound.

    A bound is a literal, or the size of another field: its position and axis.
    """

    array: Array
    position: int
    bounds: tuple[int | tuple[int, int], ...]

    def covers(self, values: list[Any]) -> bool:
        """Tell whether the loop visits every element."""
        for size, bound in zip(values[self.position].shape, self.bounds, strict=True):
            wanted = bound if isinstance(bound, int) else values[bound[0]].shape[bound[1]]
            if wanted != size:
                return False
        return True


@dataclass(frozen=True, slots=True)
class Renamed:
    """Forward code that writes some fields into fresh buffers and reads their old ones.

    `positions` lead into the values of the launch, and behind those into the old buffers.
    """

    code: CompiledProgram
    positions: tuple[int, ...]


@dataclass(slots=True)
class StagePlan:
    """How a stage is launched and recorded.

    Args:
        launch_of: The stage and its specialisation.
        adjoint: Its adjoint, or None if no gradient passes through.
        adjoint_params: For each parameter of the adjoint its source, and a position: in the values,
            or for kept buffers and scratch in their own lists.
        reads: Positions of the fields whose contents from before the launch the adjoint reads.
        reads_after: The same for contents from after it; their buffers are kept behind the others.
        loads: Positions of the fields that the stage reads.
        writes: Positions of the fields that the stage writes.
        overwrites: The fields that may be overwritten whole, by position.
        scratch: Element types of the scratch memory, and the position of the field whose shape it
            has, if it is more than one element.
        cuts: Positions of fields without gradient that take values which vary with fields that
            have one, and the name and place of such a write.
        ungraded: Positions of fields without gradient from which something written varies: those
            read before the stage writes them, and those read after.
    """

    code: Specialisation
    stage_launch: StageLaunch
    adjoint: AdjointCode | None
    adjoint_params: tuple[tuple[Source, int], ...]
    reads: tuple[int, ...]
    reads_after: tuple[int, ...]
    loads: tuple[int, ...]
    writes: tuple[int, ...]
    overwrites: dict[int, Overwrite]
    scratch: tuple[tuple[Type, int | None], ...]
    cuts: dict[int, tuple[str, Span | None]]
    ungraded: tuple[tuple[int, ...], tuple[int, ...]]
    renamings: dict[tuple[int, ...], Renamed] = field(default_factory=dict[Any, Any])
    numbers: tuple[tuple[int, int], ...] = field(init=False)
    shapes: tuple[tuple[int, int], ...] = field(init=False)
    kept_places: tuple[int, ...] = field(init=False)
    kept: tuple[int, ...] = field(init=False)
    scratch_places: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.numbers = tuple((place, which) for place, (_, which) in self._places(Source.NUMBER))
        self.shapes = tuple((place, which) for place, (_, which) in self._places(Source.SHAPE))
        before, after = self._places(Source.KEPT), self._places(Source.KEPT_AFTER)
        self.kept_places = tuple(place for place, _ in (*before, *after))
        self.kept = (*self.reads, *self.reads_after)
        self.scratch_places = tuple(place for place, _ in self._places(Source.SCRATCH))

    def _places(self, source: Source) -> list[tuple[int, tuple[Source, int]]]:
        return [(place, p) for place, p in enumerate(self.adjoint_params) if p[0] is source]

    def launch(self, values: list[Any], patches: dict[int, Patch] | None = None) -> None:
        """Run forward; pinned fields move to fresh memory first, copied only if they must.

        Args:
            values: The values of the kernel's parameters.
            patches: Takes by position what is going to be overwritten in fields that stay in pinned
                memory, since that is the smaller part of them. None: all of them move.
        """
        moved: list[int] = []
        for k in self.writes:
            target: Field = values[k]
            if not target.storage.buffer.pins:
                continue
            overwrite = self.overwrites.get(k)
            if overwrite is not None and overwrite.covers(values):
                moved.append(k)
                continue
            patch = None if patches is None else self._patch(k, values)
            if patch is None:
                make_writable(target)
            elif patches is not None:
                patches[k] = patch
        if not moved:
            code = self.stage_launch.stage.forward
            code.launch(arguments(self.stage_launch.positions, values))
            return
        key = tuple(moved)
        renamed = self.renamings.get(key)
        if renamed is None:
            renamed = self.renamings[key] = _rename(self.code, self.stage_launch.stage, key)
        old = [values[k].buffer for k in moved]
        storages = [values[k].storage for k in moved]
        kept = [storage.buffer for storage in storages]
        try:
            for storage in storages:
                storage.move(POOL.take_like(storage.buffer))
            renamed.code.launch(arguments(renamed.positions, [*values, *old]))
        except BaseException:
            for storage, buffer in zip(storages, kept, strict=True):
                if storage.buffer is not buffer:
                    storage.move(buffer)
            raise
        for buffer in kept:
            POOL.pack(buffer)

    def _patch(self, k: int, values: list[Any]) -> Patch | None:
        """Return what the launch is going to overwrite of a field, if that is the smaller part."""
        if k in self.reads and k in self.reads_after:
            return None  # the adjoint reads both versions
        target: Field = values[k]
        if target.storage.buffer.nbytes < _WORTH_A_PATCH:
            return None
        array = self.code.params[k]
        stage = self.stage_launch.stage
        known = {p: v for p, v in zip(self.code.params, values, strict=True) if isinstance(p, Var)}
        for size, (of, axis) in stage.sizes.items():
            known[size] = values[self.code.position[of]].shape[axis]
        assert isinstance(array, Array)
        box = stage.extents.box(array, target.shape, known)
        return None if box is None else patch_of(target, box_of(box))


def _rename(code: Specialisation, stage: Stage, moved: tuple[int, ...]) -> Renamed:
    arrays = [code.params[k] for k in moved]
    compiled, old = stage.renamed(frozenset(a for a in arrays if isinstance(a, Array)))
    behind = {array: len(code.params) + k for k, array in enumerate(arrays)}
    positions = tuple(
        behind[old[p]] if isinstance(p, Array) and p in old else code.position[p]
        for p in compiled.params
    )
    return Renamed(compiled, positions)


def make_plans(
    code: Specialisation, grads: tuple[bool, ...], *, constant: bool = False
) -> list[StagePlan]:
    """Return the plans of all stages of a kernel.

    Args:
        code: The kernel.
        grads: Which of its parameters have gradients.
        constant: Take all that the kernel computes as constants.

    Raises:
        NotDifferentiable: A stage has no adjoint.
    """
    plans: list[StagePlan] = []
    for launch in code.launches:
        key = (grads, constant)
        plan = launch.plans.get(key)
        if plan is None:
            plan = launch.plans[key] = make_plan(code, launch, grads, constant=constant)
        plans.append(plan)
    return plans


def make_plan(
    code: Specialisation, launch: StageLaunch, grads: tuple[bool, ...], *, constant: bool
) -> StagePlan:
    """Work out a plan.

    Raises:
        NotDifferentiable: The stage has no adjoint.
    """
    stage = launch.stage
    wanted = code.wanted(grads)
    adjoint = stage.adjoint(wanted, constant=constant)
    passing = frozenset[Array]() if constant else wanted
    reads: list[int] = []
    after: list[int] = []
    scratch: list[tuple[Type, int | None]] = []
    params: list[tuple[Source, int]] = []
    for p in () if adjoint is None else adjoint.code.params:
        if adjoint is not None and isinstance(p, Array) and p in adjoint.bars:
            params.append((Source.GRADIENT, code.position[adjoint.bars[p]]))
        elif adjoint is not None and p in adjoint.reads:
            params.append((Source.KEPT, len(reads)))
            reads.append(code.position[p])
        elif adjoint is not None and p in adjoint.after:
            params.append((Source.KEPT_AFTER, len(after)))
            after.append(code.position[adjoint.after[p]])
        elif p in code.position:
            source = Source.SHAPE if isinstance(p, Array) else Source.NUMBER
            params.append((source, code.position[p]))
        else:
            assert isinstance(p, Array)
            params.append((Source.SCRATCH, len(scratch)))
            scratch.append((p.type.element, None if p.like is None else code.position[p.like]))
    overwrites = {
        code.position[array]: Overwrite(array, code.position[array], bounds)
        for array, stops in stage.overwrites.items()
        if (bounds := _bounds(code, stage, stops)) is not None
    }
    writes = tuple(sorted(code.position[a] for a in stage.written))
    return StagePlan(
        code,
        launch,
        adjoint,
        tuple(params),
        tuple(reads),
        tuple(after),
        tuple(sorted(code.position[a] for a in stage.loaded)),
        writes,
        overwrites,
        tuple(scratch),
        {code.position[a]: (a.name, span) for a, span in stage.cuts(passing).items()},
        _ungraded(code, stage, wanted) if not constant else ((), ()),
    )


def _ungraded(
    code: Specialisation, stage: Stage, wanted: frozenset[Array]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    candidates = [a for a in stage.loaded if a not in wanted and stage.passes_on(a)]
    early = sorted(code.position[a] for a in candidates if a not in stage.loaded_late)
    late = sorted(code.position[a] for a in candidates if a in stage.loaded_late)
    return tuple(early), tuple(late)


def _bounds(
    code: Specialisation, stage: Stage, stops: tuple[Value, ...]
) -> tuple[int | tuple[int, int], ...] | None:
    bounds: list[int | tuple[int, int]] = []
    for stop in stops:
        if isinstance(stop, Const):
            bounds.append(int(stop.value))
        elif stop in stage.sizes:
            array, axis = stage.sizes[stop]
            bounds.append((code.position[array], axis))
        else:
            return None
    return tuple(bounds)
