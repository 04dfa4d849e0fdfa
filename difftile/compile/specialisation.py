"""A kernel for certain argument types: its stages, and how their parameters are filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from difftile.ad.activity import active_writes
from difftile.compile.limits import Limits
from difftile.compile.ownership import Ownership, ownership
from difftile.compile.stage import Stage
from difftile.diagnostics import Span
from difftile.fields.field import Field, make
from difftile.frontend.context import Result
from difftile.ir.nodes import Array, Var
from difftile.ir.types import BOOL, Type, is_float, shape_of
from difftile.passes.conflicts import Doubt
from difftile.passes.reach import Reach
from difftile.substrate import Buffer, current_session

if TYPE_CHECKING:
    from difftile.compile.adjoint_plan import AdjointPlan
    from difftile.compile.kernel_rule import RuleCode


@dataclass(frozen=True, slots=True)
class StageLaunch:
    """A stage of one specialisation, by its number.

    `positions` are those of the values of its forward parameters, `writes` those of the fields that
    it writes. `plans` holds what recording it does, for each set of fields with gradients and with
    or without `no_grad`.
    """

    number: int
    stage: Stage
    positions: tuple[int, ...]
    writes: tuple[int, ...]
    plans: dict[tuple[tuple[bool, ...], bool], AdjointPlan] = field(default_factory=dict[Any, Any])


class Specialisation:
    """The stages of a kernel.

    `params` are the parameters of the whole program; the values of a launch come in that order,
    those of the hidden fields last. `writes` are the positions of what some stage writes. A launch
    takes `streams` streams of random numbers; where it takes any, the seed and the first stream are
    its values from `drawn_at` on, and those of the latest launch are `drawn`. `limits` say of which
    arguments it is known that an index would leave a shape. `rules` are those of
    the kernel, by 'backward' and 'forward'. `sizes` are the numbers of statements on the way to the
    stages, and `seconds` what that way took. `ownership` has to be checked at each launch, where
    sizes and numbers decide whether the loops race.
    """

    def __init__(
        self,
        name: str,
        params: Sequence[Array | Var],
        stages: list[Stage],
        streams: int,
        result: Result | None,
        reach: Reach | None,
        doubts: Sequence[Doubt] = (),
    ) -> None:
        self.name = name
        self.streams = streams
        self.sizes: dict[str, int] = {}
        self.seconds = 0.0
        self.drawn_at = len(params) - 2
        self.drawn: tuple[int, int] = (0, 0)
        temps = list(dict.fromkeys(t for s in stages for t in s.program.temps))
        self.params = (*params, *temps)
        self.position = {param: k for k, param in enumerate(self.params)}
        self.limits = Limits(reach, self.position) if reach and reach.leaving else None
        cells = () if result is None else result.cells
        self.temps = [_hidden_field(temp, grad=temp not in cells) for temp in temps]
        self.result = result
        self.rules: dict[str, RuleCode] = {}
        self._wanted: dict[tuple[bool, ...], frozenset[Array]] = {}
        self.launches = [
            StageLaunch(
                number,
                stage,
                tuple(self.position[p] for p in stage.forward.params),
                tuple(sorted(self.position[a] for a in stage.written)),
            )
            for number, stage in enumerate(stages)
        ]
        self.writes = sorted({k for launch in self.launches for k in launch.writes})
        self.ownership = ownership(doubts, self.position)
        self._passed: dict[tuple[int, frozenset[Array]], Ownership | None] = {}

    def run(self, values: list[Any]) -> None:
        """Launch on any values, without a tape; see `Call.run`."""
        for launch in self.launches:
            for k in launch.writes:
                make_writable(values[k])
            launch.stage.forward.launch(arguments(launch.positions, values))

    def check(self, values: Sequence[Any]) -> None:
        """Check the accesses of a launch.

        Raises:
            IndexOutOfRange: One certainly leaves its shape.
            Race: Two of different iterations meet.
        """
        if self.limits is not None:
            self.limits.check(values)
        if self.ownership is not None:
            self.ownership.check(values)

    def returned(self) -> Any:
        """Return what the launch before returned: Python numbers, and arrays of components."""
        if self.result is None:
            return None
        hidden = dict(zip(self.params[-len(self.temps) :], self.temps, strict=True))
        found = [
            _as_python(hidden[cell].storage.buffer.read_at(()), type_)
            for cell, type_ in zip(self.result.cells, self.result.types, strict=True)
        ]
        return tuple(found) if self.result.several else found[0]

    def wanted(self, grads: tuple[bool, ...]) -> frozenset[Array]:
        """Return the fields whose gradients are worked out, hidden ones included.

        A hidden field counts if what it is given varies with a field of the user's that counts.
        """
        found = self._wanted.get(grads)
        if found is None:
            temps = set(self.params[len(self.params) - len(self.temps) :])
            graded = {
                p for p, has in zip(self.params, grads, strict=True) if has and isinstance(p, Array)
            }
            sources = graded - temps
            while True:  # from stage to stage
                writes = [w for s in self.launches for w in active_writes(s.stage.program, sources)]
                more = {w.array for w in writes} & graded
                if not more:
                    break
                sources |= more
            found = self._wanted[grads] = frozenset(sources)
        return found

    def passed(self, stage: Stage, wanted: frozenset[Array]) -> Ownership | None:
        """Return what has to be checked before derivatives pass through a stage.

        Args:
            stage: The stage.
            wanted: The fields with derivatives.
        """
        key = (id(stage), wanted)
        if key not in self._passed:
            self._passed[key] = ownership(stage.clashes(wanted), self.position)
        return self._passed[key]

    def check_passing(self, stage: Stage, wanted: frozenset[Array], values: Sequence[Any]) -> None:
        """Check the values of a launch before derivatives pass through a stage.

        Raises:
            Race: They would pass through stores of different iterations that meet.
        """
        ownership = self.passed(stage, wanted)
        if ownership is not None:
            ownership.check(values)

    def result_cut(self, grads: tuple[bool, ...]) -> Span | None:
        """Return where a value that varies with fields that have gradients is returned."""
        cells = () if self.result is None else self.result.cells
        for launch in self.launches if cells else ():
            for write in active_writes(launch.stage.program, self.wanted(grads)):
                if write.array in cells:
                    return write.span
        return None


def arguments(positions: Sequence[int], values: Sequence[Any]) -> list[Any]:
    """Return buffers and numbers from fields and numbers."""
    return [
        value
        if not isinstance(value, Field)
        else buffer
        if (buffer := value.storage.buffer).shape == value.shape
        else buffer.under(value.shape)
        for value in map(values.__getitem__, positions)
    ]


def argument_of(value: Any) -> Any:
    """Return the buffer of a field, under its shape; or a number."""
    return arguments((0,), (value,))[0]


def scratch_for(
    param: Array, code: Specialisation, values: Sequence[Any], lead: tuple[int, ...] = ()
) -> Buffer:
    """Take memory for a parameter that a derived program needs while it runs.

    Args:
        param: The parameter.
        code: The kernel.
        values: The values of its parameters.
        lead: Sizes of axes in front of those of the parameter's field.
    """
    shape = () if param.like is None else values[code.position[param.like]].shape
    return current_session().pool.allocate(param.type.element, (*lead, *shape))


def make_writable(target: Field) -> None:
    """Move a field whose contents a recording still needs, so that it can be written."""
    if target.storage.buffer.pins:
        target.storage.renew(copy=True)


def _as_python(value: Any, type_: Type) -> Any:
    if shape_of(type_):
        return value
    return bool(value) if type_ == BOOL else value.item()


def _hidden_field(temp: Array, *, grad: bool) -> Field:
    hidden = make(temp.type.element, ())
    return hidden.with_grads() if grad and is_float(temp.type.element) else hidden
