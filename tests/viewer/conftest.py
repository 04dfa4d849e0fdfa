"""Shared code of the tests of viewers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from difftile.viewer.backends.toolkits import TOOLKITS
from tests.viewer.screen import Screen, opened


@pytest.fixture(scope="module")
def screen() -> Iterator[Screen]:
    with opened() as screen:
        yield screen


@pytest.fixture(params=TOOLKITS)
def toolkit(request: pytest.FixtureRequest, screen: Screen, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of each toolkit that opens windows here."""
    monkeypatch.setenv("DISPLAY", screen.display)
    missing = TOOLKITS[request.param].missing()
    if missing is not None:
        pytest.skip(missing)
    return request.param
