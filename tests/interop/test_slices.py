"""Slices of one array as arguments of one launch, found by the memory that they have in common."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile.launch.overlaps import _groups


def test_memory_in_common_joins_storages_directly_and_by_others() -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        spans = [(int(a), int(rng.integers(0, 9))) for a in rng.integers(1, 30, 6)]
        storages: Any = [
            SimpleNamespace(memory=SimpleNamespace(address=a, nbytes=n)) for a, n in spans
        ]
        joined = {k: {k} for k in range(len(spans))}
        for i, (a, n) in enumerate(spans):
            for k, (b, m) in enumerate(spans):
                if max(a, b) < min(a + n, b + m):
                    for one in joined[i] | joined[k]:
                        joined[one] = joined[i] | joined[k]
        expected = {frozenset(one) for one in joined.values() if len(one) > 1}
        found = [{storages.index(one) for one in group} for group in _groups(storages)]
        assert {frozenset(one) for one in found} == expected and len(found) == len(expected)


@dt.kernel
def add(x: Any, a: Any, y: Any) -> None:
    for i in y:
        y[i] = x[i + 1] + a[0]


def test_a_short_slice_between_two_others_hides_no_race() -> None:
    dt.init(arch="python")
    x = np.arange(8.0)
    with pytest.raises(dt.KernelError, match="Race on field 'x'"):
        add(x, x[:2], x[3:6])
    add(x, x[:2], x[4:7])
    assert x.tolist() == [0, 1, 2, 3, 1, 2, 3, 7]
