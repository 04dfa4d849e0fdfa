"""The way of an argument to the compiler does not become longer."""

from __future__ import annotations

import pytest

import difftile as dt
from tests.walk import Walk, walks

MOST = {
    "another field": Walk(stays=67, files=26, climbs=0),
    "the same field": Walk(stays=10, files=7, climbs=0),
    "another array": Walk(stays=108, files=37, climbs=0),
    "the same array": Walk(stays=21, files=9, climbs=0),
}


@pytest.mark.compiled
def test_walks_of_arguments_stay_short() -> None:
    dt.init(arch="cpu")
    for name, found in walks().items():
        assert all(a <= b for a, b in zip(found, MOST[name], strict=True)), (name, found)
