"""Compile, launch, and say where compiled kernels are kept, whatever the environment is."""

from __future__ import annotations

import os

import difftile as dt  # before Taichi, which ends the process where HOME is missing
import difftile.lang as ti
from difftile.substrate import chosen
from difftile.substrate.family.device import impl


@dt.kernel
def add(x, a: float):
    for i in x:
        x[i] += ti.sin(a)


if __name__ == "__main__":
    before = dict(os.environ)
    for _ in range(2):
        dt.init()
        x = dt.zeros(3)
        add(x, 0.0)
        assert x.to_numpy().tolist() == [0.0] * 3
    expected = {
        "taichi": {"ENABLE_TAICHI_HEADER_PRINT": "0", "TI_SKIP_VERSION_CHECK": "ON"},
        "quadrants": {"ENABLE_QUADRANTS_HEADER_PRINT": "0"},
    }[chosen()]
    assert dict(os.environ) == before, "the environment has changed"
    assert before.items() >= expected.items()
    config = impl.current_cfg()
    print(config.offline_cache_file_path if config.offline_cache else "nowhere")
