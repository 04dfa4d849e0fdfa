"""A stretch of launches at fixed contents, which can be differentiated any number of times.

The launches of a function are remembered as steps, with a snapshot of the fields at the start,
which makes no copies. Cotangents are pulled back through records of the steps, made once for each
set of requested fields; tangents are pushed through the steps run again. Which fields carry
derivatives follows from the requested fields and not from gradient buffers: the gradient buffers
of the user are neither read nor written.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext

from difftile.compile.arguments import Arguments, field_at
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.fields.gradients import carrier
from difftile.fields.numbers import HostRead, Reads, TakenConstant
from difftile.fields.recording import RECORDING, Recording, Where, no_grad
from difftile.fields.storage import Storage
from difftile.ir.types import is_float
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.linearization.active import Active, warn_of_arrays
from difftile.linearization.directions import Directions
from difftile.linearization.sweep import ADJOINT, Seeds, Sweep
from difftile.recording.host_reads import result_of
from difftile.recording.recorder import StepRecorder
from difftile.recording.replay import Replay
from difftile.recording.run import Run
from difftile.recording.snapshots import Snapshot, Snapshots
from difftile.recording.steps import Launch, StepRecord, TapeStep
from difftile.recording.tapes import TAPES
from difftile.substrate import Buffer, silence
from difftile.user_line import UserLine, user_line


class Pullback(StepRecorder):
    """The launches that a function makes at the contents that fields have now.

    The function runs once, on no tape; fields keep the contents that it leaves.

    Args:
        function: Launches kernels and writes fields from Python.
        of_tape: A record of a tape holds this, which is used in reverse there and nowhere else.
    """

    is_private = True

    def __init__(self, function: Callable[[], object], *, of_tape: bool = False) -> None:
        # A tape writes small parts of kept memory in place, and back in reverse, where only it
        # keeps any.
        self._token = object()
        if not of_tape:
            TAPES.holders.add(self._token)
        self.steps: list[tuple[TapeStep, bool]] = []
        self._reads: dict[int, dict[HostRead, Field]] = {}  # by the number of steps before them
        self._touched: dict[Storage, Field] = {}
        self._returned: dict[str, HostRead] = {}
        self._arrays: dict[int, UserLine] = {}  # of the steps that write arrays
        self._constants: dict[int, list[tuple[TakenConstant, Reads, UserLine]]] = {}
        self._identity = object()
        self._linear: dict[frozenset[Field], tuple[Sweep, Replay]] = {}
        self._snapshots = Snapshots()
        self._snapshots.take(0)
        self._start = self._snapshots.taken[0]
        self._run = Run(self._snapshots, lambda needed: None, None)
        try:
            with Recording(self, observer=RECORDING.get().observer):
                function()
        except BaseException:
            self.release()
            raise

    def misses(self, storage: Storage) -> bool:
        """Tell whether a write from another thread into this memory would falsify the record."""
        return storage in self._touched

    # What the function does

    def record(self, step: TapeStep) -> object:
        """Run a step and remember it."""
        if isinstance(step, Launch) and any(one.storage.is_array for one in step.writes):
            self._arrays[len(self.steps)] = user_line()
        result = self._run.first(step, 0)
        self.steps.append((step, RECORDING.get().constant))
        for one in step.fields:
            known = self._touched.get(one.storage, one)
            self._touched[one.storage] = carrier((known, one)).origin
        return result

    def host_read(self, field: Field, where: Where) -> HostRead | None:
        """Remember a read from Python: the varying fields are known only when requested."""
        if not is_float(field.element):
            return None
        read = HostRead(self._identity, repr(field))
        self._reads.setdefault(len(self.steps), {})[read] = field
        return read

    def result(self, launch: PreparedLaunch, values: Arguments, position: int) -> HostRead | None:
        """Remember a result of a launch: whether it varies is known only later."""
        field = field_at(values, position)
        if not is_float(field.element):
            return None
        name = launch.code.name
        read = self._returned.setdefault(name, HostRead(self._identity, result_of(name)))
        self._reads.setdefault(len(self.steps), {})[read] = field
        return read

    def takes_constant(self, number: TakenConstant, reads: Reads) -> None:
        """Remember that a number is taken for a constant: whether it varies is known only later."""
        self._constants.setdefault(len(self.steps), []).append((number, reads, user_line()))

    def carries_into(self, field: Field) -> bool:
        """Tell whether derivatives pass to numbers that Python writes into a field."""
        return is_float(field.element)

    def follows(self, launch: PreparedLaunch, position: int) -> bool:
        """Tell that derivatives pass to results of launches."""
        return True

    @property
    def fields(self) -> list[Field]:
        """The fields that the steps read or write, without fields that belong to kernels.

        Of fields that share their memory only one is listed, with a gradient if there is one.
        """
        hidden = {field.storage for step, _ in self.steps for field in step.hidden}
        return [one for storage, one in self._touched.items() if storage not in hidden]

    @property
    def written(self) -> list[Field]:
        """The fields that the steps write."""
        written = {field.storage for step, _ in self.steps for field in step.writes}
        return [one for one in self.fields if one.storage in written]

    @property
    def found(self) -> list[Field]:
        """The fields whose initial contents the steps read or change only in part."""
        return [one for one in self.fields if one.storage in self._start.held]

    # Contents

    def rewind(self) -> None:
        """Restore the contents that the fields had before the function.

        Fields that it overwrote whole before it read them keep their contents.
        """
        self._start.restore()

    def anew(self) -> Pullback:
        """Return the same steps, at the contents that the fields have now, where they run again."""

        def run() -> None:
            twin = RECORDING.get().recorder
            assert isinstance(twin, Pullback)
            for step, constant in self.steps:
                with no_grad() if constant else nullcontext():
                    twin.record(step)

        with silence():
            twin = Pullback(run)
        twin._identity, twin._reads, twin._returned = self._identity, self._reads, self._returned
        twin._arrays, twin._constants = self._arrays, self._constants
        return twin

    def again(self, step: TapeStep) -> None:
        """Run a step once more, at the present contents of the fields."""
        self._run.again(step, 0)

    @contextmanager
    def from_start(self) -> Generator[None]:
        """Restore the contents from before the function, and after the block the present ones."""
        now = Snapshot(0)
        for storage in self._touched:
            now.hold(storage)
        try:
            self._start.restore()
            yield
        finally:
            now.restore()
            now.release()

    # Derivatives

    def warn_of_cuts(self, wanted: frozenset[Field]) -> None:
        """Warn of numbers that vary with some fields and were taken for constants."""
        if not self._constants and not self._arrays:
            return
        active = Active(wanted)
        varying: set[HostRead] = set()
        for position in range(len(self.steps) + 1):
            before = self._reads.get(position, {})
            varying |= {read for read, field in before.items() if field in active}
            for number, taken, line in self._constants.get(position, ()):
                if reads := varying & taken:
                    number.warn(reads, line)
            for step, constant in self.steps[position : position + 1]:
                if constant:
                    continue
                active.follow(step)
                if position in self._arrays and isinstance(step, Launch):
                    warn_of_arrays(step, active, self._arrays[position])

    def pull(self, seeds: Seeds, wrt: Iterable[Field]) -> dict[Field, Field]:
        """Return the cotangents of the fields' contents before the function.

        Args:
            seeds: For each output the cotangent of its contents after the function: a field, an
                array of its shape, or a number for all elements.
            wrt: The fields to return cotangents for.

        Returns:
            For each of `wrt` a field with its cotangent, good until the next call for the same
            fields.

        Raises:
            NotDifferentiable: A launch has no adjoint.
            LaunchError: A host operation has no backward.
        """
        wanted = frozenset(one.origin for one in wrt)
        sweep, replay = self._linear_in(wanted)
        replay.clear()
        sweep.pull([seeds], [replay])
        return {one: replay.gradient(one) for one in wanted}

    def pull_many(
        self, seeds: Mapping[Field, HostArray], wrt: Iterable[Field], width: int
    ) -> dict[Field, HostArray]:
        """Return several cotangents of the fields' contents before the function.

        Args:
            seeds: For each output the cotangents of its contents after, one after the other along
                the first axis.
            wrt: The fields whose cotangents are returned.
            width: Their number.

        Raises:
            Unbatchable: Loops have bounds that differ between directions.
        """
        fields = [one.origin for one in wrt]
        sweep, _ = self._linear_in(frozenset(fields))
        bars = Directions(width)
        sweep.pull([{**seeds}], [bars])
        return {one: bars.gradient(one).to_numpy() for one in fields}

    def pinned(self) -> Iterator[Buffer]:
        """Yield the buffers that snapshots and records keep."""
        for snapshot in self._snapshots.taken:
            yield from snapshot.held.values()
        for sweep, _ in self._linear.values():
            for record in sweep.recorded:
                yield from record.pinned

    def records(self, wrt: Iterable[Field]) -> Sequence[StepRecord]:
        """Return the records of the steps for the cotangents of some fields, in order.

        Raises:
            NotDifferentiable: A launch has no adjoint.
        """
        return self._linear_in(frozenset(one.origin for one in wrt))[0].recorded

    def _linear_in(self, wanted: frozenset[Field]) -> tuple[Sweep, Replay]:
        """Return the records for cotangents of some fields, and the memory of cotangents."""
        linear = self._linear.get(wanted)
        if linear is None:
            self.warn_of_cuts(wanted)
            sweep = Sweep(wanted, ADJOINT)
            sweep.over(self)
            linear = self._linear[wanted] = sweep, Replay((), accumulate=False, private=True)
        return linear

    def forget(self) -> None:
        """Release all contents; the steps can still run `anew`."""
        for sweep, _ in self._linear.values():
            sweep.release()
        self._linear = {}
        self._snapshots.release()
        TAPES.holders.discard(self._token)

    def release(self) -> None:
        """Release all contents; derivatives are not available any more."""
        self.forget()
        self.steps = []
        self._reads = {}

    def __del__(self) -> None:
        if TAPES is not None:  # the interpreter ends
            self.release()
