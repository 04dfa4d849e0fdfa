"""What ranks do by themselves, and to their messages: in one process, against NumPy."""

from __future__ import annotations

import contextlib
import itertools
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.distributed import migration, split_rows
from difftile.distributed.accumulation import add_to, take_out
from difftile.distributed.boxes import Layout, divided
from difftile.distributed.losses import _COMBINED
from difftile.distributed.migration import place
from difftile.distributed.transfer import Part, begin, transfer
from difftile.ranks import collect
from difftile.ranks.handshake import combine, handshakes_of
from difftile.ranks.numbers import carried
from difftile.ranks.single_rank import Done, SingleRank
from difftile.ranks.waiting import Waiting
from difftile.recording import joint_steps
from difftile.substrate import current_session
from tests.slow_network import SlowNetwork, connected


@pytest.fixture(autouse=True)
def as_python() -> None:
    if current_session().compiles:
        dt.init(arch="python")


@dt.kernel
def weigh(x: Any, w: Any, loss: Any) -> None:
    for i in x:
        loss[None] += w[i] * x[i] ** 3


def test_cells_go_to_their_owners_once() -> None:
    values = np.arange(1.0, 9.0)
    field, messages = dt.from_numpy(values), dt.zeros((3, 2), ti.f64)
    cells, owners = dt.from_numpy(np.int32([7, 0, 4])), dt.from_numpy(np.int32([2, 3, 3]))
    expected = values.copy()
    np.add.at(expected, [2, 3, 3], values[[7, 0, 4]])
    expected[[7, 0, 4]] = 0.0
    for _ in range(2):  # the second time the halo has nothing to give
        take_out(messages, 1, cells, field)
        add_to(field, owners, messages, 1)
        np.testing.assert_array_equal(field.to_numpy(), expected)
    assert not messages.to_numpy()[:, 0].any()


@pytest.mark.parametrize(("before", "arriving", "leaving"), [(6, 1, 4), (4, 3, 1), (5, 2, 2)])
def test_rows_that_are_not_in_use_are_empty(before: int, arriving: int, leaving: int) -> None:
    rows = dt.from_numpy(np.where(np.arange(9) < before, 10.0 + np.arange(9), 0.0))
    after = before + arriving - leaving
    # The first rows leave; the last ones fill what then is free.
    free = [*range(min(leaving, after)), *range(before, after)]
    last = [*range(max(leaving, after), before)]
    ends = [leaving, arriving + len(last), after, max(before, after), leaving, arriving]
    sent = [*range(leaving), *last]
    place(
        dt.from_numpy(np.int32(ends)),
        dt.from_numpy(np.int32([*free, 0])),
        dt.from_numpy(-1.0 - np.arange(arriving)),
        dt.from_numpy(10.0 + np.array(sent)),
        rows,
        dt.zeros(1, ti.f64),
    )
    found = rows.to_numpy()
    kept = [10.0 + k for k in range(leaving, before)]
    assert sorted(found[:after]) == sorted([*(-1.0 - np.arange(arriving)), *kept])
    assert not found[after:].any()


# Parts of three numbers that a rank sends to itself: all of them, and two that overlap.
WAYS = {"whole": [(0, 3)], "overlapping": [(0, 2), (1, 3)]}


