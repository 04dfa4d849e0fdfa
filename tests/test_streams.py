"""Launches wait for streams of CUDA that others work on, and these for launches."""

from __future__ import annotations

from typing import Any

import pytest

from difftile.substrate import LAUNCHES, let_wait
from difftile.substrate.family import cuda


class Driver:
    """Notes calls of the driver."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.fails = ""

    def enter(self) -> None:
        self.calls.append(("enter", None))

    def call(self, name: str, *args: Any) -> None:
        self.calls.append((name, args[0] if name == "cuStreamWaitEvent" else args[-1]))
        if name == self.fails:
            raise RuntimeError(name)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    made = Driver()
    monkeypatch.setattr(cuda, "_driver", lambda: made)
    return made


def test_one_stream_waits_for_an_event_on_the_other(driver: Driver):
    let_wait(LAUNCHES, 77)
    names = ["enter", "cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuEventDestroy_v2"]
    assert [name for name, _ in driver.calls] == names
    assert (driver.calls[2][1], driver.calls[3][1]) == (77, LAUNCHES)


def test_a_stream_does_not_wait_for_itself(driver: Driver):
    let_wait(LAUNCHES, 1)
    let_wait(LAUNCHES, 0)  # the same stream by its other name
    let_wait(77, 77)
    assert driver.calls == []


def test_an_event_is_given_back_after_an_error(driver: Driver):
    driver.fails = "cuEventRecord"
    with pytest.raises(RuntimeError):
        let_wait(LAUNCHES, 77)
    assert driver.calls[-1][0] == "cuEventDestroy_v2"
