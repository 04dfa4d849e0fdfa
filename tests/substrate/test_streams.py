"""Launches wait for streams of CUDA that others work on, and these for launches."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import difftile as dt
from difftile.substrate import NULL_STREAM, let_wait
from difftile.substrate.family import cuda
from difftile.substrate.streams import handle_of

ROOT = Path(__file__).parents[2]


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
        if name == "cuEventCreate":
            args[0]._obj.value = len(self.calls)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    made = Driver()
    monkeypatch.setattr(cuda, "_driver", lambda: made)
    return made


def test_one_stream_waits_for_an_event_on_the_other(driver: Driver):
    let_wait(NULL_STREAM, 77)
    names = ["enter", "cuEventCreate", "cuEventRecord", "cuStreamWaitEvent"]
    assert [name for name, _ in driver.calls] == names
    assert (driver.calls[2][1], driver.calls[3][1]) == (77, NULL_STREAM)


def test_each_thread_has_one_event(driver: Driver):
    let_wait(NULL_STREAM, 77)
    let_wait(77, NULL_STREAM)
    thread = threading.Thread(target=let_wait, args=(NULL_STREAM, 77))
    thread.start()
    thread.join()
    gc.collect()
    made = [(name, given) for name, given in driver.calls if name != "enter"]
    assert [name for name, _ in made].count("cuEventCreate") == 2
    assert [name for name, _ in made].count("cuEventDestroy_v2") == 1  # with its thread
    assert [given for name, given in made if name == "cuStreamWaitEvent"] == [1, 77, 1]


def test_a_stream_does_not_wait_for_itself(driver: Driver):
    let_wait(NULL_STREAM, 1)
    let_wait(NULL_STREAM, 0)  # the same stream by its other name
    let_wait(77, 77)
    assert driver.calls == []


def test_an_event_is_not_waited_for_after_an_error(driver: Driver):
    driver.fails = "cuEventRecord"
    with pytest.raises(RuntimeError):
        let_wait(NULL_STREAM, 77)
    assert driver.calls[-1][0] == "cuEventRecord"


class Stream:
    """A stream of a library, by the attributes that it has."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Protocol:
    """A stream by CUDA's protocol, which comes first."""

    cuda_stream = 5

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 99


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (None, NULL_STREAM),
        (0, NULL_STREAM),
        (1, NULL_STREAM),
        (77, 77),
        (Stream(cuda_stream=78), 78),
        (Stream(ptr=79), 79),
        (Stream(handle=ctypes.c_void_p(80)), 80),
        (Stream(handle=ctypes.c_void_p(0)), NULL_STREAM),
        (Protocol(), 99),
    ],
)
def test_streams_of_libraries_have_handles(stream: Any, handle: int) -> None:
    assert handle_of(stream) == handle


@pytest.mark.parametrize("stream", ["null", 1.5, True, -3, Stream(), Stream(ptr="x")])
def test_what_is_no_stream_is_refused(stream: Any) -> None:
    with pytest.raises(dt.FieldError, match="a stream of torch, CuPy or Numba, or its handle"):
        handle_of(stream)


def test_streams_are_refused_before_a_session_ends() -> None:
    x = dt.ones(3)
    with pytest.raises(dt.FieldError, match=r"on CUDA by Quadrants: dt.init\(arch='cuda'"):
        dt.init(arch="cpu", stream=77)
    with pytest.raises(dt.FieldError, match="name one of them"):
        dt.init(arch="cpu", stream=2)
    assert x[0] == 1.0  # the session goes on


def test_memory_of_devices_goes_silently_with_the_interpreter() -> None:
    program = (
        "from tests.device_arrays import device_arrays\n"
        "from tests.substrate.test_batch import push\n"
        "import difftile as dt, taichi as ti\n"
        "with device_arrays():\n"
        "    x, v, y = (dt.zeros(3, ti.f32) for _ in range(3))\n"
        "    push(x, v, y, 1.0, 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "Ndarray" not in done.stderr