@pytest.mark.parametrize("in_two", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_gradients_of_messages_come_back_once(way: str, in_two: bool) -> None:
    """With other uses of what is sent and received, on tapes, in gradients and in products."""
    ends = np.cumsum([0, *(stop - start for start, stop in WAYS[way])])
    sends = [Part(0, start, stop) for start, stop in WAYS[way]]
    receives = [Part(0, a, b) for a, b in itertools.pairwise(map(int, ends))]
    index = np.concatenate([np.arange(start, stop) for start, stop in WAYS[way]])
    values, direction = np.array([0.5, -1.0, 2.0]), np.array([1.0, 10.0, -1.0])
    weights = 1.0 + np.arange(len(index))
    w, v = dt.from_numpy(weights), dt.from_numpy(np.array([0.3, 0.2, -0.4]))
    received = dt.zeros(len(index), ti.f64, grad=True)

    def energy(x: dt.Field) -> dt.Field:
        loss = dt.zeros((), ti.f64, grad=True)
        for _ in range(2):
            if in_two:
                begin(x, sends, received, receives, "the copy")()
            else:
                transfer(x, sends, received, receives, "the copy")
            weigh(received, w, loss)
            weigh(x, v, loss)
        return loss

    total = 2.0 * (np.bincount(index, weights) + v.to_numpy())
    x = dt.from_numpy(values, grad=True)
    curved = dt.hvp(energy, x, direction).to_numpy()
    np.testing.assert_allclose(curved, 6.0 * total * values * direction, rtol=1e-14)
    np.testing.assert_allclose(dt.grad(energy)(x).to_numpy(), 3.0 * total * values**2, rtol=1e-14)
    for limit in ({}, {"memory": 2000}):
        with dt.Tape(**limit) as tape:
            loss = energy(x)
        tape.backward({loss: 1.0})
        np.testing.assert_allclose(x.grad.to_numpy(), 3.0 * total * values**2, rtol=1e-14)
    _, slope = dt.jvp(energy, x, direction)
    np.testing.assert_allclose(float(slope), 3.0 * total * values**2 @ direction, rtol=1e-14)


class Other(SingleRank):
    """Another rank, which uses all of some parameters, with the gradient 0.5."""

    size = 2

    def __init__(self, parameters: int) -> None:
        super().__init__(0.0)
        self._parameters = parameters

    def all_reduce(
        self, array: Any, op: str = "sum", *, agreed: bool = False, dtype: str = ""
    ) -> Done:
        """Add what the other rank has."""
        if agreed:
            array += 0.5
        else:
            array[:2] *= 2
            array[2 : 2 + self._parameters] += 1
        return Done()


@pytest.mark.parametrize("bucket", [1, "25MB"])
def test_a_rank_that_leaves_a_parameter_out_adds_zeros(bucket: Any) -> None:
    x, y = (dt.from_numpy(np.array([1.0, 2.0]), grad=True) for _ in range(2))
    ones, loss = dt.ones(2, ti.f64), dt.zeros((), ti.f64, grad=True)
    gradients = dist.Gradients([x, y], bucket=bucket)
    gradients.compared = True
    with dt.Tape(loss):
        weigh(x, ones, loss)
        weigh(y, ones, loss)
    old = y.grad.to_numpy()
    with connected(Other(2)), dt.Tape(loss, reduce=gradients):
        weigh(x, ones, loss)
    assert x.grad.to_numpy().tolist() == [3.5, 12.5]
    assert y.grad.to_numpy().tolist() == [0.5, 0.5] and old.tolist() == [3.0, 12.0]


@pytest.mark.parametrize("op", ["sum", "mean", "max", "min"])
def test_weights_of_combined_losses_are_their_derivatives(op: str) -> None:
    each = np.array([[1.0, -2.0], [3.0, 0.5], [2.0, 4.0]])
    counts = np.ones_like(each)
    _, weights = _COMBINED[op](each, counts)
    for rank in range(3):
        ends = []
        for step in (1e-3, -1e-3):
            moved = each.copy()
            moved[rank] += step
            ends.append(_COMBINED[op](moved, counts)[0])
        np.testing.assert_allclose(weights[rank], (ends[0] - ends[1]) / 2e-3, atol=1e-12)


class Joined(SingleRank):
    """One of several ranks that are threads of this process."""

    mine = threading.local()

    def __init__(self, rank: int, size: int, ways: dict[Any, queue.Queue[Any]]) -> None:
        super().__init__(0.0)
        self.rank, self.size, self._ways = rank, size, ways

    def exchange(self, sends: Any, receives: Any) -> Done:
        """Send copies, and wait for those of others."""
        for one in sends:
            self._ways[self.rank, one.peer].put(one.array.copy())
        for one in receives:
            one.array[...] = self._ways[one.peer, self.rank].get(timeout=2.0)
        return Done()


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_a_broadcast_reaches_all_ranks(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ways = {(a, b): queue.Queue[Any]() for a in range(size) for b in range(size)}
    monkeypatch.setattr(collect, "current", lambda: Joined.mine.engine)

    def run(rank: int, root: int) -> list[float]:
        Joined.mine.engine = Joined(rank, size, ways)
        numbers = np.arange(3.0) + 10 * rank
        collect.broadcast(numbers, root, "the test")
        return numbers.tolist()

    with ThreadPoolExecutor(size) as threads:
        for root in (0, size - 1):
            found = [threads.submit(run, rank, root) for rank in range(size)]
            assert [one.result() for one in found] == [[10.0 * root + k for k in range(3)]] * size


@pytest.mark.parametrize(
    ("ours", "theirs", "op"),
    [([1.0, 2.0], [3.0, -4.0], "max"), ([1.0, 2.0], [3.0], "sum"), ([1, 2], [3.0, 4.0], "sum")],
)
def test_ranks_that_combine_other_numbers_are_told(ours: Any, theirs: Any, op: str) -> None:
    first, second = np.array(ours), np.array(theirs)
    whole = handshakes_of(first, "sum", first.dtype.str, 0, 2)
    whole += handshakes_of(second, op, second.dtype.str, 1, 2)
    with pytest.raises(dt.RankError, match="about to combine different numbers"):
        combine(whole, first, "sum", 0)


def test_a_rank_that_took_part_and_ended_is_not_waited_for_in_vain() -> None:
    waiting = Waiting(0, 3, 1.0)
    waiting.joined = 5
    waiting.watch = SimpleNamespace(left={1: (5, 0.0), 2: (4, 0.0)})  # pyrefly: ignore
    assert waiting._gone([]) == [2]


@pytest.mark.parametrize("other", ["ab", "ba", "abb", "ac"])
def test_ranks_have_the_same_joint_steps_in_the_same_order(
    other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []

    def least(numbers: Any, _: str) -> Any:
        given.append(np.array(numbers, float))
        return given[0] if len(given) < 3 else np.minimum(given[0], given[1])

    monkeypatch.setattr(joint_steps, "least", least)
    ranks = []
    for text in ("ab", other):
        steps = joint_steps.JointSteps()
        for position, signature in enumerate(text):
            steps.add(position, signature)
        ranks.append(steps)
    for steps in ranks:
        with contextlib.suppress(dt.RankError):
            steps.agree_on_records(True)
    if other == "ab":
        assert ranks[0].agree_on_records(True)
    else:
        with pytest.raises(dt.RankError, match="different exchanges"):
            ranks[0].agree_on_records(True)


def test_the_way_back_of_a_migration_clears_what_had_arrived(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(migration, "_send", lambda *_, **__: None)  # to another rank
    source, target = (dt.zeros(5, ti.f64, grad=True) for _ in range(2))
    step = migration.TransferRows([source], [target], dt.zeros((2, 2), ti.i32))
    for leaving, arriving in ((1, 3), (4, 2)):
        target.grad.fill(7.0)
        peers = np.array([[0, leaving], [0, arriving]], np.int32)
        record: Any = SimpleNamespace(saved=peers)
        assert step.reverse_in_place(record, lambda one: one.grad)
        assert target.grad.to_numpy()[:arriving].tolist() == [0.0] * arriving


@pytest.mark.parametrize("index", [[3, 4, 2, 0, 5, 1], [5, -1, 1, 2, 2, 3, 4, 0]])
def test_rows_in_another_order_come_from_the_ranks_that_have_them(index: list[int]) -> None:
    old, new = [0, 2, 3, 6], [0, len(index) // 2, len(index) // 2, len(index)]
    moves = []
    for rank in range(3):
        engine = SingleRank(0.0)
        engine.rank, engine.size = rank, 3
        with connected(engine):  # pyrefly: ignore[bad-argument-type]
            moves.append(split_rows._Moves(np.array(index), old, new))
    values = 10.0 + np.arange(6)
    for rank, one in enumerate(moves):
        arrived: list[float] = []
        for other, theirs in enumerate(moves):
            own = values[old[other] : old[other + 1]][theirs._sent.to_numpy()]
            sent, taken = theirs._sends[rank], one._receives[other]
            assert sent.stop - sent.start == taken.stop - taken.start
            arrived += own[sent.start : sent.stop].tolist()
        places = one._places.to_numpy()
        found = [arrived[k] if k >= 0 else 0.0 for k in places]
        assert found == [values[k] if k >= 0 else 0.0 for k in index[new[rank] : new[rank + 1]]]


@dt.kernel
def double(x: Any) -> None:
    for i in x:
        x[i] = 2.0 * x[i]


def test_gradients_that_change_to_the_end_are_sent_at_the_end() -> None:
    def found(*, over_ranks: bool) -> list[Any]:
        fields = [dt.from_numpy(np.array([1.0, 2.0]), grad=True) for _ in range(3)]
        ones, loss = dt.ones(2, ti.f64), dt.zeros((), ti.f64, grad=True)
        gradients = dist.Gradients(fields, bucket=1)
        gradients.compared = True
        with dt.Tape(reduce=gradients if over_ranks else None) as tape:
            for x in fields:
                double(x)
            for x in fields:
                weigh(x, ones, loss)
        tape.backward(loss, retain=fields[:2])  # whose gradients are those of the doubled ones
        return [x.grad.to_numpy() for x in fields]

    alone = found(over_ranks=False)
    with connected(Other(3)):
        for one, other in zip(found(over_ranks=True), alone, strict=True):
            np.testing.assert_array_equal(one, other + 0.5)
    assert alone[0].tolist() == [12.0, 48.0] and alone[2].tolist() == [24.0, 96.0]


def test_sums_over_ranks_are_not_added_up_again() -> None:
    x = dt.from_numpy(np.array([1.0, 2.0]), grad=True)
    ones, loss = dt.ones(2, ti.f64), dt.zeros((), ti.f64, grad=True)
    gradients = dist.Gradients([x])
    gradients.compared = True
    with connected(SlowNetwork(4)):
        with dt.Tape(loss):
            weigh(x, ones, loss)
        for _ in range(2):
            gradients.all_reduce()
            assert x.grad.to_numpy().tolist() == [12.0, 48.0]


@pytest.mark.parametrize("shape", [(7,), (5, 6), (4, 5, 4)], ids=str)
@pytest.mark.parametrize("periodic", [False, True])
def test_pieces_of_halos_are_the_cells_around_a_box(shape: Any, periodic: bool) -> None:
    axes = len(shape)
    for count in (2, 4, 6):
        boxes = divided(shape, count, (periodic,) * axes)
        if boxes is None:
            continue
        layout = Layout(shape, boxes, (1,) * axes, (periodic,) * axes)
        owners = np.full(shape, -1)
        for rank in range(count):
            owners[tuple(slice(*one) for one in layout.own(rank))] = rank
        assert owners.min() == 0
        for rank in range(count):
            own = {*itertools.product(*(range(*one) for one in layout.own(rank)))}
            near = itertools.product(*(range(a - 1, b + 1) for a, b in layout.own(rank)))
            expected = {cell: cell for cell in near if cell not in own}
            if periodic:
                expected = {c: tuple(np.mod(c, shape).tolist()) for c in expected}
            else:
                expected = {c: c for c in expected if c == tuple(np.mod(c, shape).tolist())}
            found = {}
            for piece in layout.pieces(rank):
                cells = itertools.product(*(range(*one) for one in piece.at))
                origins = itertools.product(*(range(*one) for one in piece.owned))
                for cell, origin in zip(cells, origins, strict=True):
                    assert owners[origin] == piece.owner and cell not in found
                    found[cell] = origin
            assert found == expected


NAMES = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("op", ["sum", "max", "min"])
@pytest.mark.parametrize("name", NAMES)
def test_whole_numbers_of_ranks_combine_as_those_of_python(name: str, op: str) -> None:
    limits = np.iinfo(name)
    pairs = [(limits.min, limits.max), (limits.max, 0), (1, limits.max - 1), (3, 4)]
    ours, theirs = (np.array(side, name) for side in zip(*pairs, strict=True))
    found, put_back = carried(ours, op)
    other, _ = carried(theirs, op)
    combine = {"sum": np.add, "max": np.maximum, "min": np.minimum}[op]
    combine(found, other, out=found)
    put_back()
    of = {"sum": sum, "max": max, "min": min}[op]
    assert [int(one) for one in ours] == [of(pair) for pair in pairs]
