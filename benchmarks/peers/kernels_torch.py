"""The kernels of `benchmarks.kernels` for torch.compile, on the CPU.

Each takes inputs and constants, and returns outputs. To import the module is to import torch.
"""

import importlib
from collections.abc import Callable
from typing import Any

torch: Any = importlib.import_module("torch")

Tensors = tuple[Any, ...]


def elementwise(x: Any) -> Tensors:
    return (torch.sin(x) * torch.exp(-x) + torch.sqrt(x * x + 1.0),)


def multiply_adds(x: Any) -> Tensors:
    total = x
    for _ in range(20):
        total = total * x + 0.25
    return (total,)


def map_(x: Any) -> Tensors:
    return (torch.sin(x) * x + 0.5 * x * x,)


def stencil(x: Any) -> Tensors:
    inner = x[1:-1, 1:-1]
    around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    return (inner + 0.2 * (around - 4.0 * inner),)


def transpose(x: Any) -> Tensors:
    return ((x * x).T.contiguous(),)


def gather(x: Any, index: Any) -> Tensors:
    found = x[index]
    return (found * found,)


def scatter(x: Any, index: Any) -> Tensors:
    return (torch.zeros_like(x).index_add(0, index, x * x),)


def sum_(x: Any) -> Tensors:
    return ((x * x).sum(),)


def matvec(a: Any, x: Any) -> Tensors:
    return (a @ x,)


def compositing(alpha: Any, colour: Any) -> Tensors:
    through = torch.cumprod(1.0 - alpha[..., :-1], dim=-1)
    light = torch.cat([torch.ones_like(alpha[..., :1]), through], dim=-1)
    return ((light * alpha * colour).sum(-1),)


def p2g(x: Any, v: Any, c: Any, stress: Any, *, n: int) -> Tensors:
    f, weights, at = _around(x, n)
    offsets = torch.tensor([[i, j] for i in range(3) for j in range(3)], dtype=x.dtype)
    way = (offsets - f[:, None]) / n
    affine = c + stress[:, None, None] * torch.eye(2, dtype=x.dtype)
    added = weights[..., None] * (v[:, None] + (affine[:, None] * way[:, :, None]).sum(-1))
    momentum = torch.zeros(n * n, 2).index_add(0, at.reshape(-1), added.reshape(-1, 2))
    mass = torch.zeros(n * n).index_add(0, at.reshape(-1), weights.reshape(-1))
    return momentum.reshape(n, n, 2), mass.reshape(n, n)


def g2p(x: Any, velocity: Any) -> Tensors:
    n = velocity.shape[0]
    f, weights, at = _around(x, n)
    offsets = torch.tensor([[i, j] for i in range(3) for j in range(3)], dtype=x.dtype)
    way = offsets - f[:, None]
    g = weights[..., None] * velocity.reshape(-1, 2)[at]
    return g.sum(1), 4.0 * n * (g[..., None] * way[:, :, None]).sum(1)


def _around(x: Any, n: int) -> Any:
    """Return offsets, and weights and indices of 9 nodes."""
    base = (x * n - 0.5).detach().to(torch.int64)
    f = x * n - base
    w = torch.stack([0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2], 1)
    weights = (w[:, :, None, 0] * w[:, None, :, 1]).reshape(-1, 9)
    steps = torch.arange(3)
    rows, columns = base[:, 0, None] + steps, base[:, 1, None] + steps
    return f, weights, (rows[:, :, None] * n + columns[:, None, :]).reshape(-1, 9)


def n_body(x: Any, mass: Any) -> Tensors:
    d = [x[None, :, axis] - x[:, None, axis] for axis in range(3)]
    near = torch.rsqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01)
    pull = mass * near * near * near
    return (torch.stack([(pull * along).sum(1) for along in d], 1),)


def texture(texels: Any, uv: Any) -> Tensors:
    found = torch.nn.functional.grid_sample(
        texels.permute(2, 0, 1)[None],
        (2 * uv - 1)[None, None],
        mode="bilinear",
        padding_mode="border",
        align_corners=False,
    )
    return (found[0, :, 0].T,)


KERNELS: dict[str, Callable[..., Tensors]] = {
    "elementwise": elementwise,
    "multiply-adds": multiply_adds,
    "map": map_,
    "stencil": stencil,
    "transpose": transpose,
    "gather": gather,
    "scatter-add": scatter,
    "sum": sum_,
    "matvec": matvec,
    "compositing": compositing,
    "p2g": p2g,
    "g2p": g2p,
    "n-body": n_body,
    "texture": texture,
}
