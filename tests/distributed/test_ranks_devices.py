"""Memory of devices: the calls for NCCL, made by gloo, and streams and late steps by fakes.

No GPU is needed, and none is used: what NCCL does with the calls is not tested here.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from difftile.diagnostics import RankError
from difftile.ranks import Message, current, streams, use_stream
from difftile.ranks.mpi_engine import MpiEngine
from difftile.ranks.torch_engine import TorchEngine
from tests.distributed.on_devices import posted
from tests.ranks import ranks

TYPES = "f2 f4 f8 i1 u1 i2 u2 i4 u4 i8".split()


class OnDevice:
    """An array that says that it is in memory of a device."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers


def by_gloo() -> tuple[TorchEngine, list[str]]:
    """Return the engine, whose calls for NCCL go to gloo, and a record of its streams."""
    engine: Any = current()
    entered: list[str] = []

    @contextmanager
    def on_stream() -> Generator[None]:
        entered.append("in")
        yield
        entered.append("out")

    made = TorchEngine(10.0, engine._group)
    fake: Any = made
    fake._devices = engine._group or import_module("torch.distributed").group.WORLD
    fake._tensor = lambda array: import_module("torch").from_numpy(array.numbers)
    fake.on_stream, fake._post = on_stream, posted
    return made, entered


def on_devices() -> list[Any]:
    """Add and send numbers of each type in memory of a device."""
    engine, entered = by_gloo()
    other = 1 - engine.rank
    found: list[Any] = []
    for dtype in TYPES:
        mine = (np.arange(6) + engine.rank).astype(dtype).reshape(2, 3)
        total, came = mine.copy(), np.zeros_like(mine)
        empty = np.zeros(0, dtype)
        engine.all_reduce(OnDevice(total)).wait("the test")
        engine.exchange(
            [Message(other, OnDevice(mine)), Message(other, OnDevice(empty))],
            [Message(other, OnDevice(empty)), Message(other, OnDevice(came))],
        ).wait("the test")
        found.append((total, came))
    assert entered == ["in", "out"] * 4 * len(TYPES)  # each start and each wait
    return found


def test_messages_and_sums_of_devices() -> None:
    for rank, found in enumerate(ranks(2).run(on_devices)):
        for dtype, (total, came) in zip(TYPES, found, strict=True):
            np.testing.assert_array_equal(total, (2 * np.arange(6) + 1).astype(dtype).reshape(2, 3))
            np.testing.assert_array_equal(came.reshape(-1), (np.arange(6) + 1 - rank).astype(dtype))


def refused_on_devices() -> list[str]:
    """Return the errors about numbers that devices cannot add."""
    engine, _ = by_gloo()
    found: list[str] = []
    for numbers, op in ((np.zeros(2, "u8"), "sum"), (np.zeros(2, "?"), "sum")):
        with pytest.raises(RankError) as caught:
            engine.all_reduce(OnDevice(numbers), op)
        found.append(str(caught.value))
    return found


def test_sums_that_devices_have_not() -> None:
    wide, truth = ranks(2).run(refused_on_devices)[0]
    assert wide == "Numbers of type u64 are combined in memory of the host only."
    assert truth == "Truth values of ranks have no sum: 'max' tells whether any is true."


class _Work:
    """A request on a device."""

    done = False

    def is_completed(self) -> bool:
        return self.done


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return an engine of two ranks without any connection."""
    cuda = SimpleNamespace(
        stream=lambda one: ("stream", one),
        ExternalStream=lambda handle: f"external {handle}",
        default_stream=lambda: "default",
    )
    dist = SimpleNamespace(
        is_initialized=lambda: True,
        new_group=lambda *_, **options: options["backend"],
        get_rank=lambda _: 0,
        get_world_size=lambda _: 2,
        get_process_group_ranks=lambda _: [0, 1],
        ReduceOp=SimpleNamespace(SUM=0, MAX=1, MIN=2),
        AllreduceOptions=SimpleNamespace,
    )
    private = SimpleNamespace(_cuda_getCurrentRawStream=lambda _: 42)
    torch = SimpleNamespace(cuda=cuda, from_numpy=None, _C=private)
    modules = {"torch": torch, "torch.distributed": dist}
    monkeypatch.setattr("difftile.ranks.torch_engine.import_module", modules.__getitem__)
    return TorchEngine(5.0)


def test_devices_work_on_the_stream_of_the_session(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams._Stream, "handle", 0)
    assert engine.on_stream() == ("stream", "default")
    use_stream(1)  # the legacy null stream
    assert engine.on_stream() == ("stream", "default")
    use_stream(4711)
    assert engine.on_stream() == ("stream", "external 4711")
    use_stream(42)  # torch's own
    assert isinstance(engine.on_stream(), nullcontext)


def test_the_group_of_devices_starts_with_the_first_array(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    guarded: list[Any] = []
    monkeypatch.setattr(
        "difftile.ranks.torch_engine.guard", lambda *arguments: guarded.append(arguments)
    )
    assert engine._group == "gloo" and not guarded
    assert engine._nccl() == engine._nccl() == "nccl"
    assert guarded == [(engine.waiting, engine.late)]


def test_a_step_that_takes_too_long_on_a_device_is_named(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("difftile.ranks.torch_engine.time.monotonic", lambda: now)
    first, second = _Work(), _Work()
    engine.note([first], "the exchange of 'u'")
    engine.note([second], "the sum of 'loss'")
    now = 104.0
    assert engine.late() is None
    now = 106.0
    assert engine.late() == "the exchange of 'u'"
    first.done = True
    assert engine.late() == "the sum of 'loss'"
    second.done = True
    assert engine.late() is None


def test_mpi_takes_no_memory_of_devices() -> None:
    pytest.importorskip("mpi4py", reason="is about MPI, not installed here")
    engine = object.__new__(MpiEngine)
    engine.waiting = SimpleNamespace(begun=0, joined=0)
    with pytest.raises(RankError, match="MPI sends memory of the host: copy the numbers"):
        engine.all_reduce(OnDevice(np.zeros(2)))
