"""The kernels of `benchmarks.kernels` in plain Taichi, and their adjoints written by hand.

Both are over `ti.field`. The kernels are written the way Taichi's autodiff needs them: a local
that a loop changes is kept in a field instead, since the values of locals live in a stack of 32
entries, beyond which gradients are silently wrong. So the products of `matvec` are added up in the
output, and the transmittance of `compositing` has an axis of layers. (Taichi can be started with a
longer stack, `ad_stack_size=1025`; that was slower for both.)

The adjoints add to the gradients of the inputs, leave those of the outputs as they are, and use
whatever their author knows about the kernel: that a stencil is its own transpose, which loops can
share a pass over memory, that front to back the rest of a sum is the sum less what has passed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import taichi as ti

vec2, mat2 = ti.math.vec2, ti.math.mat2


@dataclass
class Peer:
    """A kernel in plain Taichi.

    Attributes:
        forward: The kernel; `forward.grad` is Taichi's adjoint of it.
        adjoint: The adjoint written by hand.
        clear: Sets what the kernel adds to, besides its outputs, to where it starts.
        clear_gradients: Sets the gradients of such fields to zero.
    """

    forward: Any
    adjoint: Callable[[], None]
    clear: Callable[[], None] = field(default=lambda: None)
    clear_gradients: Callable[[], None] = field(default=lambda: None)


def make_map(x, y) -> Peer:
    @ti.kernel
    def forward():
        for i in x:
            y[i] = ti.sin(x[i]) * x[i] + 0.5 * x[i] * x[i]

    @ti.kernel
    def adjoint():
        for i in x:
            x.grad[i] += y.grad[i] * (ti.cos(x[i]) * x[i] + ti.sin(x[i]) + x[i])

    return Peer(forward, adjoint)


def make_stencil(x, y) -> Peer:
    n, m = x.shape

    @ti.kernel
    def forward():
        for i, j in ti.ndrange((1, n - 1), (1, m - 1)):
            around = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]
            y[i, j] = x[i, j] + 0.2 * (around - 4.0 * x[i, j])

    # The frame of y is not written and has the gradient 0, which the kernel leaves there: so the
    # interior gathers without a test. The frame of x takes from one neighbour each.
    @ti.kernel
    def adjoint():
        for i, j in ti.ndrange((1, n - 1), (1, m - 1)):
            above = y.grad[i - 1, j] if i > 1 else 0.0
            below = y.grad[i + 1, j] if i < n - 2 else 0.0
            left = y.grad[i, j - 1] if j > 1 else 0.0
            right = y.grad[i, j + 1] if j < m - 2 else 0.0
            x.grad[i, j] += 0.2 * (above + below + left + right) + 0.2 * y.grad[i, j]
        for j in range(1, m - 1):
            x.grad[0, j] += 0.2 * y.grad[1, j]
            x.grad[n - 1, j] += 0.2 * y.grad[n - 2, j]
        for i in range(1, n - 1):
            x.grad[i, 0] += 0.2 * y.grad[i, 1]
            x.grad[i, m - 1] += 0.2 * y.grad[i, m - 2]

    return Peer(forward, adjoint)


def make_gather(x, index, y) -> Peer:
    @ti.kernel
    def forward():
        for i in y:
            y[i] = x[index[i]] * x[index[i]]

    @ti.kernel
    def adjoint():
        for i in y:
            x.grad[index[i]] += 2.0 * x[index[i]] * y.grad[i]

    return Peer(forward, adjoint)


def make_scatter(x, index, y) -> Peer:
    @ti.kernel
    def forward():
        for i in x:
            y[index[i]] += x[i] * x[i]

    @ti.kernel
    def adjoint():
        for i in x:
            x.grad[i] += 2.0 * x[i] * y.grad[index[i]]

    return Peer(forward, adjoint)


def make_sum(x, y) -> Peer:
    @ti.kernel
    def forward():
        for i in x:
            y[None] += x[i] * x[i]

    @ti.kernel
    def adjoint():
        for i in x:
            x.grad[i] += 2.0 * x[i] * y.grad[None]

    return Peer(forward, adjoint)


def make_matvec(a, x, y) -> Peer:
    n, m = a.shape
    width = 16  # columns that a thread takes at once: a line of the cache

    @ti.kernel
    def forward():
        for i in range(n):
            for j in range(m):
                y[i] += a[i, j] * x[j]

    # Each iteration owns its columns, so that one pass reads and writes both matrices once.
    @ti.kernel
    def adjoint():
        for block in range(m // width):
            first = block * width
            total = ti.Vector([0.0] * width)
            part = ti.Vector([0.0] * width)
            for k in ti.static(range(width)):
                part[k] = x[first + k]
            for i in range(n):
                y_bar = y.grad[i]
                for k in ti.static(range(width)):
                    total[k] += a[i, first + k] * y_bar
                for k in ti.static(range(width)):
                    a.grad[i, first + k] = a.grad[i, first + k] + y_bar * part[k]
            for k in ti.static(range(width)):
                x.grad[first + k] = x.grad[first + k] + total[k]

    return Peer(forward, adjoint, lambda: y.fill(0.0))


def make_compositing(alpha, colour, y) -> Peer:
    n, m, layers = alpha.shape
    light = ti.field(ti.f32, shape=(n, m, layers + 1), needs_grad=True)

    @ti.kernel
    def forward():
        for i, j in y:
            light[i, j, 0] = 1.0
            for k in range(layers):
                y[i, j] += light[i, j, k] * alpha[i, j, k] * colour[i, j, k]
                light[i, j, k + 1] = light[i, j, k] * (1.0 - alpha[i, j, k])

    # Front to back once more: what is behind a layer is the pixel less what is before it.
    @ti.kernel
    def adjoint():
        for i, j in y:
            y_bar, behind, t = y.grad[i, j], y[i, j], 1.0
            for k in range(layers):
                a, c = alpha[i, j, k], colour[i, j, k]
                behind -= t * a * c
                colour.grad[i, j, k] = colour.grad[i, j, k] + y_bar * t * a
                alpha.grad[i, j, k] = alpha.grad[i, j, k] + y_bar * (t * c - behind / (1.0 - a))
                t *= 1.0 - a

    return Peer(forward, adjoint, lambda: y.fill(0.0), lambda: light.grad.fill(0.0))


@ti.func
def weights_of(f):
    return [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]


@ti.func
def slopes_of(f):
    return [f - 1.5, 2.0 - 2.0 * f, f - 0.5]


def make_p2g(n_grid: int, x, v, c, stress, momentum, mass) -> Peer:
    inv_dx = float(n_grid)
    dx = 1.0 / inv_dx

    @ti.kernel
    def forward():
        for p in x:
            base = ti.cast(x[p] * inv_dx - 0.5, ti.i32)
            f = x[p] * inv_dx - ti.cast(base, ti.f32)
            w = weights_of(f)
            affine = c[p] + stress[p] * ti.Matrix([[1.0, 0.0], [0.0, 1.0]])
            for i, j in ti.static(ti.ndrange(3, 3)):
                offset = ti.Vector([i, j])
                way = (ti.cast(offset, ti.f32) - f) * dx
                weight = w[i].x * w[j].y
                momentum[base + offset] += weight * (v[p] + affine @ way)
                mass[base + offset] += weight

    @ti.kernel
    def adjoint():
        for p in x:
            base = ti.cast(x[p] * inv_dx - 0.5, ti.i32)
            f = x[p] * inv_dx - ti.cast(base, ti.f32)
            w, slope = weights_of(f), slopes_of(f)
            affine = c[p] + stress[p] * ti.Matrix([[1.0, 0.0], [0.0, 1.0]])
            f_bar, v_bar, affine_bar = vec2(0.0, 0.0), vec2(0.0, 0.0), mat2(0.0)
            for i, j in ti.static(ti.ndrange(3, 3)):
                offset = ti.Vector([i, j])
                way = (ti.cast(offset, ti.f32) - f) * dx
                weight = w[i].x * w[j].y
                g = momentum.grad[base + offset]
                weight_bar = g.dot(v[p] + affine @ way) + mass.grad[base + offset]
                v_bar += weight * g
                affine_bar += weight * g.outer_product(way)
                f_bar -= weight * dx * (affine.transpose() @ g)
                f_bar += weight_bar * ti.Vector([slope[i].x * w[j].y, w[i].x * slope[j].y])
            x.grad[p] = x.grad[p] + inv_dx * f_bar
            v.grad[p] = v.grad[p] + v_bar
            c.grad[p] = c.grad[p] + affine_bar
            stress.grad[p] = stress.grad[p] + affine_bar.trace()

    return Peer(forward, adjoint)


def make_g2p(n_grid: int, x, velocity, v, c) -> Peer:
    inv_dx = float(n_grid)

    @ti.kernel
    def forward():
        for p in x:
            base = ti.cast(x[p] * inv_dx - 0.5, ti.i32)
            f = x[p] * inv_dx - ti.cast(base, ti.f32)
            w = weights_of(f)
            new_v = ti.Vector([0.0, 0.0])
            new_c = ti.Matrix([[0.0, 0.0], [0.0, 0.0]])
            for i, j in ti.static(ti.ndrange(3, 3)):
                offset = ti.Vector([i, j])
                way = ti.cast(offset, ti.f32) - f
                weight = w[i].x * w[j].y
                g = velocity[base + offset]
                new_v += weight * g
                new_c += 4.0 * weight * inv_dx * g.outer_product(way)
            v[p] = new_v
            c[p] = new_c

    @ti.kernel
    def adjoint():
        for p in x:
            base = ti.cast(x[p] * inv_dx - 0.5, ti.i32)
            f = x[p] * inv_dx - ti.cast(base, ti.f32)
            w, slope = weights_of(f), slopes_of(f)
            v_bar, c_bar = v.grad[p], 4.0 * inv_dx * c.grad[p]
            f_bar = vec2(0.0, 0.0)
            for i, j in ti.static(ti.ndrange(3, 3)):
                offset = ti.Vector([i, j])
                way = ti.cast(offset, ti.f32) - f
                weight = w[i].x * w[j].y
                g = velocity[base + offset]
                pulled = v_bar + c_bar @ way
                velocity.grad[base + offset] += weight * pulled
                f_bar -= weight * (c_bar.transpose() @ g)
                f_bar += g.dot(pulled) * ti.Vector([slope[i].x * w[j].y, w[i].x * slope[j].y])
            x.grad[p] = x.grad[p] + inv_dx * f_bar

    return Peer(forward, adjoint)
