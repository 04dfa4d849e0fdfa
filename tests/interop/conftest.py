"""Other libraries as the tests beside them need them: small, on the CPU, in single precision."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

# JAX reads it when it is imported: a test on a GPU must leave room for difftile and PyTorch.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


@pytest.fixture(autouse=True)
def quiet_torch() -> None:
    """Let PyTorch compute on one thread: other tests run at the same time."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def jax_on_the_host(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let JAX compute on the CPU, even where it has a GPU, but for tests marked `gpu`."""
    jax = sys.modules.get("jax")
    if jax is None or request.node.get_closest_marker("gpu"):
        yield
        return
    with jax.default_device(jax.devices("cpu")[0]):
        yield


@pytest.fixture
def x64() -> Iterator[None]:
    """Let JAX make arrays of 64 bits, in this test."""
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)
