"""The steps of a tape in order, with repetitions folded: the contents of `tape.visualize`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from difftile.compile.arguments import field_at
from difftile.fields.field import Field
from difftile.fields.storage import Storage
from difftile.recording.budget import as_text
from difftile.recording.opaque import Opaque, OpaqueRecord
from difftile.recording.runs import RunRecord, RunStep
from difftile.recording.steps import Launch, LaunchRecord, StepRecord, TapeStep
from difftile.recording.write import Write
from difftile.records import dataclass
from difftile.substrate import Buffer

_LONGEST_LOOP = 64  # steps in the body of a repetition; longer ones are not found


@dataclass(slots=True)
class Times:
    """Milliseconds that launches took, by the identity of their arguments."""

    forward: dict[int, float] = field(default_factory=dict[int, float])
    backward: dict[int, float] = field(default_factory=dict[int, float])


@dataclass(slots=True)
class Item:
    """A launch or a write from Python, or the sum over several equal ones.

    Args:
        name: The kernel, or the kind of write.
        reads: Rows of the fields that it reads.
        writes: Rows of the fields that it writes.
        kept: Rows of the fields of which the tape keeps old values for it.
        nbytes: The bytes of the old values.
        launches: The keys of its times.
    """

    name: str
    reads: frozenset[int]
    writes: frozenset[int]
    kept: frozenset[int] = frozenset()
    nbytes: int = 0
    launches: list[int] = field(default_factory=list[int])


@dataclass(slots=True)
class RepeatedItems:
    """A repetition of items."""

    body: list[Node]
    times: int


Node: TypeAlias = Item | RepeatedItems


class Trace:
    """The fields of a tape as rows, and the steps that touched them as items.

    Args:
        steps: The steps in order, with their records; a launch once for each recorded stage.
    """

    def __init__(self, steps: Iterable[tuple[TapeStep, StepRecord | None]]) -> None:
        self.items: list[Item] = []
        self._fields: list[tuple[Field, str]] = []
        self._row_of: dict[Storage, int] = {}
        self._counted: set[int] = set()
        for step, record in steps:
            match step:
                case Launch():
                    self._launch(step, record)
                case RunStep():
                    self._run(step, record)
                case Write(target, source=source):
                    written = frozenset((self._row(target),))
                    read = () if source is None else (self._row(source.base),)
                    kind = "write" if source is None else "copy"
                    self.items.append(Item(kind, frozenset(read), written))
                case Opaque():
                    self._opaque(step, record.kept if isinstance(record, OpaqueRecord) else {})
                case _:
                    raise NotImplementedError(step)

    def _run(self, run: RunStep, record: StepRecord | None) -> None:
        """Add the launches of a fused run; the first one is charged with the run's saved bytes."""
        launches = list(run.launches())  # all of them live, as they are told apart by identity
        first = len(self.items)
        for launch in launches:
            self._launch(launch, None)
        if isinstance(record, RunRecord):
            saved = {run.fused.fields[slab.number].storage for slab in record.slabs}
            for launch, item in zip(launches, self.items[first:], strict=True):
                for plan in launch.plans:
                    kept = [k for k in plan.kept if field_at(launch.values, k).storage in saved]
                    item.kept |= self._rows(launch, kept)
            for buffer in record.buffers:
                self._counts(self.items[first], buffer)

    def _rows(self, step: Launch, positions: Iterable[int]) -> frozenset[int]:
        """Return the rows of the fields at some positions among the arguments of a launch."""
        code = step.prepared.code
        return frozenset(
            self._row(field, code.params[k].name)
            for k in positions
            if (field := field_at(step.values, k)) not in code.temps
        )

    def _launch(self, step: Launch, record: StepRecord | None) -> None:
        code = step.prepared.code
        if not self.items or self.items[-1].launches != [id(step)]:
            read = {code.position[a] for stage in code.stages for a in stage.loaded}
            written = {code.position[a] for stage in code.stages for a in stage.written}
            reads, writes = (self._rows(step, sorted(found)) for found in (read, written))
            self.items.append(Item(code.name, reads, writes, launches=[id(step)]))
        if isinstance(record, LaunchRecord):
            item = self.items[-1]
            kept = zip(record.plan.kept, record.kept, strict=True)
            item.kept |= self._rows(step, [k for k, b in kept if self._counts(item, b)])

    def _opaque(self, opaque: Opaque, kept: Mapping[Storage, Buffer]) -> None:
        uses = opaque.uses
        row_of = {use.field.storage: self._row(use.field, use.name) for use in uses}
        read = frozenset(row_of[use.field.storage] for use in uses if use.reads)
        written = frozenset(row_of[use.field.storage] for use in uses if use.writes)
        item = Item(opaque.step.name, read, written, launches=[id(opaque)])
        item.kept = frozenset(row_of[s] for s, b in kept.items() if self._counts(item, b))
        self.items.append(item)

    def _counts(self, item: Item, buffer: Buffer) -> bool:
        """Add the bytes of a buffer that holds old values, unless they were counted before."""
        if buffer.owners or id(buffer) in self._counted:
            return False
        self._counted.add(id(buffer))
        item.nbytes += buffer.held
        return True

    def _row(self, target: Field, name: str = "") -> int:
        """Return the row of a field, which has the name of its first parameter."""
        row = self._row_of.setdefault(target.storage, len(self._fields))
        if row == len(self._fields):
            self._fields.append((target, name))
        elif name and not self._fields[row][1]:
            self._fields[row] = target, name
        return row

    def rows(self) -> list[tuple[str, str]]:
        """Return a name and a description of each field."""
        found: list[tuple[str, str]] = []
        used: dict[str, int] = {}
        for target, name in self._fields:
            shown = name or "field"
            number = used[shown] = used.get(shown, 0) + 1
            shape = "×".join(map(str, target.shape)) or "one"
            grad = "" if target.has_grads else ", no gradient"
            detail = f"{shape} {target.element}, {as_text(target.nbytes)}{grad}"
            found.append((shown if number == 1 else f"{shown} ({number})", detail))
        return found

    def folded(self) -> list[Node]:
        """Return the items with repetitions folded into loops, inner ones first."""
        nodes: list[Node] = list(self.items)
        numbers: dict[object, int] = {}
        for period in range(1, _LONGEST_LOOP + 1):
            if period * 2 > len(nodes):
                break
            keys = [numbers.setdefault(_key(node), len(numbers)) for node in nodes]
            folded: list[Node] = []
            at = 0
            while at < len(nodes):
                end = at + period
                body = keys[at:end]
                while (
                    end < len(keys) and keys[end] == keys[at] and keys[end : end + period] == body
                ):
                    end += period
                if end == at + period:
                    folded.append(nodes[at])
                    at += 1
                else:
                    columns = [_sum(nodes[at + k : end : period]) for k in range(period)]
                    folded.append(RepeatedItems(columns, (end - at) // period))
                    at = end
            nodes = folded
        return nodes


def _key(node: Node) -> object:
    if isinstance(node, Item):
        return node.name, node.reads, node.writes
    return node.times, tuple(map(_key, node.body))


def _sum(nodes: Sequence[Node]) -> Node:
    """Return the sum over several equal nodes."""
    first = nodes[0]
    if isinstance(first, Item):
        items = [node for node in nodes if isinstance(node, Item)]
        kept = frozenset[int]().union(*(item.kept for item in items))
        nbytes = sum(item.nbytes for item in items)
        launches = [launch for item in items for launch in item.launches]
        return Item(first.name, first.reads, first.writes, kept, nbytes, launches)
    loops = [node for node in nodes if isinstance(node, RepeatedItems)]
    bodies = zip(*(loop.body for loop in loops), strict=True)
    return RepeatedItems([_sum(body) for body in bodies], first.times)
