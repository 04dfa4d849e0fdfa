"""Custom ops for random programs, each with its equivalent on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt


@dataclass(frozen=True)
class HostOp:
    """A custom op whose last field is written, and how many fields it takes."""

    op: Any
    reference: Callable[..., None]
    count: int


@dt.custom_op
def squash(x: dt.InOut):
    x.from_numpy(np.tanh(x.to_numpy()))


@dt.kernel
def squash_back(x, incoming, outgoing):
    for i in x:
        outgoing[i] += incoming[i] * (1.0 - ti.tanh(x[i]) ** 2)


@squash.backward
def _(x):
    """Launches, which can be transposed and differentiated."""
    squash_back(x, x.grad_in, x.grad_out)


def _squash(x: Any) -> None:
    x[...] = np.tanh(x)


@dt.custom_op
def bell(src: dt.In, dst: dt.Out):
    """The backward reads the written values."""
    dst.from_numpy(np.exp(-(src.to_numpy() ** 2)))


@bell.backward
def _(src, dst):
    src.grad_out.from_numpy(-2 * src.to_numpy() * dst.to_numpy() * dst.grad_in.to_numpy())


def _bell(src: Any, dst: Any) -> None:
    dst[...] = np.exp(-(src**2))


@dt.kernel
def blend_kernel(src, dst):
    for i in src:
        dst[i] = 0.5 * dst[i] + 1.0 / (1.0 + src[i] * src[i])


@dt.custom_op
def blend(src, dst):
    """Undeclared, and a launch does the work."""
    blend_kernel(src, dst)


@blend.backward
def _(src, dst):
    """Arithmetic of fields and a kernel with a rule."""
    blend_back(src, dst.grad_in, src.grad_out)
    dst.grad_out += 0.5 * dst.grad_in


@dt.kernel
def blend_back(src, incoming, outgoing):
    for i in src:
        outgoing[i] += -2.0 * src[i] * incoming[i] / (1.0 + src[i] * src[i]) ** 2


@blend_back.backward
def _(src, incoming, outgoing):
    for i in src:
        below = 1.0 + src[i] * src[i]
        incoming.grad_out[i] += -2.0 * src[i] / below**2 * outgoing.grad_in[i]
        slope = (6.0 * src[i] * src[i] - 2.0) / below**3
        src.grad_out[i] += slope * incoming[i] * outgoing.grad_in[i]


def _blend(src: Any, dst: Any) -> None:
    dst[...] = 0.5 * dst + 1 / (1 + src**2)


@dt.custom_op
def normalise(src, dst: dt.Out):
    """The norm is saved."""
    norm = np.sqrt(1 + np.sum(src.to_numpy() ** 2))
    dst.from_numpy(src.to_numpy() / norm)
    return norm, src.to_numpy()


@normalise.backward
def _(src, dst, saved):
    norm, values = saved
    bar = dst.grad_in.to_numpy() / norm
    src.grad_out.add_numpy(bar - values * np.sum(values * bar) / norm**2)


def _normalise(src: Any, dst: Any) -> None:
    dst[...] = src / np.sqrt(1 + np.sum(src**2))


@dt.custom_op
def first(x):
    """Undeclared, and but one element is written."""
    x[0] = x[0] + 0.5 * x[x.shape[0] - 1]


@first.backward
def _(x):
    bar = x.grad_in.to_numpy()
    bar[-1] += 0.5 * bar[0]
    x.grad_out.add_numpy(bar)


@first.forward
def _(x):
    """In NumPy, as the backward, which is linear in gradients and reads nothing else."""
    dot = x.grad_out.to_numpy()
    dot[0] += 0.5 * dot[-1]
    x.grad_in.from_numpy(dot)


def _first(x: Any) -> None:
    x[0] = x[0] + 0.5 * x[-1]


@dt.custom_op
def relay(src, dst):
    """Undeclared, and a copy: what it writes may be there already."""
    dst.copy_from(src)


@relay.backward
def _(src, dst):
    src.grad_out += dst.grad_in


def _relay(src: Any, dst: Any) -> None:
    dst[...] = src


HOST_OPS = {
    "squash": HostOp(squash, _squash, 1),
    "bell": HostOp(bell, _bell, 2),
    "blend": HostOp(blend, _blend, 2),
    "normalise": HostOp(normalise, _normalise, 2),
    "first": HostOp(first, _first, 1),
    "relay": HostOp(relay, _relay, 2),
}
