"""Lookups in a texture by `grid_sample` of torch, which is imported when it is asked for."""

import importlib
import os
from typing import Any

import numpy as np

from benchmarks.peers.texture_taichi import TexturePeer


def make_lookups(texels: np.ndarray, uv: np.ndarray, seed: np.ndarray) -> TexturePeer:
    """Return lookups on the CPU; see `texture_taichi.make_lookups`.

    Raises:
        ModuleNotFoundError: Torch is not installed.
    """
    # Its threads would otherwise keep spinning during the next measurement.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    torch: Any = importlib.import_module("torch")
    colours = torch.tensor(np.moveaxis(texels, -1, 0)[None], requires_grad=True)
    places = torch.tensor(uv, requires_grad=True)
    seeds = torch.tensor(seed)
    out = [torch.zeros(0)]

    def forward() -> None:
        out[0] = torch.nn.functional.grid_sample(
            colours,
            (2 * places - 1)[None, None],
            mode="bilinear",
            padding_mode="border",
            align_corners=False,
        )

    def backward() -> None:
        out[0].backward(seeds.T[None, :, None])

    def clear() -> None:
        colours.grad = places.grad = None
        forward()

    def results() -> list[np.ndarray]:
        texel_grad = np.moveaxis(colours.grad.numpy()[0], 0, -1)
        return [out[0].detach().numpy()[0, :, 0].T, texel_grad, places.grad.numpy()]

    return TexturePeer(forward, backward, clear, results)
