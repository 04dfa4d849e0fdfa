"""Fields that are split among ranks: owned elements, and the division of what is made from them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile.diagnostics import FieldError
from difftile.fields.field import Field
from difftile.fields.halos import exchange, up_to_date
from difftile.fields.split import Split
from difftile.ir.types import F64


class Periodic(Split):
    """One rank that owns all but the first and last elements, which are copies of others."""

    def __init__(self, n: int) -> None:
        super().__init__((n + 2,), (slice(1, n + 1),), n)
        self.exchanged: list[Field] = []

    def exchange(self, fields: Sequence[Field]) -> None:
        """Copy the elements next to the other end."""
        self.exchanged += fields
        for one in fields:
            one[:1].copy_from(one[-2:-1].copy())
            one[-1:].copy_from(one[1:2].copy())

    def from_global(self, field: Field, values: Any) -> None:
        """Set the owned elements and exchange them."""
        field.inner.from_numpy(values)
        self.exchange([field])

    def to_global(self, field: Field, root: int | None = None) -> Any:
        """Return the owned elements."""
        return field.inner.to_numpy()


def split_field(n: int, split: Split | None = None) -> Field:
    made = dt.zeros(n + 2, F64)
    made.storage.split = split or Periodic(n)
    made.from_numpy(np.arange(n + 2.0) - 1.0)
    return made.with_grads()


def test_the_inner_part_is_what_the_rank_owns() -> None:
    x = split_field(3)
    assert x.inner.to_numpy().tolist() == [0.0, 1.0, 2.0]
    whole = dt.zeros(3)
    assert whole.split is None and whole.inner is whole


def test_what_is_made_like_a_split_field_is_split_alike() -> None:
    x = split_field(3)
    made = [x.grad, x.detach(), x.copy(), copy.deepcopy(x), dt.zeros_like(x), dt.empty_like(x)]
    made += [2.0 * x, x - dt.ones(5, F64), x.grad * x, dt.zeros_like(x).grad]
    assert all(one.split is x.split for one in made)
    parts = [x[1:3].copy(), dt.zeros_like(x[1:3]), dt.ones(5, F64) * 2.0]
    assert all(one.split is None for one in parts)


def test_fields_split_in_different_ways_do_not_mix() -> None:
    with pytest.raises(FieldError, match="in different ways"):
        _ = split_field(3) + split_field(3)


def test_exchange_fills_halos_of_all_that_are_split_at_once() -> None:
    x = split_field(3)
    y = 10.0 * x
    exchange([x, dt.zeros(2), y])
    assert x.to_numpy().tolist() == [2.0, 0.0, 1.0, 2.0, 0.0]
    assert y.to_numpy().tolist() == [20.0, 0.0, 10.0, 20.0, 0.0]
    assert isinstance(x.split, Periodic) and x.split.exchanged == [x, y]


def test_halos_that_are_up_to_date_are_not_exchanged_again() -> None:
    x = split_field(3)
    assert isinstance(x.split, Periodic)
    with up_to_date([x]):
        x.exchange()
    assert not x.split.exchanged
    x.exchange()
    assert x.split.exchanged == [x]


def test_a_field_that_is_not_split_has_nothing_to_exchange() -> None:
    with pytest.raises(FieldError, match="no halos"):
        dt.zeros(3).exchange()


def test_another_shape_of_a_split_field_has_no_inner_part() -> None:
    with pytest.raises(FieldError, match="another shape"):
        _ = split_field(4).view(2, 3).inner


def test_split_fields_are_not_pickled() -> None:
    with pytest.raises(FieldError, match="not pickled"):
        pickle.dumps(split_field(3))


def test_elements_of_all_ranks() -> None:
    x, whole = split_field(3), dt.zeros(3)
    x.from_global([3.0, 4.0, 5.0])
    assert x.to_numpy().tolist() == [5.0, 3.0, 4.0, 5.0, 3.0]
    assert x.to_global().tolist() == [3.0, 4.0, 5.0]
    whole.from_global([1.0, 2.0, 3.0])
    assert whole.to_global(root=0).tolist() == [1.0, 2.0, 3.0]
