"""Reports of kernels under debug: the first failure of a launch, and its values."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from difftile.diagnostics import DifftileError
from difftile.ir.nodes import Array, Fail, Program
from difftile.ir.types import F64, I32, FieldType, Vector
from difftile.ir.walk import walk
from difftile.records import dataclass
from difftile.substrate.memory import Buffer
from difftile.substrate.session import current_session


@dataclass(frozen=True, slots=True)
class FailureReport:
    """The failures of a program, and the memory in which one of them is reported.

    Args:
        fails: The places of failures, in the order of the program.
        count: A counter of failures; the thread that raises it from 0 may report.
        values: The place's number in `fails`, and then its values.
        marks: Memory that is zero before each launch, each in the shape of the array it is `like`.
    """

    fails: tuple[Fail, ...]
    count: Array
    values: Array
    marks: tuple[Array, ...]

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The parameters of the program that the report has memory for."""
        return (self.count, self.values, *self.marks)

    def collect(
        self,
        launch: Callable[[Sequence[Buffer]], None],
        shape_of: Callable[[Array], tuple[int, ...]],
    ) -> None:
        """Run a launch with memory for a report, and keep its failure for `raise_first`."""
        found = self.first_of(launch, shape_of)
        if found is not None:
            fail, values = found
            _failures.append(fail.failure.error(fail.span, values))

    def first_of(
        self,
        launch: Callable[[Sequence[Buffer]], None],
        shape_of: Callable[[Array], tuple[int, ...]],
    ) -> tuple[Fail, list[float]] | None:
        """Run a launch with memory for a report; return its failure, if any, and the values."""
        allocate = current_session().pool.allocate
        count, values = (allocate(a.type.element, ()) for a in (self.count, self.values))
        marks = [
            allocate(m.type.element, () if m.like is None else shape_of(m.like)) for m in self.marks
        ]
        for zeroed in (count, *marks):
            zeroed.fill(0)
        launch((count, values, *marks))
        found = None
        if int(count.read_at(())):
            number, *given = values.read_at(())
            fail = self.fails[int(number)]
            found = fail, given[: len(fail.values)]
        for buffer in (count, values, *marks):
            buffer.free()
        return found


def report_of(program: Program, marks: tuple[Array, ...]) -> FailureReport | None:
    """Return the report of a program; None for programs that cannot fail."""
    fails = tuple(stmt for stmt in walk(program.body) if isinstance(stmt, Fail))
    if not fails and not marks:
        return None
    size = 1 + max(1, 1, *(len(fail.values) for fail in fails))
    count = Array("failures", FieldType(I32, 0))
    return FailureReport(fails, count, Array("failure", FieldType(Vector(size, F64), 0)), marks)


_failures: list[DifftileError] = []
_silenced: ContextVar[bool] = ContextVar("difftile_silenced", default=False)


@contextmanager
def silence() -> Generator[None]:
    """Launch inside the block without printing and reporting, as when launches run again."""
    before = _silenced.get()
    try:
        _silenced.set(True)
        yield
    finally:
        _silenced.set(before)


def is_silenced() -> bool:
    """Tell whether launches run in silence."""
    return _silenced.get()


def failed() -> bool:
    """Tell whether there was a failure since `raise_first` was called last."""
    return bool(_failures)


def raise_first() -> None:
    """Raise the first failure since the last call, if there was one.

    Raises:
        DifftileError: The failure.
    """
    if _failures:
        first = _failures[0]
        _failures.clear()
        raise first
