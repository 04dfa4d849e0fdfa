"""The image of a textured mesh by nvdiffrast, for `benchmarks.rasterize`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

dr: Any = importlib.import_module("nvdiffrast.torch")


def make(
    projected: Any, faces: Any, uv: Any, texels: Any, size: int, near: float, far: float
) -> dict[str, Callable[[], object]]:
    """Return calls that find triangles, draw an image, and differentiate it.

    Args:
        projected: Vertices as columns and rows times depth, and depth, shape (n, 3).
        faces: The triangles, shape (m, 3).
        uv: Texture coordinates of vertices, shape (n, 2).
        texels: The texture, shape (rows, columns, 3).
        size: Of the image along each side [pixels].
        near: The least depth.
        far: The largest depth.
    """
    x, y, z = np.asarray(projected, np.float32).T
    depth = ((far + near) * z - 2 * far * near) / (far - near)
    clip = np.stack([2 * x / size - z, 2 * y / size - z, depth, z], -1)
    device = "cuda"
    vertices = torch.tensor(clip[None], device=device, requires_grad=True)
    triangles = torch.tensor(np.asarray(faces, np.int32), device=device)
    at = torch.tensor(np.asarray(uv, np.float32)[None], device=device)
    texture = torch.tensor(np.asarray(texels, np.float32)[None], device=device, requires_grad=True)
    context = dr.RasterizeCudaContext()

    def find() -> tuple[Any, Any]:
        found = dr.rasterize(context, vertices, triangles, resolution=[size, size])
        torch.cuda.synchronize()
        return found

    def draw() -> Any:
        found, changes = dr.rasterize(context, vertices, triangles, resolution=[size, size])
        where, by = dr.interpolate(at, found, triangles, rast_db=changes, diff_attrs="all")
        colour = dr.texture(texture, where, by, filter_mode="linear-mipmap-linear")
        image = dr.antialias(colour * (found[..., 3:] > 0), found, vertices, triangles)
        torch.cuda.synchronize()
        return image

    def differentiate() -> None:
        vertices.grad = texture.grad = None
        draw().sum().backward()
        torch.cuda.synchronize()

    return {"triangles": find, "image": draw, "with gradients": differentiate}
