"""A kernel for certain argument types: its stages, and the parameters that they share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from difftile.ad.activity import active_writes
from difftile.compile.arguments import Argument
from difftile.compile.limits import Limits
from difftile.compile.ownership import Ownership, ownership
from difftile.compile.stage import Stage, Wishes
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field, make
from difftile.frontend.lower import Lowered
from difftile.ir.derived import Derived, Same
from difftile.ir.nodes import Array, Program, Var
from difftile.ir.types import BOOL, Type, is_float, shape_of
from difftile.ir.walk import size_of
from difftile.passes.conflicts import PossibleConflict
from difftile.passes.known_indices import KnownIndices
from difftile.passes.stages import split
from difftile.substrate import KeptResults, Native, Session

if TYPE_CHECKING:
    from difftile.compile.adjoint_plan import AdjointPlan

Returned: TypeAlias = bool | int | float | HostArray


class Specialisation:
    """The stages of a kernel, or of a rule of one.

    Args:
        name: The kernel.
        derived: The whole program, and the roles of its parameters: parameters of a rule may be
            gradients and contents of fields. The arguments of a launch come in their order.
        program: The normalised program, which is cut into stages here.
        lowered: The captures, the streams of random numbers, and the result. Where a launch takes
            streams, the seed and the first stream are the last two parameters.
        session: The session that this belongs to.
        tests: The tests of indices that sizes and integers decide.
        doubts: Accesses of different iterations that sizes and numbers decide about.
        native: Native kernels that may run instead, if all is one stage.
        kept: What is kept of it on disk.

    Attributes:
        kept: See above.
        params: The parameters, followed by the hidden fields.
        roles: The role of each of them.
        temps: The hidden fields themselves.
        writes: The positions of the fields that some stage writes.
        stage_writes: The same for each stage.
        drawn: The seed and the first stream of the latest launch; `drawn_at` is their position.
        limits: Checked at each launch, as is `ownership`.
        rules: The rules of the kernel, by 'backward' and 'forward'.
        plans: The plan for recording each stage, by its number, the fields with gradients, and
            whether results count as constants.
        fusions: The fused programs of periods that begin with this kernel, as `fusion` knows them.
        sizes: The numbers of statements on the way to the stages; `seconds` is the time it took.
        calls: How often launches were called; `spent` of them have paid for a fused program.
        wishes: The steps that are set for parallel loops.
    """

    def __init__(
        self,
        name: str,
        derived: Derived,
        program: Program,
        lowered: Lowered,
        session: Session,
        tests: KnownIndices | None,
        doubts: Sequence[PossibleConflict],
        native: Native | None = None,
        kept: KeptResults | None = None,
    ) -> None:
        params, result = derived.program.params, lowered.result
        self.name = name
        self.session = session
        self.captures = lowered.captures
        self.streams = lowered.streams
        self.kept = kept or KeptResults()
        parts = self.kept.get("stages", lambda: split(program))
        native = native if len(parts) == 1 else None
        self.stages = [
            Stage(stage, number, native, self.kept) for number, stage in enumerate(parts)
        ]
        self.fusions: dict[object, Any] = {}
        self.sizes: dict[str, int] = {}
        self.seconds = 0.0
        self.calls = self.spent = 0
        self.drawn_at = len(params) - 2
        self.drawn: tuple[int, int] = (0, 0)
        hidden = list(dict.fromkeys(t for stage in self.stages for t in stage.program.temps))
        self.params = (*params, *hidden)
        self.roles = tuple(derived.role(param) for param in self.params)
        self.position: dict[Array | Var, int] = {p: k for k, p in enumerate(self.params)}
        self.limits = None if tests is None else Limits(tests, self.position)
        self._cells = () if result is None else result.cells
        self.temps = [make(temp.type.element, ()) for temp in hidden]
        for k, temp in enumerate(hidden):
            if is_float(temp.type.element):
                self.temps[k] = self.temps[k].with_grads()
        self._first_temp = len(params)
        self.result = result
        self.rules: dict[str, Specialisation] = {}
        self.stage_writes = [
            tuple(sorted(self.position[a] for a in stage.written)) for stage in self.stages
        ]
        self.writes = sorted({k for writes in self.stage_writes for k in writes})
        one_world = () if lowered.one_world is None else lowered.one_world.params
        self.ownership = ownership(doubts, self.position | {p: k for k, p in enumerate(one_world)})
        self.plans: dict[tuple[int, tuple[bool, ...], bool], AdjointPlan] = {}
        self._passed: dict[tuple[int, frozenset[Array]], Ownership | None] = {}
        self.wishes: Wishes = {}

    def wish(self, wishes: Wishes) -> None:
        """Set the steps of some parallel loops for later launches."""
        self.wishes = wishes if self.session.schedules else {}
        for stage in self.stages:
            stage.wish(self.wishes)

    @cached_property
    def statements(self) -> int:
        """The number of statements of all stages."""
        return sum(size_of(stage.program) for stage in self.stages)

    @cached_property
    def loads(self) -> frozenset[int]:
        """The positions of the fields without another role that some stage reads."""
        loaded = {self.position[array] for stage in self.stages for array in stage.loaded}
        return frozenset(k for k in loaded if isinstance(self.roles[k], Same))

    def check(self, values: Sequence[Argument]) -> None:
        """Check the accesses of a launch.

        Raises:
            IndexOutOfRange: An access certainly leaves its shape.
            Race: Two accesses of different iterations meet.
        """
        if self.limits is not None:
            self.limits.check(values)
        if self.ownership is not None:
            self.ownership.check(values)

    def returned(self) -> list[tuple[int, Returned]]:
        """Return the results of the latest launch, each with the position of its hidden field.

        They are Python numbers, and arrays of components.
        """
        if self.result is None:
            return []
        pairs = zip(self.result.cells, self.result.types, strict=True)
        places = [(self.position[cell], type_) for cell, type_ in pairs]
        return [(k, _as_python(self.temps[k - self._first_temp], type_)) for k, type_ in places]

    def arrays(self, chosen: Sequence[bool]) -> frozenset[Array]:
        """Return the arrays among the parameters for which a flag is set."""
        return frozenset(
            p for p, flag in zip(self.params, chosen, strict=True) if flag and isinstance(p, Array)
        )

    def wanted(self, grads: tuple[bool, ...]) -> frozenset[Array]:
        """Return the fields whose gradients are worked out, hidden ones included.

        A hidden field counts if it is given values that vary with a field of the user's that
        counts.
        """
        return self.kept.get(("wanted", grads), lambda: self._wanted(grads))

    def _wanted(self, grads: tuple[bool, ...]) -> frozenset[Array]:
        graded = self.arrays(grads)
        sources = set(graded.difference(self.params[self._first_temp :]))
        while True:  # from stage to stage
            writes = [w for stage in self.stages for w in active_writes(stage.program, sources)]
            more = {w.array for w in writes} & graded
            if not more:
                return frozenset(sources)
            sources |= more

    def passed(self, stage: Stage, wanted: frozenset[Array]) -> Ownership | None:
        """Return the check of launches before derivatives pass through a stage.

        Args:
            stage: The stage.
            wanted: The fields with derivatives.
        """
        key = (stage.number, wanted)
        if key not in self._passed:
            self._passed[key] = ownership(stage.clashes(wanted), self.position)
        return self._passed[key]

    def check_passing(
        self, stage: Stage, wanted: frozenset[Array], values: Sequence[Argument]
    ) -> None:
        """Check the arguments of a launch before derivatives pass through a stage.

        Raises:
            Race: Derivatives would pass through stores of different iterations that meet.
        """
        ownership = self.passed(stage, wanted)
        if ownership is not None:
            ownership.check(values)

    def varying_results(self, grads: tuple[bool, ...]) -> frozenset[int]:
        """Return the positions of the results that vary with fields that have gradients."""
        if not self._cells:
            return frozenset()
        return self.kept.get(("varying", grads), lambda: self._varying_results(grads))

    def _varying_results(self, grads: tuple[bool, ...]) -> frozenset[int]:
        wanted = self.wanted(grads).difference(self._cells)
        writes = [w for stage in self.stages for w in active_writes(stage.program, wanted)]
        return frozenset(self.position[w.array] for w in writes if w.array in self._cells)

    def without_results(self, grads: tuple[bool, ...]) -> tuple[bool, ...]:
        """Return which parameters have gradients if the results have none."""
        if not self._cells:
            return grads
        written = [self.params[k] for k in self.writes if k < self._first_temp]
        if not any(is_float(p.type.element) for p in written if isinstance(p, Array)):
            return (False,) * len(grads)  # results are all that may have derivatives
        pairs = zip(self.params, grads, strict=True)
        return tuple(graded and param not in self._cells for param, graded in pairs)


def _as_python(cell: Field, type_: Type) -> Returned:
    value = cell.storage.buffer.read_at(())
    if shape_of(type_):
        return value
    return bool(value) if type_ == BOOL else value.item()
