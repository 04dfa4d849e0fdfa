"""The derivatives of small packed systems, run as Python."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import difftile as dt
from tests.packed import test_packed


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@pytest.mark.always  # no other short test has derivatives of packed systems
def test_values_tangents_and_gradients() -> None:
    test_packed.test_values_and_derivatives(3, False)
