"""What ran on a tape, in order, with repetitions folded: the contents of `tape.visualize`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from difftile.compile.specialisation import Specialisation
from difftile.fields.field import Field, Storage
from difftile.recording.budget import as_text
from difftile.recording.opaque import Opaque, OpaqueRecord
from difftile.recording.records import HostCopy, HostWrite, LaunchRecord, Record
from difftile.recording.steps import Launch, Step
from difftile.substrate import Buffer

_LONGEST_LOOP = 64  # launches in the body of a repetition that is still found


@dataclass(slots=True)
class Times:
    """Milliseconds that launches took, by the identity of their list of values."""

    forward: dict[int, float] = field(default_factory=dict[int, float])
    backward: dict[int, float] = field(default_factory=dict[int, float])


@dataclass(slots=True)
class Item:
    """A launch or a write from Python, or the sum over several that are alike.

    Args:
        name: The kernel, or what Python did.
        reads: Rows of the fields that it reads.
        writes: Rows of the fields that it writes.
        kept: Rows of the fields of which the tape keeps old values for it.
        nbytes: The bytes of these.
        launches: The identities under which its times are found.
    """

    name: str
    reads: frozenset[int]
    writes: frozenset[int]
    kept: frozenset[int] = frozenset()
    nbytes: int = 0
    launches: list[int] = field(default_factory=list[int])


@dataclass(slots=True)
class Loop:
    """Items that are repeated."""

    body: list[Node]
    times: int


Node: TypeAlias = Item | Loop


class Trace:
    """The fields of a tape as rows, and what touched them as items.

    Args:
        steps: What ran, in order; of a launch several stages may follow one another.
    """

    def __init__(self, steps: Iterable[Record | Step]) -> None:
        self.items: list[Item] = []
        self._fields: list[tuple[Field, str]] = []
        self._row_of: dict[Storage, int] = {}
        self._counted: set[int] = set()
        for step in steps:
            match step:
                case LaunchRecord() | Launch():
                    self._launch(step)
                case HostWrite(target):
                    row = frozenset((self._row(target),))
                    self.items.append(Item("write", frozenset(), row))
                case HostCopy(target, source):
                    target_row, source_row = (self._row(f.base) for f in (target, source))
                    rows = frozenset((source_row,)), frozenset((target_row,))
                    self.items.append(Item("copy", *rows))
                case Opaque():
                    self._opaque(step, {})
                case OpaqueRecord(opaque, kept):
                    self._opaque(opaque, kept)

    def _launch(self, step: LaunchRecord | Launch) -> None:
        code, values = step.call.code, step.values
        if not self.items or self.items[-1].launches != [id(values)]:
            read = {a for stage in code.stages for a in stage.loaded}
            written = {a for stage in code.stages for a in stage.written}
            rows = [
                frozenset(
                    self._row(values[k], code.params[k].name)
                    for k in sorted(code.position[a] for a in arrays)
                    if values[k] not in code.temps
                )
                for arrays in (read, written)
            ]
            self.items.append(Item(code.name, rows[0], rows[1], launches=[id(values)]))
        if isinstance(step, LaunchRecord):
            self._keep(self.items[-1], step, code)

    def _opaque(self, opaque: Opaque, kept: Mapping[Storage, Buffer]) -> None:
        uses = opaque.uses
        row_of = {use.field.storage: self._row(use.field, use.name) for use in uses}
        read = frozenset(row_of[use.field.storage] for use in uses if use.reads)
        written = frozenset(row_of[use.field.storage] for use in uses if use.writes)
        item = Item(opaque.step.name, read, written, launches=[id(opaque)])
        for storage, buffer in kept.items():
            if self._counts(item, buffer):
                item.kept |= {row_of[storage]}
        self.items.append(item)

    def _keep(self, item: Item, record: LaunchRecord, code: Specialisation) -> None:
        positions = (*record.plan.reads, *record.plan.reads_after)
        for k, buffer in zip(positions, record.kept, strict=True):
            if self._counts(item, buffer) and record.values[k] not in code.temps:
                item.kept |= {self._row(record.values[k], code.params[k].name)}

    def _counts(self, item: Item, buffer: Buffer) -> bool:
        """Count a buffer that is kept, if it holds old values and was not counted before."""
        if buffer.owners or id(buffer) in self._counted:
            return False
        self._counted.add(id(buffer))
        item.nbytes += buffer.held
        return True

    def _row(self, target: Field, name: str = "") -> int:
        """Return the row of a field; it has the name of the first parameter that it was."""
        row = self._row_of.setdefault(target.storage, len(self._fields))
        if row == len(self._fields):
            self._fields.append((target, name))
        elif name and not self._fields[row][1]:
            self._fields[row] = target, name
        return row

    def rows(self) -> list[tuple[str, str]]:
        """Return for each field a name, and what it is."""
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
        """Return the items with repetitions shown once; inner ones are folded first."""
        nodes: list[Node] = list(self.items)
        numbers: dict[object, int] = {}
        for period in range(1, _LONGEST_LOOP + 1):
            if period * 2 > len(nodes):
                break
            keys = [numbers.setdefault(_key(node), len(numbers)) for node in nodes]
            nodes = _fold(nodes, keys, period)
        return nodes


def _fold(nodes: list[Node], keys: list[int], period: int) -> list[Node]:
    found: list[Node] = []
    at = 0
    while at < len(nodes):
        end = at + period
        body = keys[at:end]
        while end < len(keys) and keys[end] == keys[at] and keys[end : end + period] == body:
            end += period
        times = (end - at) // period
        if times == 1:
            found.append(nodes[at])
            at += 1
        else:
            columns = [nodes[at + k : end : period] for k in range(period)]
            found.append(Loop([_sum(column) for column in columns], times))
            at = end
    return found


def _key(node: Node) -> object:
    if isinstance(node, Item):
        return node.name, node.reads, node.writes
    return node.times, tuple(map(_key, node.body))


def _sum(nodes: Sequence[Node]) -> Node:
    """Return several nodes that are alike as one."""
    first = nodes[0]
    if isinstance(first, Item):
        items = [node for node in nodes if isinstance(node, Item)]
        kept = frozenset[int]().union(*(item.kept for item in items))
        nbytes = sum(item.nbytes for item in items)
        launches = [launch for item in items for launch in item.launches]
        return Item(first.name, first.reads, first.writes, kept, nbytes, launches)
    loops = [node for node in nodes if isinstance(node, Loop)]
    bodies = zip(*(loop.body for loop in loops), strict=True)
    return Loop([_sum(body) for body in bodies], first.times)
