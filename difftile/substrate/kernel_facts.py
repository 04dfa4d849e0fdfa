"""The facts of a kernel that is to be written: its parameters, and all that stays as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from difftile.ir.nodes import Array, Let, Load, Program, Stmt, Var
from difftile.ir.printer import Names
from difftile.ir.types import BOOL, FieldType
from difftile.passes.affine import definitions_of
from difftile.records import dataclass
from difftile.schedule.apply import Applied
from difftile.schedule.schedule import Schedule
from difftile.schedule.target import Target
from difftile.substrate.parts import for_each_part
from difftile.substrate.syntax import annotation


@dataclass(frozen=True, slots=True)
class KernelParameters:
    """The parameters of a kernel.

    Args:
        kernel: The name of the kernel.
        hints: The text of each type, by the name of the parameter.
        annotations: The types of fields by these texts.
        sized: The name of an array with a shape; empty if there is none.
        least_ndim: Fields have so many dimensions at least.
    """

    kernel: str
    hints: dict[str, str]
    annotations: dict[str, FieldType]
    sized: str
    least_ndim: int

    @staticmethod
    def of(
        program: Program, report: Sequence[Array], schedule: Schedule, names: Names
    ) -> KernelParameters:
        """Return the parameters of a program, with names for them."""
        kernel, least_ndim = names.new(program.name), int(schedule.outlined)
        hints, annotations, sized = dict[str, str](), dict[str, FieldType](), ""
        for param in (*program.params, *program.temps, *report):
            if isinstance(param, Array):
                type_ = replace(param.type, ndim=max(param.type.ndim, least_ndim))
                hint = annotation(type_)
                annotations[hint] = type_
                if type_.ndim and not sized:
                    sized = names[param]
            else:
                hint = hint_of(param) if param.type != BOOL else "ti.i32"
            hints[names[param]] = hint
        return KernelParameters(kernel, hints, annotations, sized, least_ndim)


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """What is written as a kernel; nothing of it changes on the way.

    Args:
        program: The program, with arrays declared where they are first used.
        made: What is known of it.
        schedule: How it runs.
        target: What it is compiled for.
        report: Where failures are counted, and described.
        ends: The arrays of a thread that take turns, by their last statement: `Turns`.
        shared: The arrays that the lanes of a warp share.
        parameters: The parameters of the kernel.
    """

    program: Program
    made: Applied
    schedule: Schedule
    target: Target
    report: tuple[Array, ...]
    ends: Mapping[int, list[Array]]
    shared: Set[Array]
    parameters: KernelParameters

    @property
    def threads(self) -> int:
        """How many threads of the CPU share loops; 0 for one, or as the compiler decides."""
        return 0 if self.schedule.serial or not self.target.on_host else self.target.threads

    @property
    def defs(self) -> Mapping[Var, Stmt]:
        """The statements that define the values."""
        return definitions_of(self.program.body)

    @property
    def for_each_part(self) -> tuple[Let | Load, ...]:
        """The statements between loops that each part of a loop runs for itself."""
        # A device would start a task for the statements before its loops.
        on_device = bool(self.made.grids)
        if not (self.threads or on_device):
            return ()
        return for_each_part(self.program.body, loads=on_device)


def hint_of(variable: Var) -> str:
    """Return the text of the type of a variable."""
    return "ti.u1" if variable.type == BOOL else f"ti.{variable.type}"
