"""Exchanges, migration and sums of fields in memory of a device, on several ranks.

Without a GPU the device is a fake one, whose memory gloo takes in the place of NCCL, or not.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.distributed import on_devices, particle_programs, waves
from tests.ranks import ranks

BOXES = {
    1: {"flat": (1, 1), "deep": (1, 1, 1)},
    2: {"flat": (2, 1), "deep": (1, 2, 1)},
    3: {"flat": (1, 3), "deep": (3, 1, 1)},
    4: {"flat": (2, 2), "deep": (1, 2, 2)},
}


@cache
def wanted() -> dict[str, Any]:
    """Return the results of one process, on the CPU."""
    found: dict[str, Any] = {}
    for name, shape in (("flat", on_devices.FLAT), ("deep", on_devices.DEEP)):
        one = waves.gradients(shape, plain=True, higher=False)
        found[name] = [one[f"{key} 0"] for key in ("loss", "initial", "speed")]
    loss, final, gradients, _ = particle_programs.wander((1, 1), *on_devices.WANDER)
    found["particles"] = [*final.values(), *gradients.values()]
    found["loss"] = loss
    return found


def check(found: list[dict[str, Any]]) -> None:
    """Compare the results of ranks with those of one process."""
    size, right = len(found), wanted()
    scale = size * (size + 1) / 2
    w = on_devices.WEIGHTS
    sums = [scale * np.sum(w**2), 2.0 * scale * w, 2.0 * scale * w]
    for one in found:
        for name in ("flat", "deep"):
            for overlap in (False, True):
                close(one[f"{name} {overlap}"], right[name])
        close(one["particles"], right["particles"])
        close(one["sums"], sums)
    close([sum(one["part of the loss"] for one in found)], [right["loss"]])
    if size > 1:
        counts = np.array([one["counts"] for one in found])
        assert (np.diff(counts, axis=1) != 0).any(axis=1).all()  # borders are crossed


def close(found: list[Any], right: list[Any]) -> None:
    """Compare arrays to rounding."""
    for a, b in zip(found, right, strict=True):
        size = max(1.0, float(np.max(np.abs(b))))
        np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-12 * size)


@pytest.mark.parametrize("kind", [pytest.param("staged", marks=pytest.mark.slow), "direct"])
def test_fake_device(kind: str) -> None:
    size = 2
    found = ranks(size).run(on_devices.run, kind, BOXES[size], patience=300.0)
    check([one for one, _ in found])
    assert all((sent > 0) == (kind == "direct") for _, sent in found)


@pytest.fixture
def gpu() -> None:
    """Skip the test where there is no GPU."""
    try:
        code = ctypes.CDLL("libcuda.so.1").cuInit(0)
    except OSError:
        code = -1
    if code:
        pytest.skip("no CUDA device")


@pytest.mark.gpu
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_ranks_that_share_a_gpu(gpu: None, size: int) -> None:
    found = ranks(size).run(on_devices.run, "cuda", BOXES[size], patience=400.0)
    check([one for one, _ in found])


@pytest.mark.gpu
def test_one_rank_with_nccl(gpu: None) -> None:
    torch = pytest.importorskip("torch", reason="the engine is torch's")
    if not torch.distributed.is_nccl_available():
        pytest.skip("torch has no NCCL")
    ((on_host, on_gpu, sums),) = ranks(1).run(on_devices.alone_with_nccl, patience=400.0)
    close(on_gpu, on_host)
    assert sums == [4.0] * 20
