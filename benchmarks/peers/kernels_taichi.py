"""The kernels of `benchmarks.kernels` in plain Taichi, and their hand-written adjoints.

Both are over `ti.field`. Taichi's autodiff keeps the values that a loop gives to a local in a stack
of 32 entries: with as many iterations as `matvec` and `compositing` have, the process crashes. So
these, and `n_body`, are here twice, in the fastest form forward, and in a form that Taichi
differentiates: the sums in the output, the transmittance in a field with an axis of layers. (With
`ad_stack_size=1040` for matvec and 80 for compositing Taichi also differentiates the former,
rightly but no faster.)

The adjoints add to the gradients of the inputs, leave those of the outputs unchanged, and use
everything their author knows about the kernel: that a stencil is its own transpose, which loops can
share a pass over memory, that front to back the rest of a sum is the sum less the part so far, that
forces between bodies are equal and opposite.
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
        forward: The fastest form of the kernel.
        adjoint: The hand-written adjoint.
        differentiable: The kernel that Taichi differentiates.
        clear_gradients: Sets gradients other than those of inputs and outputs to zero.
    """

    forward: Any
    adjoint: Callable[[], None]
    differentiable: Any
    clear_gradients: Callable[[], None] = field(default=lambda: None)


@ti.kernel
def wake() -> ti.i32:
    """Run a short parallel loop, so that the threads of the pool are awake."""
    total = 0
    for i in range(1 << 16):
        total += i & 1
    return total


def make_elementwise(x, y) -> Peer:
    @ti.kernel
    def forward():
        for i in x:
            y[i] = ti.sin(x[i]) * ti.exp(-x[i]) + ti.sqrt(x[i] * x[i] + 1.0)

    @ti.kernel
    def adjoint():
        for i in x:
            fading = (ti.cos(x[i]) - ti.sin(x[i])) * ti.exp(-x[i])
            x.grad[i] += y.grad[i] * (fading + x[i] / ti.sqrt(x[i] * x[i] + 1.0))

    return Peer(forward, adjoint, forward)


def make_multiply_adds(x, y) -> Peer:
    @ti.kernel
    def forward():
        for i in x:
            u = x[i]
            total = u
            for _ in ti.static(range(20)):
                total = total * u + 0.25
            y[i] = total

    @ti.kernel
    def adjoint():
        for i in x:
            u = x[i]
            total, slope = u, 1.0
            for _ in ti.static(range(20)):
                slope = slope * u + total
                total = total * u + 0.25
            x.grad[i] += y.grad[i] * slope

    return Peer(forward, adjoint, forward)


def make_map(x, y) -> Peer:
    @ti.kernel
    def forward():
        for i in x:
            y[i] = ti.sin(x[i]) * x[i] + 0.5 * x[i] * x[i]

    @ti.kernel
    def adjoint():
        for i in x:
            x.grad[i] += y.grad[i] * (ti.cos(x[i]) * x[i] + ti.sin(x[i]) + x[i])

    return Peer(forward, adjoint, forward)


