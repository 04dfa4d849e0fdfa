"""Shared code of the tests of viewers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.viewer.screen import Screen, opened


@pytest.fixture(scope="module")
def screen() -> Iterator[Screen]:
    with opened() as screen:
        yield screen
