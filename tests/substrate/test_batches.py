"""Launches that wait for each other, and their graphs, without a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from difftile.substrate.batch import OPEN, Batches, apart, batch_of, start_launches


@dataclass
class Kernel:
    """A kernel that says when it runs."""

    number: int
    said: list[str]
    tasks: int = 2

    def start(self, args: Sequence[Any]) -> None:
        self.said.append(f"{self.number}{args}")

    def packed(self, args: Sequence[Any]) -> bytes | None:
        return None if None in args else bytes(args)

    def launch(self, *args: Any) -> None:
        if OPEN.batch is None:
            self.start(args)
        else:
            OPEN.batch.add(self, args)


@dataclass
class Graph:
    """Some kernels as one launch."""

    numbers: list[int]
    said: list[str]

    def launch(self, arguments: Sequence[bytes]) -> None:
        self.said.append(f"graph {self.numbers} {[list(one) for one in arguments]}")


@dataclass
class Graphs:
    """Makes graphs, and counts them."""

    said: list[str] = field(default_factory=list[str])
    made: int = 0

    def make(self, launches: Any) -> Graph:
        self.made += 1
        return Graph([kernel.number for kernel, _ in launches], self.said)


def kernels(graphs: Graphs, count: int = 2) -> list[Kernel]:
    return [Kernel(number, graphs.said) for number in range(count)]


def run(batches: Batches, *launches: tuple[Kernel, int | None]) -> None:
    with batch_of(batches):
        for kernel, arg in launches:
            kernel.launch(arg)


def test_a_sequence_that_comes_again_is_a_graph_of_other_arguments() -> None:
    graphs = Graphs()
    batches, (a, b) = Batches(graphs), kernels(graphs)
    run(batches, (a, 1), (b, 2))
    assert graphs.said == ["0(1,)", "1(2,)"] and not graphs.made
    graphs.said.clear()
    run(batches, (a, 3), (b, 4))
    run(batches, (a, 5), (b, 6))
    assert graphs.said == ["graph [0, 1] [[3], [4]]", "graph [0, 1] [[5], [6]]"]
    assert graphs.made == 1


def test_another_order_is_another_graph() -> None:
    graphs = Graphs()
    batches, (a, b) = Batches(graphs), kernels(graphs)
    for _ in range(2):
        run(batches, (a, 1), (b, 2))
        run(batches, (b, 3), (a, 4))
    assert graphs.said[-2:] == ["graph [0, 1] [[1], [2]]", "graph [1, 0] [[3], [4]]"]


def test_arguments_that_only_a_launch_can_pass() -> None:
    graphs = Graphs()
    batches, (a, b) = Batches(graphs), kernels(graphs)
    for _ in range(3):
        run(batches, (a, 1), (b, None))
    assert graphs.said == ["0(1,)", "1(None,)"] * 3


def test_launches_wait_until_memory_is_used_otherwise() -> None:
    graphs = Graphs()
    batches, (a, b) = Batches(graphs), kernels(graphs)
    with batch_of(batches):
        a.launch(1)
        assert graphs.said == []
        start_launches()
        assert graphs.said == ["0(1,)"]
        b.launch(2)
        with batch_of(batches):  # part of the open one
            a.launch(3)
        assert graphs.said == ["0(1,)"]
    assert graphs.said == ["0(1,)", "1(2,)", "0(3,)"]


def test_code_of_others_finds_all_launches_done() -> None:
    graphs = Graphs()
    batches, (a, b) = Batches(graphs), kernels(graphs)
    with batch_of(batches):
        a.launch(1)
        with apart():
            assert graphs.said == ["0(1,)"]
            b.launch(2)
            assert graphs.said == ["0(1,)", "1(2,)"]
        a.launch(3)
        assert len(graphs.said) == 2
    assert graphs.said[2:] == ["0(3,)"]


def test_many_launches_start_before_the_end() -> None:
    graphs = Graphs()
    batches, (a,) = Batches(graphs), kernels(graphs, 1)
    with batch_of(batches):
        for k in range(100):
            a.launch(k)
        assert len(graphs.said) == 64
    assert len(graphs.said) == 100