def make_stencil(x, y) -> Peer:
    n, m = x.shape

    @ti.kernel
    def forward():
        for i, j in ti.ndrange((1, n - 1), (1, m - 1)):
            around = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]
            y[i, j] = x[i, j] + 0.2 * (around - 4.0 * x[i, j])

    # The frame of y is not written, so its gradient goes nowhere: away from it, gather without a
    # test. The two outer rings of x are few.
    @ti.kernel
    def adjoint():
        for i in range(2, n - 2):
            for j in range(2, m - 2):
                around = y.grad[i - 1, j] + y.grad[i + 1, j] + y.grad[i, j - 1] + y.grad[i, j + 1]
                x.grad[i, j] = x.grad[i, j] + 0.2 * (around + y.grad[i, j])
            for k in ti.static(range(4)):
                gather_if(i, (k // 2) * (m - 2) + k % 2)
        for j in range(m):
            for k in ti.static(range(4)):
                gather_if((k // 2) * (n - 2) + k % 2, j)

    @ti.func
    def bar(i, j):
        return y.grad[i, j] if 0 < i < n - 1 and 0 < j < m - 1 else 0.0

    @ti.func
    def gather_if(i, j):
        x.grad[i, j] += 0.2 * (
            bar(i - 1, j) + bar(i + 1, j) + bar(i, j - 1) + bar(i, j + 1) + bar(i, j)
        )

    return Peer(forward, adjoint, forward)


def make_transpose(x, y) -> Peer:
    @ti.kernel
    def forward():
        for i, j in y:
            y[i, j] = x[j, i] * x[j, i]

    @ti.kernel
    def adjoint():
        for i, j in x:
            x.grad[i, j] = x.grad[i, j] + 2.0 * x[i, j] * y.grad[j, i]

    return Peer(forward, adjoint, forward)


def make_gather(x, index, y) -> Peer:
    @ti.kernel
    def forward():
        for i in y:
            y[i] = x[index[i]] * x[index[i]]

    @ti.kernel
    def adjoint():
        for i in y:
            x.grad[index[i]] += 2.0 * x[index[i]] * y.grad[i]

    return Peer(forward, adjoint, forward)


def make_scatter(x, index, y) -> Peer:
    @ti.kernel
    def forward():
        for i in x:
            y[index[i]] += x[i] * x[i]

    @ti.kernel
    def adjoint():
        for i in x:
            x.grad[i] += 2.0 * x[i] * y.grad[index[i]]

    return Peer(forward, adjoint, forward)


def make_sum(x, y) -> Peer:
    @ti.kernel
    def forward():
        for i in x:
            y[None] += x[i] * x[i]

    @ti.kernel
    def adjoint():
        for i in x:
            x.grad[i] += 2.0 * x[i] * y.grad[None]

    return Peer(forward, adjoint, forward)


def make_matvec(a, x, y) -> Peer:
    n, m = a.shape
    width = 16  # columns that a thread takes at once: a line of the cache

    @ti.kernel
    def forward():
        for i in range(n):
            total = 0.0
            for j in range(m):
                total += a[i, j] * x[j]
            y[i] = total

    @ti.kernel
    def differentiable():
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

    return Peer(forward, adjoint, differentiable)


def make_compositing(alpha, colour, y) -> Peer:
    n, m, layers = alpha.shape
    light: Any = ti.field(ti.f32, shape=(n, m, layers + 1), needs_grad=True)

    @ti.kernel
    def forward():
        for i, j in y:
            total, t = 0.0, 1.0
            for k in range(layers):
                total += t * alpha[i, j, k] * colour[i, j, k]
                t *= 1.0 - alpha[i, j, k]
            y[i, j] = total

    @ti.kernel
    def differentiable():
        for i, j in y:
            light[i, j, 0] = 1.0
            for k in range(layers):
                y[i, j] += light[i, j, k] * alpha[i, j, k] * colour[i, j, k]
                light[i, j, k + 1] = light[i, j, k] * (1.0 - alpha[i, j, k])

    # Front to back once more: the light from beyond a layer is the pixel less the part before it.
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

    return Peer(forward, adjoint, differentiable, lambda: light.grad.fill(0.0))


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

    return Peer(forward, adjoint, forward)


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

    return Peer(forward, adjoint, forward)


def make_n_body(x, mass, y) -> Peer:
    n = x.shape[0]

    @ti.kernel
    def forward():
        for i in x:
            total = ti.Vector([0.0, 0.0, 0.0])
            for j in range(n):
                d = x[j] - x[i]
                near = 1.0 / ti.sqrt(d.dot(d) + 0.01)
                total += mass[j] * near * near * near * d
            y[i] = total

    @ti.kernel
    def differentiable():
        for i in x:
            for j in range(n):
                d = x[j] - x[i]
                near = 1.0 / ti.sqrt(d.dot(d) + 0.01)
                y[i] += mass[j] * near * near * near * d

    # Body i is pulled by j, and j by i: one pass over the others has both, and adds to one place.
    @ti.kernel
    def adjoint():
        for i in x:
            total = ti.Vector([0.0, 0.0, 0.0])
            for j in range(n):
                d = x[j] - x[i]
                near = 1.0 / ti.sqrt(d.dot(d) + 0.01)
                cubed = near * near * near
                bar = mass[i] * y.grad[j] - mass[j] * y.grad[i]
                total += cubed * (bar - 3.0 * near * near * d.dot(bar) * d)
            x.grad[i] = x.grad[i] + total

    return Peer(forward, adjoint, differentiable)


def make_texture(texels, uv, y) -> Peer:
    rows, columns = texels.shape

    @ti.func
    def around(i):
        p = ti.Vector([uv[i].y * rows, uv[i].x * columns]) - 0.5
        low = ti.floor(p)
        first = ti.cast(low, ti.i32)
        a = ti.max(0, ti.min(first, ti.Vector([rows - 1, columns - 1])))
        b = ti.max(0, ti.min(first + 1, ti.Vector([rows - 1, columns - 1])))
        return a, b, p - low

    @ti.kernel
    def forward():
        for i in y:
            a, b, f = around(i)
            upper = (1.0 - f.y) * texels[a] + f.y * texels[a.x, b.y]
            lower = (1.0 - f.y) * texels[b.x, a.y] + f.y * texels[b]
            y[i] = (1.0 - f.x) * upper + f.x * lower

    @ti.kernel
    def adjoint():
        for i in y:
            a, b, f = around(i)
            texels.grad[a] += (1.0 - f.x) * (1.0 - f.y) * y.grad[i]
            texels.grad[a.x, b.y] += (1.0 - f.x) * f.y * y.grad[i]
            texels.grad[b.x, a.y] += f.x * (1.0 - f.y) * y.grad[i]
            texels.grad[b] += f.x * f.y * y.grad[i]

    return Peer(forward, adjoint, forward)
