"""The text of strides, run in Python with integers of 32 bits: indices, and no overflow."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from difftile.ir.nodes import Var
from difftile.ir.printer import Names
from difftile.ir.types import I32
from difftile.substrate.parallel import Range, open_strides


class Number(int):
    """An integer of 32 bits, which may not overflow."""

    def __new__(cls, value: int) -> Number:
        if not -(2**31) <= value < 2**31:
            raise OverflowError(value)
        return super().__new__(cls, value)


def _checked(name: str) -> Any:
    return lambda self, other: Number(getattr(int, name)(self, int(other)))


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    for _form in (f"__{_name}__", f"__r{_name}__"):
        setattr(Number, _form, _checked(_form))


def visited(axes: list[tuple[int, int]], worker: int, workers: int) -> list[tuple[int, ...]]:
    """Return the indices that one of the workers gets, in its order."""
    indices = [Var(name, I32) for name, _ in zip("ijkl", axes, strict=False)]
    ranges: list[Range] = []
    given: dict[str, Number] = {}
    for index, (start, stop) in zip(indices, axes, strict=True):
        given[f"low_{index.name}"] = Number(start)
        given[f"size_{index.name}"] = Number(stop - start)
        low = "0" if start == 0 else f"low_{index.name}"
        ranges.append(Range(low, "", f"size_{index.name}"))
    names = Names(frozenset((*given, "ti", "found", "worker", "range", "int")))
    strides = open_strides(names, "worker", workers, indices, ranges)
    depth, lines = 0, []
    for line in strides.opened:
        lines.append("    " * depth + line)
        depth += line.endswith(":")
    inside = [f"found.append(({''.join(f'{names[index]}, ' for index in indices)}))"]
    lines += ["    " * depth + line for line in (*inside, *strides.onward)]
    found: list[tuple[int, ...]] = []
    ti = SimpleNamespace(max=lambda a, b: Number(max(a, b)))
    numbers = lambda n: map(Number, range(n))  # noqa: E731 - the name that the text uses
    exec("\n".join(lines), {**given, "ti": ti, "found": found, "range": numbers, "worker": worker})
    return found


@pytest.mark.parametrize("workers", [1, 3, 32, 100])
@pytest.mark.parametrize(
    "axes",
    [
        [(0, 70)],
        [(-3, 40)],
        [(5, 2)],
        [(0, 0)],
        [(0, 7), (0, 9)],
        [(1, 6), (2, 3)],
        [(-4, 1), (3, 70)],
        [(2, 2), (0, 9)],
        [(4, 1), (9, 3)],
        [(0, 3), (1, 4), (-2, 9)],
        [(0, 3), (0, 0), (0, 9)],
        [(0, 2), (0, 3), (1, 4), (0, 5)],
    ],
    ids=str,
)
def test_each_iteration_is_run_once(axes: list[tuple[int, int]], workers: int) -> None:
    found: Counter[tuple[int, ...]] = Counter()
    for worker in range(workers):
        found.update(visited(axes, Number(worker), workers))
    wanted: list[tuple[int, ...]] = [()]
    for start, stop in axes:
        wanted = [(*index, i) for index in wanted for i in range(start, stop)]
    assert found == Counter(wanted)


@pytest.mark.parametrize(
    "sizes",
    [
        (2**31 - 1,),
        (46_340, 46_341),
        (3, 715_827_882),
        (715_827_882, 3),
        (1, 2**31 - 1),
        (2, 3, 357_913_941),
        (1290, 1290, 1290),
    ],
    ids=str,
)
def test_large_loops_do_not_overflow(sizes: tuple[int, ...]) -> None:
    workers = 270_336
    for worker in (0, 1, workers - 1):
        found = visited([(0, size) for size in sizes], Number(worker), workers)
        count = 1
        for size in sizes:
            count *= size
        assert len(found) == len(range(worker, count, workers))
        for at in (0, 1, len(found) // 2, len(found) - 1):
            flat, index = worker + at * workers, []
            for size in reversed(sizes):
                index.insert(0, flat % size)
                flat //= size
            assert found[at] == tuple(index)
