"""Loops that lanes of a warp share, with arrays in the memory of a block, beside those of threads.

The elimination of packed matrices, a world each, by a thread and by the lanes of a warp; and the
blending of gaussians in tiles of pixels, in the language by lanes (`dt.lanes`), by threads (the
kernel of `dt.render`), and as the native kernel. Values and gradients are compared first. Times are
medians of turns, from one synchronisation with the device to the next.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from difftile.arguments import Parser, positive_int

TILE = 16
PIXELS = TILE * TILE
BATCH = 32  # gaussians that a block has at a time
MAX_ALPHA, MIN_ALPHA, MIN_LIGHT, MAX_SIGMA = 0.99, 1.0 / 255.0, 1e-4, 5.5413  # of `dt.render`
APART = 2e-3  # relative, of gradients: f32, in other orders, with jumps where alpha is 1 / 255
DIFFERENT = "DIFFERENT RESULTS"


# Packed matrices


def elimination(n: int) -> Any:
    """Return a kernel that factors matrices of n rows, and sums the squares of their factors."""
    entries = n * (n + 1) // 2

    @dt.kernel
    def eliminate(a, y):
        for w in range(a.shape[0]):
            A, F = dt.local(entries), dt.local(entries)
            for e in range(entries):
                A[e] = a[w, e]
            dt.packed.factor(A, F, n)
            total = 0.0
            for e in range(entries):
                total += F[e] * F[e]
            y[w] = total

    return eliminate


def matrices(worlds: int, n: int) -> np.ndarray:
    """Return packed positive definite matrices."""
    rng = np.random.default_rng(n)
    whole = rng.normal(size=(64, n, n))
    whole = whole @ whole.transpose(0, 2, 1) + n * np.eye(n)
    rows, columns = np.tril_indices(n)
    packed = whole[:, rows, columns].astype(np.float32)
    return np.tile(packed, (-(-worlds // 64), 1))[:worlds]


def factorisation(worlds: int, n: int, turns: int) -> list[str]:
    """Measure the elimination with both schedules; return lines of a table."""
    a, y = dt.from_numpy(matrices(worlds, n), grad=True), dt.zeros(worlds, grad=True)
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    calls: dict[str, Callable[[], object]] = {}
    for steps in ("grid", "grid, lanes(32)"):
        kernel = elimination(n)
        line = inspect.getsourcelines(kernel.function)[1] + 2
        kernel.schedule("forward", line, steps).schedule("adjoint", line, steps)

        def reverse(kernel: Any = kernel) -> None:
            a.grad.fill(0.0)
            y.grad.fill(1.0)
            kernel.bwds(a, y)

        calls[f"forward, {steps}"] = lambda kernel=kernel: kernel(a, y)
        calls[f"adjoint, {steps}"] = reverse
        kernel(a, y)
        reverse()
        found[steps] = y.to_numpy(), a.grad.to_numpy()
    lines = compared(f"{worlds:,} matrices of {n} rows", *found.values())
    for name, milliseconds in times_of(calls, turns).items():
        lines.append(f"  {name:<28}{milliseconds:>10.3f} ms")
    return lines


# Gaussians in tiles


@dt.func
def corner_of(t, width, height):
    """Return camera, row and column of the first pixel of tile t."""
    across = (width + TILE - 1) // TILE
    down = (height + TILE - 1) // TILE
    return t // (across * down), t // across % down * TILE, t % across * TILE


@dt.func
def offset(centre, i, j):
    """Return the offset of the centre of a pixel from a point [pixels]."""
    return ti.Vector([j + 0.5 - centre.x, i + 0.5 - centre.y])


@dt.func
def sigma_of(d, conic):
    """Return half the square of an offset in standard deviations."""
    return 0.5 * (conic.x * d.x * d.x + conic.z * d.y * d.y) + conic.y * d.x * d.y


@dt.func
def alpha_of(sigma, opacity):
    """Return the part of a pixel that a gaussian covers, or 0 where it is left out."""
    alpha = 0.0
    if 0.0 <= sigma <= MAX_SIGMA:
        alpha = min(MAX_ALPHA, opacity * ti.exp(-sigma))
        if alpha < MIN_ALPHA:
            alpha = 0.0
    return alpha


@dt.kernel
def blend(means, conics, opacities, colours, order, starts, image, light, last):
    """Blend gaussians front to back, a tile in each block: `composite` without its options."""
    for t in range(starts.shape[0] - 1):
        c, top, side = corner_of(t, image.shape[2], image.shape[1])
        left, live, colour = dt.local(PIXELS), dt.local(PIXELS), dt.local(PIXELS, ti.math.vec3)
        end = dt.local(PIXELS, int)
        centre, opacity = dt.local(BATCH, ti.math.vec2), dt.local(BATCH)
        conic, shade = dt.local(BATCH, ti.math.vec3), dt.local(BATCH, ti.math.vec3)
        first, stop = starts[t], starts[t + 1]
        running = 0.0
        for p in dt.lanes(PIXELS):
            left[p] = 1.0
            end[p] = first
            if top + p // TILE < image.shape[1] and side + p % TILE < image.shape[2]:
                live[p] = 1.0
                running += 1.0
        while first < stop and running > 0.0:
            count = min(BATCH, stop - first)
            for q in dt.lanes(count):
                g = order[first + q]
                centre[q] = means[c, g]
                conic[q] = conics[c, g]
                opacity[q] = opacities[c, g]
                shade[q] = colours[c, g]
            running = 0.0
            for p in dt.lanes(PIXELS):
                passes, on, sum_of, ended = left[p], live[p], colour[p], end[p]
                for q in range(count):
                    d = offset(centre[q], top + p // TILE, side + p % TILE)
                    covered = on * alpha_of(sigma_of(d, conic[q]), opacity[q])
                    if covered > 0.0:
                        after = passes * (1.0 - covered)
                        if after <= MIN_LIGHT:
                            on = 0.0
                        else:
                            sum_of += covered * passes * shade[q]
                            passes = after
                            ended = first + q + 1
                left[p] = passes
                live[p] = on
                colour[p] = sum_of
                end[p] = ended
                running += on
            first += BATCH
        for p in dt.lanes(PIXELS):
            i, j = top + p // TILE, side + p % TILE
            if i < image.shape[1] and j < image.shape[2]:
                image[c, i, j] = colour[p]
                light[c, i, j] = left[p]
                last[c, i, j] = end[p]


@blend.backward
@dt.kernel
def _(means, conics, opacities, colours, order, starts, image, light, last):
    for t in range(starts.shape[0] - 1):
        c, top, side = corner_of(t, image.shape[2], image.shape[1])
        left, behind, d_image = dt.local(PIXELS), dt.local(PIXELS), dt.local(PIXELS, ti.math.vec3)
        end = dt.local(PIXELS, int)
        centre, opacity = dt.local(BATCH, ti.math.vec2), dt.local(BATCH)
        conic, shade = dt.local(BATCH, ti.math.vec3), dt.local(BATCH, ti.math.vec3)
        first = starts[t]
        longest = 0.0
        for p in dt.lanes(PIXELS):
            i, j = top + p // TILE, side + p % TILE
            if i < image.shape[1] and j < image.shape[2]:
                left[p] = light[c, i, j]
                behind[p] = light[c, i, j] * light.grad_in[c, i, j]
                d_image[p] = image.grad_in[c, i, j]
                end[p] = last[c, i, j] - first
                longest = max(longest, ti.cast(last[c, i, j] - first, float))
        total = ti.cast(longest, int)
        for back in range((total + BATCH - 1) // BATCH):
            low = max(0, total - (back + 1) * BATCH)
            count = total - back * BATCH - low
            for q in dt.lanes(count):
                g = order[first + low + q]
                centre[q] = means[c, g]
                conic[q] = conics[c, g]
                opacity[q] = opacities[c, g]
                shade[q] = colours[c, g]
            for r in range(count):
                q = count - 1 - r
                touched, d_opacity = 0.0, 0.0
                d_shade, d_conic = ti.Vector([0.0] * 3), ti.Vector([0.0] * 3)
                d_mean = ti.Vector([0.0] * 2)
                for p in dt.lanes(PIXELS):
                    d = offset(centre[q], top + p // TILE, side + p % TILE)
                    sigma = sigma_of(d, conic[q])
                    if low + q < end[p] and 0.0 <= sigma <= MAX_SIGMA:
                        fall = ti.exp(-sigma)
                        covered = min(MAX_ALPHA, opacity[q] * fall)
                        if covered >= MIN_ALPHA:
                            touched += 1.0
                            before = left[p] / (1.0 - covered)
                            left[p] = before
                            weight = covered * before
                            seen = d_image[p].dot(shade[q])
                            d_shade += weight * d_image[p]
                            d_alpha = before * seen - behind[p] / (1.0 - covered)
                            behind[p] += weight * seen
                            if opacity[q] * fall <= MAX_ALPHA:
                                d_opacity += fall * d_alpha
                                d_sigma = -opacity[q] * fall * d_alpha
                                d_conic += d_sigma * ti.Vector(
                                    [0.5 * d.x * d.x, d.x * d.y, 0.5 * d.y * d.y]
                                )
                                d_mean += -d_sigma * ti.Vector(
                                    [
                                        conic[q].x * d.x + conic[q].y * d.y,
                                        conic[q].y * d.x + conic[q].z * d.y,
                                    ]
                                )
                if touched > 0.0:
                    g = order[first + low + q]
                    colours.grad_out[c, g] += d_shade
                    opacities.grad_out[c, g] += d_opacity
                    conics.grad_out[c, g] += d_conic
                    means.grad_out[c, g] += d_mean


by_threads = dt.kernel(dt.render.composite.function)
by_threads.backward(dt.render.composite.rules["backward"].function)
SIDES = {"lanes": blend, "threads": by_threads, "native": dt.render.composite}


class Picture:
    """Gaussians in front of a camera, in the lists of tiles, and images of them.

    Args:
        count: Their number.
        size: The width and height of the image [pixels].
        each: How many tiles a gaussian is in, at most along each axis.
    """

    def __init__(self, count: int, size: int, each: int = 2) -> None:
        rng = np.random.default_rng(count)
        spread = np.exp(rng.uniform(np.log(0.7), np.log(3.0), (count, 2)))
        turn = rng.uniform(0, np.pi, count)
        c, s = np.cos(turn), np.sin(turn)
        a, b = 1 / spread[:, 0] ** 2, 1 / spread[:, 1] ** 2
        means = rng.uniform(0, size, (count, 2))
        conics = np.stack((a * c * c + b * s * s, (a - b) * c * s, a * s * s + b * c * c), -1)
        across = -(-size // TILE)
        tiles = np.clip(np.floor((means - 8.0) / TILE).astype(int), 0, across - 1)
        pairs: list[tuple[np.ndarray, np.ndarray]] = []
        for dx in range(each):
            for dy in range(each):
                x, y = tiles[:, 0] + dx, tiles[:, 1] + dy
                inside = (x < across) & (y < across)
                pairs.append(((y * across + x)[inside], np.flatnonzero(inside)))
        tile, index = (np.concatenate(part) for part in zip(*pairs, strict=True))
        by_tile = np.lexsort((index, tile))
        counts = np.bincount(tile, minlength=across * across)
        values = {
            "means": (means, dt.vec(2)),
            "conics": (conics, dt.vec(3)),
            "opacities": (rng.uniform(0.05, 0.99, count), ti.f32),
            "colours": (rng.uniform(0, 1, (count, 3)), dt.vec(3)),
        }
        self.given = {
            name: dt.from_numpy(array[None].astype(np.float32), of, grad=True)
            for name, (array, of) in values.items()
        }
        self.order = dt.from_numpy(index[by_tile].astype(np.int32))
        self.starts = dt.from_numpy(np.cumsum([0, *counts]).astype(np.int32))
        pixels = 1, size, size
        self.image = dt.zeros(pixels, dt.vec(3), grad=True)
        self.seed = rng.normal(size=(*pixels, 3)).astype(np.float32)
        self.seeds = dt.from_numpy(self.seed, dt.vec(3))
        self.alpha = dt.zeros(pixels, grad=True)
        self.light, self.last = dt.zeros(pixels, grad=True), dt.zeros(pixels, ti.i32)

    def arguments(self, kernel: Any) -> tuple[Any, ...]:
        """Return the arguments of a kernel."""
        given = *self.given.values(), self.order, self.starts
        if kernel is blend:
            return *given, self.image, self.light, self.last
        given = *self.given.values(), None, None, self.order, self.starts, TILE
        return *given, self.image, self.alpha, None, self.light, self.last, None

    def forward(self, kernel: Any) -> None:
        """Draw the image."""
        kernel(*self.arguments(kernel))

    def reverse(self, kernel: Any) -> None:
        """Compute the gradients for random ones of the image."""
        for one in (*self.given.values(), self.alpha, self.light):
            one.grad.fill(0.0)
        self.image.grad.copy_from(self.seeds)
        kernel.bwds(*self.arguments(kernel))

    def results(self, kernel: Any) -> tuple[np.ndarray, ...]:
        """Return the image and the gradients."""
        self.forward(kernel)
        self.reverse(kernel)
        grads = (one.grad.to_numpy() for one in self.given.values())
        return self.image.to_numpy(), self.light.to_numpy(), *grads


def compositing(count: int, size: int, turns: int) -> list[str]:
    """Measure the blending of one picture; return lines of a table."""
    picture = Picture(count, size)
    found = {name: picture.results(kernel) for name, kernel in SIDES.items()}
    lines = compared(f"{count:,} gaussians, {size}^2 pixels", *found.values())
    lines[1:1] = [f"  {picture.order.shape[0]:,} in lists of tiles"]
    calls: dict[str, Callable[[], object]] = {}
    for name, kernel in SIDES.items():
        calls[f"forward, {name}"] = lambda kernel=kernel: picture.forward(kernel)
        calls[f"adjoint, {name}"] = lambda kernel=kernel: picture.reverse(kernel)
    for name, milliseconds in times_of(calls, turns).items():
        lines.append(f"  {name:<28}{milliseconds:>10.3f} ms")
    return lines


# Comparing and measuring


def compared(title: str, *found: Sequence[np.ndarray]) -> list[str]:
    """Return a title, and how far all results are from those of the last side."""
    far = [
        max(
            float(np.linalg.norm(x.astype(float) - y) / max(np.linalg.norm(y), 1e-30))
            for x, y in zip(one, found[-1], strict=True)
        )
        for one in found[:-1]
    ]
    verdict = "" if all(one < APART for one in far) else f": {DIFFERENT}"
    return [f"{title}: apart by {', '.join(f'{one:.1e}' for one in far)}{verdict}"]


def times_of(calls: dict[str, Callable[[], object]], turns: int) -> dict[str, float]:
    """Return the median milliseconds of calls, which take turns."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(turns):
        for name, call in calls.items():
            call()
            ti.sync()
            started = time.perf_counter()
            for _ in range(5):
                call()
            ti.sync()
            taken[name].append(1e3 * (time.perf_counter() - started) / 5)
    return {name: median(every) for name, every in taken.items()}


PARTS: dict[str, Callable[[int, bool], list[str]]] = {
    "factor-4096": lambda turns, quick: factorisation(64 if quick else 4096, 30, turns),
    "factor-65536": lambda turns, quick: factorisation(64 if quick else 65536, 30, turns),
    "factor-wide": lambda turns, quick: factorisation(16 if quick else 4096, 64, turns),
    "blend": lambda turns, quick: compositing(*((60, 40) if quick else (300_000, 1024)), turns),
    "blend-large": lambda turns, quick: compositing(
        *((90, 40) if quick else (2_000_000, 1920)), turns
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 if results differ."""
    parser = Parser("python -m benchmarks.lanes", __doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--turns", type=positive_int, default=7, help="default: 7")
    parser.add_argument("--quick", action="store_true", help="small cases, one turn")
    options = parser.parse_args(argv)
    try:
        dt.init(arch="cuda")
    except dt.FieldError as error:
        parser.error(str(error))
    failed = False
    for name in options.parts or PARTS:
        lines = PARTS[name](1 if options.quick else options.turns, options.quick)
        failed = failed or DIFFERENT in lines[0]
        print(*lines, sep="\n", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
