"""The way of an argument to the compiler does not become longer."""

from __future__ import annotations

import pytest

import difftile as dt
from tests.walk import Walk, walks

MOST = {
    "another field": Walk(stays=80, files=29, climbs=5),
    "the same field": Walk(stays=14, files=9, climbs=0),
    "another array": Walk(stays=115, files=38, climbs=7),
    "the same array": Walk(stays=18, files=10, climbs=0),
}


@pytest.mark.compiled
def test_walks_of_arguments_stay_short() -> None:
    dt.init(arch="cpu")
    for name, found in walks().items():
        assert all(a <= b for a, b in zip(found, MOST[name], strict=True)), (name, found)
