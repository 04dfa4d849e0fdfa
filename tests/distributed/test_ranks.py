"""Engines: messages and sums of all types and sizes, by gloo, MPI and one rank."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.diagnostics import RankError
from difftile.ranks import Message, agree, current, mpi_engine, torch_engine
from difftile.ranks.waiting import Waiting
from tests.ranks import ranks

ENGINES = [(1, "alone"), (1, "torch"), (1, "mpi"), (2, "torch"), (3, "mpi"), (4, "torch")]
TYPES = "f2 f4 f8 i1 u1 i2 u2 i4 u4 i8 u8 ?".split()


def drawn(dtype: str, rank: int, shape: tuple[int, ...] = (3, 5)) -> Any:
    """Return numbers of a rank, the extremes of integers among them."""
    random = np.random.default_rng(17 + rank)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return np.asarray(random.standard_normal(shape), kind)
    if kind.kind == "b":
        return np.asarray(random.random(shape) < 0.3)
    limits = np.iinfo(kind)
    return np.asarray(random.integers(limits.min, limits.max, shape, kind, endpoint=True))


def combined(shape: tuple[int, ...]) -> dict[tuple[str, str], Any]:
    """Combine numbers of each type in each way."""
    engine = current()
    found: dict[tuple[str, str], Any] = {}
    for dtype in TYPES:
        for op in ("sum", "max", "min"):
            array = drawn(dtype, engine.rank, shape)
            if dtype == "?" and op == "sum":
                with pytest.raises(RankError, match="have no sum"):
                    engine.all_reduce(array, op)
                continue
            engine.all_reduce(array, op).wait("the test")
            found[dtype, op] = array
    return found


@pytest.mark.parametrize(("size", "engine"), ENGINES)
@pytest.mark.parametrize("shape", [(3, 5), ()])
def test_numbers_of_all_types_are_combined(size: int, engine: str, shape: tuple[int, ...]) -> None:
    results = ranks(size, engine).run(combined, shape)
    functions: dict[str, Any] = {"sum": np.add, "max": np.maximum, "min": np.minimum}
    for (dtype, op), found in results[0].items():
        given = [drawn(dtype, rank, shape) for rank in range(size)]
        if dtype == "f2":  # rounded once
            expected = functions[op].reduce([one.astype("f4") for one in given]).astype("f2")
        else:
            expected = functions[op].reduce(given, dtype=given[0].dtype)
        assert found.dtype == np.dtype(dtype)
        if dtype[0] == "f" and op == "sum":
            eps = np.finfo(dtype).eps
            np.testing.assert_allclose(found, expected, rtol=0, atol=8 * size * eps)
        else:
            np.testing.assert_array_equal(found, expected, err_msg=f"{dtype} {op}")
        for other in results[1:]:
            assert other[dtype, op].tobytes() == found.tobytes()  # the same bits on all ranks


def passed_round(rounds: int) -> list[Any]:
    """Send numbers of each type around the ring, with parts of other sizes, and to itself."""
    engine = current()
    rank, size = engine.rank, engine.size
    ahead, behind = (rank + 1) % size, (rank - 1) % size
    found: list[Any] = []
    for dtype in TYPES * rounds:
        mine = drawn(dtype, rank, (4, 3))
        came = [np.zeros(n, dtype) for n in (3, 0, 6, 3)]
        read_only = mine[0].copy()
        read_only.flags.writeable = False
        gaps = mine[1:3].T  # 6 elements
        own = np.zeros(3, dtype)
        engine.exchange(
            [
                Message(ahead, read_only),
                Message(ahead, mine[:0]),
                Message(rank, mine[3]),
                Message(ahead, gaps),
                Message(ahead, mine[3]),
            ],
            [Message(behind, came[0])]
            + [Message(rank, own)] * (size > 1)
            + [Message(behind, one) for one in came[1:]]
            if size > 1
            else [Message(0, one) for one in (came[0], came[1], own, came[2], came[3])],
        ).wait("the ring")
        found.append((*came, own))
    return found


@pytest.mark.parametrize(("size", "engine"), ENGINES)
def test_messages_of_all_types_arrive_in_order(size: int, engine: str) -> None:
    rounds = 2
    for rank, found in enumerate(ranks(size, engine).run(passed_round, rounds)):
        for dtype, (first, empty, gaps, last, own) in zip(TYPES * rounds, found, strict=True):
            sent = drawn(dtype, (rank - 1) % size, (4, 3))
            np.testing.assert_array_equal(first, sent[0])
            np.testing.assert_array_equal(gaps, sent[1:3].T.reshape(-1))
            np.testing.assert_array_equal(last, sent[3])
            np.testing.assert_array_equal(own, drawn(dtype, rank, (4, 3))[3])
            assert empty.size == 0


def many_at_once(n: int) -> bool:
    """Start exchanges and sums, and wait for them in another order."""
    engine = current()
    rank, size = engine.rank, engine.size
    sums = [np.full(100, float(rank + k)) for k in range(n)]
    came = np.zeros((n, size, 50))
    pending: list[Any] = []
    for k in range(n):
        pending.append(engine.all_reduce(sums[k]))
        mine = np.full(50, 1000.0 * k + rank)
        pending.append(
            engine.exchange(
                [Message(peer, mine) for peer in range(size)],
                [Message(peer, came[k, peer]) for peer in range(size)],
            )
        )
        del mine  # the engine keeps what it sends
    for one in reversed(pending):
        one.wait("the test")
    for one in pending:
        one.wait("the test")  # a second time
    total = size * (size - 1) / 2
    for k in range(n):
        np.testing.assert_array_equal(sums[k], total + size * k)
        for peer in range(size):
            np.testing.assert_array_equal(came[k, peer], 1000.0 * k + peer)
    return True


@pytest.mark.parametrize(("size", "engine"), [(4, "torch"), (4, "mpi"), (1, "alone")])
def test_many_steps_at_once(size: int, engine: str) -> None:
    assert ranks(size, engine).run(many_at_once, 20) == [True] * size


def in_small_messages(most: int, n: int) -> list[Any]:
    """Exchange and add numbers with a smaller limit of messages."""
    engine = current()
    before, mpi_engine.MOST_BYTES = mpi_engine.MOST_BYTES, most
    try:
        sent, came = np.arange(n) + 100.0 * engine.rank, np.zeros(n)
        other = 1 - engine.rank
        engine.exchange([Message(other, sent)], [Message(other, came)]).wait("the test")
        engine.all_reduce(sent).wait("the test")
        return [came, sent]
    finally:
        mpi_engine.MOST_BYTES = before


@pytest.mark.parametrize("most", [7, 8, 64, 10_000])
def test_long_messages_of_mpi_are_split(most: int) -> None:
    for rank, (came, total) in enumerate(ranks(2, "mpi").run(in_small_messages, most, 33)):
        np.testing.assert_array_equal(came, np.arange(33) + 100.0 * (1 - rank))
        np.testing.assert_array_equal(total, 2 * np.arange(33) + 100.0)


def agreed(number: float) -> list[float]:
    """Return what the ranks agree on."""
    mine = number + current().rank
    return [agree(mine), agree(mine, "max"), agree(mine, "min")]


@pytest.mark.parametrize(("size", "engine"), ENGINES)
def test_ranks_agree(size: int, engine: str) -> None:
    total = 2.5 * size + size * (size - 1) / 2
    assert ranks(size, engine).run(agreed, 2.5) == [[total, size + 1.5, 2.5]] * size


def different() -> list[str]:
    """Combine different numbers on the last rank; return the errors."""
    engine = current()
    last = engine.rank == engine.size - 1
    errors: list[str] = []
    for array, op in (
        (np.zeros(3 + last), "sum"),
        (np.zeros(3 + 200 * last), "sum"),
        (np.zeros(3 * last), "sum"),
        (np.zeros(300, np.float32 if last else np.float64), "sum"),
        (np.zeros(2, np.float16 if last else np.float32), "sum"),
        (np.zeros(1), "max" if last else "min"),
    ):
        with pytest.raises(RankError) as caught:
            engine.all_reduce(array, op).wait("the test")
        errors.append(str(caught.value))
    number = dt.zeros((), ti.f32 if last else ti.f64)
    for combine in (dist.sum, dist.max):
        with pytest.raises(RankError) as caught:
            combine(number)
        errors.append(str(caught.value))
    assert agree(1.0) == engine.size
    return errors


@pytest.mark.parametrize("engine", ["torch", "mpi"])
def test_different_numbers_are_not_combined(engine: str) -> None:
    kinds = [
        ("the sum of 3 numbers of type float64", "the sum of 4 numbers of type float64"),
        ("the sum of 3 numbers of type float64", "the sum of 203 numbers of type float64"),
        ("the sum of no numbers of type float64", "the sum of 3 numbers of type float64"),
        ("the sum of 300 numbers of type float64", "the sum of 300 numbers of type float32"),
        ("the sum of 2 numbers of type float32", "the sum of 2 numbers of type float16"),
        ("the smallest of 1 number of type float64", "the largest of 1 number of type float64"),
        *2 * [("the sum of 6 numbers of type float64", "the sum of 6 numbers of type float32")],
    ]
    for rank, errors in enumerate(ranks(3, engine).run(different)):
        for error, (others, last) in zip(errors, kinds, strict=True):
            lines = f"  ranks 0 and 1: {others}\n  rank 2: {last}\n"
            begin = f"Rank {rank}: the ranks are about to combine different numbers:\n{lines}"
            assert error.startswith(begin)


def refused(kind: str) -> str:
    """Ask for something that there is not; return the error."""
    engine = current()
    with pytest.raises(RankError) as caught:
        if kind == "op":
            engine.all_reduce(np.zeros(2), "mean")
        elif kind == "gaps":
            engine.exchange([], [Message(1 - engine.rank, np.zeros((4, 4))[:, 1])])
        elif kind == "read-only":
            array = np.zeros(4)
            array.flags.writeable = False
            engine.exchange([], [Message(1 - engine.rank, array)])
        else:
            engine.exchange([Message(engine.rank, np.zeros(2))], [])
    return str(caught.value)


@pytest.mark.parametrize("engine", ["torch", "mpi"])
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("op", "Ranks combine numbers by 'sum', 'max', 'min', not by 'mean'."),
        ("gaps", "Messages are received into arrays without gaps that may be written."),
        ("read-only", "Messages are received into arrays without gaps that may be written."),
        ("own", "Rank 0 sends 1 messages to itself and receives 0."),
    ],
)
def test_what_is_refused(engine: str, kind: str, text: str) -> None:
    assert ranks(2, engine).run(refused, kind)[0] == text


def test_requests_are_gone_before_the_wait_for_them_ends() -> None:
    """The end of the interpreter aborts a process in which a thread still lets requests go."""
    open_: list[bool] = []

    class Request:
        def wait(self, limit: Any) -> None:
            time.sleep(0.01)

        def __del__(self) -> None:
            open_.append(exchange._done.locked())

    for _ in range(3):
        exchange = torch_engine._Exchange([Request(), Request()], [1, 1], Waiting(0, 2, 10.0))
        exchange.wait("the test")
        exchange.wait("the test")
    assert open_ == [True] * 6
