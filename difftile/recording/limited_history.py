"""The history of a tape with a limit: steps, and snapshots from which they can be run again.

The tape records everything while that fits. Then it lets go of the records and lives
on snapshots, taken at a stride that doubles whenever they take half of the budget, so that the
length of the run need not be known (in the spirit of Wang, Moin and Iaccarino, Minimal repetition
dynamic checkpointing, 2009). In reverse, each stretch between two snapshots is run again and
recorded; where a stretch does not fit, new snapshots divide it by the binomial schedule
(`revolve`), with the memory that the snapshots already passed have given back.

Steps that several ranks run together (`joint_steps`) must run again on all of them or on none. So
the stretches that contain such steps are the same on all ranks, in units of joint steps: the ranks
agree on each before it is run, by the least of what they have room for, and on where its records
begin afterwards. Between two joint steps, each rank runs steps again as it likes. Nothing is agreed
on while the tape records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from difftile.diagnostics import TapeError
from difftile.fields.gradients import fields_with_grads
from difftile.fields.storage import Storage
from difftile.recording.budget import as_text
from difftile.recording.joint_steps import JointSteps, Plan, least, make_plan
from difftile.recording.run import Run
from difftile.recording.runs import RunStep
from difftile.recording.schedule import make_schedule
from difftile.recording.snapshots import Snapshot, Snapshots, kept_bytes
from difftile.recording.steps import Launch, StepRecord, TapeStep
from difftile.substrate import Buffer, Pool, current_session

Limit: TypeAlias = Callable[[int], float]
"""The bytes that may be kept, given the size of the state: of all fields that the run changes."""

_FIRST_STRIDE = 8  # launches between snapshots, before any had to be dropped
_BESIDE_LOGS = 0.75  # of the budget, where launches have logs
_SHARE_OF_A_RUN = 1 / 32  # of the budget, for the values saved by a part of a run


class LimitedHistory:
    """Keeps the steps, and as many snapshots and records as fit into a budget.

    Args:
        limit: The budget.
        bounded: Whether there is one: keep records as long as all of them fit, and snapshots; else
            only what the first step finds.
    """

    def __init__(self, limit: Limit, *, bounded: bool = True) -> None:
        self.recomputed = 0
        self._limit = limit
        self._pool: Pool | None = None
        self._known = 0, 0  # bytes that were kept, and the pool's `entered` then
        self._passing: list[list[Snapshot]] = []  # snapshots of a pass that is under way
        self._again: list[Run] = []  # its runs that have records
        self._steps: list[TapeStep] = []
        self._changed: dict[Storage, int] = {}
        self._state_bytes = 0
        self._running: TapeStep | None = None
        self._saved_bytes = 0
        self._has_logs = False
        self._bounded = bounded
        self._stride = _FIRST_STRIDE if bounded else math.inf  # in steps, before a joint one
        self._joint = JointSteps()
        self._joint_stride = 1
        self._snapshots = Snapshots()
        self._record_bytes = 0.0
        self._run = Run(self._snapshots, self._room_while_recording, [] if bounded else None)

    def __len__(self) -> int:
        return sum(step.count for step in self._steps)

    @property
    def snapshots(self) -> int:
        """The number of snapshots held now."""
        return len(self._snapshots.taken)

    def steps(self) -> Iterator[tuple[TapeStep, StepRecord | None]]:
        """Yield the steps in order, with their records if there are any."""
        if self._run.records is None:
            yield from ((step, None) for step in self._steps)
        else:
            yield from ((record.step, record) for record in self._run.records)

    # Recording

    def record(self, step: TapeStep) -> object:
        """Run a step and remember it."""
        if self._pool is None:
            self._pool = current_session().pool
            self._known = 0, self._pool.entered
        if isinstance(step, RunStep):
            for storage in {field.storage for field in step.writes}:
                self._add_to_state(storage)
            for part in step.parts(_SHARE_OF_A_RUN * self._without_logs()):
                self._record(part)
            return None
        return self._record(step)

    def _record(self, step: TapeStep) -> object:
        """Run a step and remember it."""
        new = [field.storage for field in step.writes if field.storage not in self._changed]
        for storage in new:
            self._add_to_state(storage)
        for field in step.fields:
            if field.storage.memory.is_shared:  # others may change it, and it is copied as well
                self._add_to_state(field.storage)
        self._has_logs = self._has_logs or (isinstance(step, Launch) and step.has_logs)
        position = len(self._steps)
        expected = step.communicates or step.signature in self._joint.signatures
        if self._is_due(position, self._bounded and expected):
            self._snapshots.take(position)
        self._running = step
        result = self._run.first(step, position)
        self._steps.append(step)
        if self._bounded and step.communicates:
            self._joint.add(position, step.signature)
        if new:
            written = {field.storage for field in step.writes}
            for storage in set(new) - written:  # an opaque step turned out not to write it
                if not storage.memory.is_shared:
                    self._state_bytes -= self._changed.pop(storage)
        return result

    def _is_due(self, position: int, joint: bool) -> bool:
        """Tell whether a snapshot is due before a step, which is a joint one or not.

        From the first joint step on, snapshots are taken before those whose number is a multiple of
        a power of two, so that one rank's positions are a subset of another rank's.
        """
        taken = self._snapshots.taken
        if not taken:
            return True
        if not self._joint and not joint:
            return position - taken[-1].position >= self._stride
        count = len(self._joint)
        if (
            not joint
            or count % self._joint_stride
            or count == self._joint.before(taken[-1].position)
        ):
            return False
        if position - taken[-1].position < _FIRST_STRIDE:
            self._joint_stride *= 2
        return not count % self._joint_stride

    def _add_to_state(self, storage: Storage) -> None:
        if storage not in self._changed:
            # A shared field stays where it is, and even its latest contents are copied.
            copies = 2 if storage.buffer.is_shared else 1
            nbytes = self._changed[storage] = copies * storage.memory.nbytes
            self._state_bytes += nbytes

    def _without_logs(self) -> float:
        """Return the part of the budget that is not set aside for logs of loops."""
        return _BESIDE_LOGS * self._budget if self._has_logs else self._budget

    @property
    def _budget(self) -> float:
        """The bytes that may be kept; the values saved by one opaque step count as state."""
        if self._running is not None:
            self._saved_bytes = max(self._saved_bytes, self._running.saved_nbytes)
        return self._limit(self._state_bytes + self._saved_bytes)

    @property
    def _kept(self) -> int:
        """The bytes of old values of this tape; to count them takes as long as it has records."""
        runs = self._run, *self._again
        records = [one for run in runs for one in (*(run.records or ()), *run.started)]
        snapshots = chain(*(run.snapshots.taken for run in runs), *self._passing)
        buffers = chain(*(one.held.values() for one in snapshots), *(one.pinned for one in records))
        # The contents after the last use of what others may write (`shared_fields`): records and
        # snapshots share these copies, which enter without a count.
        copies = (storage.memory.contents.copy for storage in self._changed)
        latest = (copy for copy in copies if copy is not None and copy.pins)
        found = kept_bytes(chain(buffers, latest))
        found += sum(record.counted_nbytes for record in records)
        if self._pool is not None:
            self._known = found, self._pool.entered
        return found

    def _exceeds(self, limit: float, needed: int) -> bool:
        """Tell whether old values of so many more bytes would pass a limit."""
        if self._pool is None:
            return needed > limit
        # What all threads have kept since is a bound, which is enough in most cases.
        known, entered = self._known
        if known + self._pool.entered - entered + needed <= limit:
            return False
        return self._kept + needed > limit

    def _room_while_recording(self, needed: Callable[[], int]) -> None:
        """Make room for more old values: drop the records first, then snapshots."""
        limit = self._without_logs()
        if not self._exceeds(limit if self._run.records is not None else limit / 2, needed()):
            return
        if self._run.records is not None:
            self._release_records()
        while len(self._snapshots.taken) > 1 and self._exceeds(limit / 2, needed()):
            self._thin()
        if self._exceeds(limit, needed()):
            raise self._too_small(limit)

    def _thin(self) -> None:
        """Drop about half of the snapshots before the first joint step, or of those after it."""
        taken = self._snapshots.taken
        after = [(one, k) for one in taken if (k := self._joint.before(one.position))]
        if 2 * len(after) < len(taken):
            self._snapshots.drop(*taken[1 : len(taken) - len(after) : 2])
            self._stride *= 2
        else:
            self._joint_stride *= 2
            self._snapshots.drop(*(one for one, k in after if k % self._joint_stride))

    def _too_small(self, limit: float) -> TapeError:
        # The contents of fields at the end and at the start, and the record of one launch.
        state = self._state_bytes + self._saved_bytes
        # Between two joint steps, those after the first of them as well.
        times, word = (4, "Four") if self._joint else (3, "Three")
        enough = math.ceil(times * state / (_BESIDE_LOGS if self._has_logs else 1))
        saved = f", and one step saves {as_text(self._saved_bytes)}" if self._saved_bytes else ""
        return TapeError(
            f"The memory of the tape, {as_text(limit)}, is too small: the fields that its launches "
            f"change hold {as_text(self._state_bytes)}{saved}. {word} times that is enough: "
            f"Tape(memory={enough})."
        )

    # In reverse

    def room(self, needed: int) -> float:
        """Return the bytes that the log of a loop may take now, or `needed` if they are there."""
        budget = self._budget
        return budget - self._kept if self._exceeds(budget, needed) else needed

    def backwards(self, *, keep: bool) -> Generator[StepRecord]:
        """Yield the records from the last to the first; each is good until the next is asked for.

        Fields hold earlier values meanwhile; their present values are restored at the end.

        Raises:
            TapeError: The memory is too small.
            RankError: Another rank failed, or has recorded other joint steps.
        """
        if self._joint and not self._joint.agree_on_records(self._run.records is not None):
            self._release_records()  # another rank's did not fit
        if self._run.records is not None:
            for record in reversed(self._run.records):
                yield record
                if not keep:
                    record.release()
            return
        self._refuse_gradients()
        # The snapshots before the steps that are still to be reversed, the latest last.
        ahead = list(self._snapshots.taken)
        for snapshot in ahead:
            for storage, buffer in snapshot.held.items():
                if not storage.holds(buffer):  # read here, and changed since by others
                    self._add_to_state(storage)
        final = self._snapshot_of_all(len(self._steps))
        self._passing = [ahead, [final]]
        staying = set(ahead) if keep else set[Snapshot]()
        stretches = self._stretches(ahead, staying)
        try:
            for records in stretches:
                for record in reversed(records):
                    yield record
                    record.release()
        finally:
            stretches.close()
            for snapshot in ahead:
                if snapshot not in staying:
                    snapshot.release()
            final.restore()
            final.release()
            self._passing, self._again = [], []

    def _stretches(
        self, ahead: list[Snapshot], staying: set[Snapshot]
    ) -> Generator[Sequence[StepRecord]]:
        """Yield the records of stretches of steps that run again, the last stretch first.

        Args:
            ahead: The snapshots before the steps that are still to be reversed, the latest last.
            staying: The snapshots that are dropped only for want of room.
        """
        sweep: Run | None = None
        held: Run | None = None  # the last joint step, while those after it are reversed
        end = len(self._steps)
        joint = self._joint
        shared = list(range(len(joint)))  # where all ranks may have snapshots
        narrow = False
        try:
            while end > 0:
                latest = ahead[-1]
                if held is not None and joint.is_at(end - 1):
                    sweep, held, end = held, None, end - 1
                elif latest.position >= end:
                    ahead.pop()
                    if latest not in staying:
                        latest.release()
                    continue
                elif joint.before(latest.position) == joint.before(end):
                    sweep, end = self._sweep(ahead, end, staying)
                else:
                    sweep = None
                    plan, shared = self._agree_on_plan(ahead, end, staying, shared, narrow)
                    run, start = self._joint_sweep(ahead, end, staying, plan)
                    shared = sorted({*shared, *plan.snapshots})
                    narrow = start == end
                    if plan.narrow:
                        held = run
                        if start + 1 < end:
                            ahead.append(self._snapshot_of_all(start + 1))
                        continue
                    sweep, end = run, start
                yield sweep.records or ()
        finally:
            for run in (sweep, held):
                if run is not None:
                    run.release_records()

    def _release_records(self) -> None:
        self._record_bytes = self._kept / max(1, len(self._steps))
        self._run.release_records()

    def _snapshot_of_all(self, position: int) -> Snapshot:
        """Return a snapshot of the present contents of all fields that the run changes."""
        snapshot = Snapshot(position)
        for storage in self._changed:
            snapshot.hold(storage)
        return snapshot

    def _sweep(self, ahead: list[Snapshot], end: int, staying: set[Snapshot]) -> tuple[Run, int]:
        """Run the steps from the latest snapshot on again and record the last of them.

        Args:
            ahead: The snapshots so far; new ones are added.
            end: Where to stop; no joint step lies before it.
            staying: The snapshots that are dropped only for want of room.

        Returns:
            The run with its records, and the position where recording began.
        """
        ahead[-1].restore()
        first = ahead[-1].position
        snapshots = Snapshots()
        limit = self._budget
        own = len(self._snapshots.taken)
        each = self._kept / own if own > 1 else self._state_bytes
        schedule = make_schedule(end - first, limit - self._kept, each, self._record_bytes)
        due = {first + offset for offset in schedule.snapshots}
        recorded_from = first + schedule.recorded_from
        position = first

        def make_room(needed: Callable[[], int]) -> None:
            nonlocal recorded_from
            while self._exceeds(limit, needed()):
                if run.records:
                    # The stretch is longer than it may be: only its rest is recorded.
                    run.release_records()
                    run.records = []
                    snapshots.take(position)
                    recorded_from = position
                elif snapshots.taken:
                    snapshots.thin()
                elif not self._drop_one(ahead, staying, end):
                    raise self._too_small(limit)

        run = self._run_again(snapshots, make_room)
        before = self._kept
        for position in range(first, end):
            if position in due:
                snapshots.take(position)
            if position == recorded_from:
                run.records = []
                before = self._kept
            run.again(self._steps[position], position)
        self.recomputed += sum(step.count for step in self._steps[first:end])
        if run.records:
            self._record_bytes = max(0, self._kept - before) / (end - recorded_from)
        ahead += snapshots.taken
        return run, recorded_from

    def _run_again(
        self, snapshots: Snapshots, make_room: Callable[[Callable[[], int]], None]
    ) -> Run:
        """Return a run of steps once more, whose memory counts."""
        run = Run(snapshots, make_room, None)
        live = [one for one in self._again if any(chain(*(r.buffers for r in one.records or ())))]
        self._again = [*live, run]
        return run

    def _drop_one(self, ahead: list[Snapshot], staying: set[Snapshot], end: int) -> bool:
        """Drop a snapshot that a sweep to `end` can do without; return whether there was one."""
        joint = self._joint
        if len(ahead) > 1 and joint.before(ahead[-2].position) == joint.before(end):
            dropped = ahead.pop()  # the run has left it
        elif len(ahead) > 2:
            dropped = ahead.pop(-2)  # the other ranks will do without it, too
        elif passed := [snapshot for snapshot in staying if snapshot not in ahead]:
            dropped = passed[0]  # the pass has left it
        else:
            return False
        self._drop(dropped, staying)
        return True

    def _drop(self, snapshot: Snapshot, staying: set[Snapshot]) -> None:
        """Release a snapshot; a later pass does without it, too."""
        snapshot.release()
        if snapshot in staying:
            staying.remove(snapshot)
            self._snapshots.taken.remove(snapshot)

    # In reverse, together with other ranks

    def _agree_on_plan(
        self,
        ahead: list[Snapshot],
        end: int,
        staying: set[Snapshot],
        shared: Sequence[int],
        narrow: bool,
    ) -> tuple[Plan, list[int]]:
        """Agree on the next sweep over joint steps, and drop snapshots that not all ranks have.

        Args:
            ahead: The snapshots so far.
            end: Where the sweep is to stop.
            staying: The snapshots that are dropped only for want of room.
            shared: The numbers of joint steps before the places where all ranks may have snapshots.
            narrow: Whether the last stretch is to be the shortest.

        Returns:
            The plan, and `shared` as far as the ranks do have snapshots.
        """
        joint = self._joint
        last = joint.before(end)
        shared = [k for k in shared if k < last]
        free = max(0.0, self._budget - self._kept)
        sizes = [sum(buffer.nbytes for buffer in one.held.values()) for one in ahead]
        each = max(sizes) or self._state_bytes
        # The joint steps whose records fit, each with the steps after it.
        steps = min(free / self._record_bytes, end) if self._record_bytes else end
        fitting = 0 if narrow else last - joint.before(math.ceil(end - steps))
        have = {joint.before(one.position) for one in ahead}
        numbers = [free / each if each else math.inf, fitting, *(k in have for k in shared)]
        slots, stretch, *found = least(numbers, "the agreement on what to run again").tolist()
        shared = [k for k, is_shared in zip(shared, found, strict=True) if is_shared]
        for snapshot in [one for one in ahead if joint.before(one.position) not in shared]:
            ahead.remove(snapshot)
            self._drop(snapshot, staying)
        return make_plan(joint.before(ahead[-1].position), last, slots, stretch), shared

    def _joint_sweep(
        self, ahead: list[Snapshot], end: int, staying: set[Snapshot], plan: Plan
    ) -> tuple[Run, int]:
        """Run the steps from the latest snapshot on again, joint ones among them.

        Args:
            ahead: The snapshots so far; new ones are added.
            end: Where to stop. In a narrow plan, that is after the last joint step before.
            staying: The snapshots that are dropped only for want of room.
            plan: The plan that the ranks have agreed on.

        Returns:
            The run with its records, and the position where they begin: on all ranks after equally
            many joint steps. It is `end` if a rank has no room for the shortest stretch.
        """
        joint = self._joint
        ahead[-1].restore()
        first, a, b = ahead[-1].position, plan.first, plan.stop
        snapshots = Snapshots()
        limit = self._budget
        due = {joint.positions[k] for k in plan.snapshots}
        recorded_from = joint.positions[plan.recorded_from] if plan.recorded_from > a else first
        stop = joint.positions[b - 1] + 1 if plan.narrow else end
        if plan.narrow:
            recorded_from = stop - 1
        start = end
        places: dict[int, int] = {}  # of joint steps among the records

        def make_room(needed: Callable[[], int]) -> None:
            while self._exceeds(limit, needed()):
                if run.records and not plan.narrow:
                    run.release_records()  # and begin again at the next joint step
                elif snapshots.taken:
                    snapshots.thin()
                elif len(ahead) > 1:
                    self._drop(ahead.pop(), staying)  # the run has left it
                elif passed := [one for one in staying if one not in ahead]:
                    self._drop(passed[0], staying)
                elif run.records is not None and not plan.narrow:
                    run.release_records()
                else:
                    raise self._too_small(limit)

        run = self._run_again(snapshots, make_room)
        before = self._kept
        for position in range(first, stop):
            is_joint = joint.is_at(position)
            if position in due:
                snapshots.take(position)
            if run.records is None and (
                position == recorded_from or (is_joint and position > recorded_from)
            ):
                run.records, start, before, places = [], position, self._kept, {}
            if is_joint and run.records is not None:
                places[joint.before(position)] = len(run.records)
            run.again(self._steps[position], position)
        self.recomputed += sum(step.count for step in self._steps[first:stop])
        ahead += snapshots.taken
        if plan.narrow:
            return run, start
        if run.records is None:
            start = end
            self._record_bytes = max(self._record_bytes, limit / max(1, end - recorded_from))
        else:
            self._record_bytes = max(0, self._kept - before) / (end - start)
        return run, self._agree_on_start(run, start, end, b, places)

    def _agree_on_start(
        self, run: Run, start: int, end: int, stop: int, places: Mapping[int, int]
    ) -> int:
        """Return where the records of a run begin on all ranks; earlier ones are released.

        Args:
            run: The run.
            start: Where its records begin on this rank.
            end: Where it ends.
            stop: The number of joint steps before its end.
            places: The places of joint steps among the records.
        """
        joint = self._joint
        own = joint.before(start)
        agreed = -int(least([-own], "the agreement on what is to be reversed")[0])
        if agreed == stop:
            run.release_records()
            return end
        if agreed > own and run.records is not None:
            for record in run.records[: places[agreed]]:
                record.release()
            del run.records[: places[agreed]]
            return joint.positions[agreed]
        return start

    def _refuse_gradients(self) -> None:
        """Refuse to run launches again that read or write gradients, to which the replay adds.

        Raises:
            TapeError: A launch does.
        """
        gradients = {
            gradient.storage
            for field in fields_with_grads()
            for gradient in (field.grad_in, field.grad_out)
            if gradient is not None
        }
        touched = [self._changed, *(snapshot.held for snapshot in self._snapshots.taken)]
        if not all(gradients.isdisjoint(storages) for storages in touched):
            raise TapeError(
                "A gradient was read or written while the tape was open. A tape with a limited "
                "memory runs its launches again, in the midst of computing gradients: use "
                "gradients outside the block."
            )

    @property
    def nbytes(self) -> int:
        """Bytes of old values."""
        return self._kept

    def buffers(self) -> Iterator[Buffer]:
        """Yield the memory that is held, some of it perhaps twice."""
        for snapshot in self._snapshots.taken:
            yield from snapshot.held.values()
        for record in self._run.records or ():
            yield from record.buffers

    def release(self) -> None:
        """Release everything."""
        self._run.release_records()
        self._snapshots.release()
        self._steps = []
        self._changed = {}
