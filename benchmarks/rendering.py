"""Times of textures, splats, image losses and sorting, compared with plain Taichi, torch and NumPy.

The peers in plain Taichi have hand-written adjoints and get the same lists of splats;
they run in the same process, turn by turn. Times are medians of the turns, and ratios medians of
the ratios of the turns. Images and gradients of both are compared as well. Scenes are random clouds
of Gaussians.

With `--arch cuda` peers are left out, and the scene has `--gaussians` Gaussians (a million) at
`--size` pixels (1024); each stage is timed separately, with the device idle before and after.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from benchmarks import lookups
from benchmarks.meter import CLOCKS, Findings, Meter, Row
from benchmarks.peers.splats_taichi import SplatsPeer, make_blend, make_sum
from difftile.arguments import Parser, positive_int

RATIO = 2.5  # to plain Taichi with an adjoint written by hand, on the CPU
RATES = {("3-D", "cpu"): 3.0, ("2-D", "cpu"): 15.0, ("3-D", "cuda"): 30.0}  # iterations a second
GOOD = 85.0  # iterations a second on a large GPU
APART = 2e-3  # of images and gradients: f32, added up in other orders
TILE = 16
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Options:
    """The options of a measurement.

    Attributes:
        arch: The device.
        quick: Small scenes, few turns.
        gaussians: In space.
        size: Of their images [pixels].
        meter: Measures.
    """

    arch: str
    quick: bool
    gaussians: int
    size: int
    meter: Meter

    @property
    def with_peers(self) -> bool:
        return self.arch == "cpu"


# Clouds of gaussians


def flat_cloud(n: int, size: int, seed: int = 0) -> Arrays:
    """Return gaussians on the image plane, each as wide as their distance or so."""
    rng = np.random.default_rng(seed)
    spacing = size / np.sqrt(n)
    widths = rng.uniform(0.3, 0.9, (n, 2)) * spacing
    return {
        "means": rng.uniform(0, size, (n, 2)),
        "factors": np.stack([widths[:, 0], 0.3 * spacing * rng.normal(size=n), widths[:, 1]], 1),
        "colours": rng.uniform(0, 0.5, (n, 3)),
    }


def cloud(n: int, seed: int = 0) -> Arrays:
    """Return gaussians in a ball, 0.4 times as wide as their distance, as files hold them."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(n, 3))
    means *= rng.uniform(0, 1, (n, 1)) ** (1 / 3) / np.linalg.norm(means, axis=1, keepdims=True)
    distance = (4.19 / n) ** (1 / 3)
    return {
        "means": means,
        "scales": np.log(0.4 * distance) + 0.5 * rng.normal(size=(n, 3)),
        "quaternions": rng.normal(size=(n, 4)),
        "opacities": 2.0 * rng.normal(size=n),
        "sh0": rng.normal(size=(n, 3)),
        "shN": 0.1 * rng.normal(size=(n, 15, 3)),
    }


def camera(size: int) -> dt.render.Cameras:
    """Return one that sees all of the ball."""
    return dt.render.Cameras.look_at((0.0, 0.0, -3.0), (0.0, 0.0, 0.0), size, size, fov=45.0)


@dt.kernel
def weigh(image, weights, loss):
    """Give each number of an image its own gradient."""
    for c, i, j in weights:
        loss[None] += weights[c, i, j].dot(image[c, i, j])


@dt.kernel
def weigh_flat(image, weights, loss):
    for i, j in weights:
        loss[None] += weights[i, j].dot(image[i, j])


def noise(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(9).normal(size=(*shape, 3)).astype(np.float32)


def apart(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the distance of two arrays, relative to the norm of one."""
    return float(np.linalg.norm(ours.astype(np.float64) - theirs) / np.linalg.norm(theirs))


def reversed_in(meter: Meter, forward: Callable[[], object], loss: dt.Field) -> float:
    """Return the seconds that the reverse of a call on a tape takes."""
    loss[None] = 0.0
    with dt.Tape() as tape:
        forward()
    return meter.timed(lambda: tape.backward({loss: 1.0}))


def beside(
    found: Findings,
    title: str,
    meter: Meter,
    forward: Callable[[], object],
    weighed: Callable[[], object],
    loss: dt.Field,
    peer: SplatsPeer | None,
    results: Callable[[], tuple[np.ndarray, Mapping[str, dt.Field]]],
) -> None:
    """Add rows for the two directions, compared with a peer if there is one."""
    calls = [lambda: meter.timed(forward), lambda: reversed_in(meter, weighed, loss)]
    if peer is not None:
        calls += [lambda: meter.timed(peer.forward), lambda: meter.timed(peer.backward)]
    times = meter.in_turn(*calls)
    for k, way in enumerate(("forward", "backward")):
        theirs = times[2 + k] if peer else ()
        found.rows.append(Row(f"{title}: {way}", times[k], theirs, RATIO))
    if peer is not None:
        image, fields = results()
        found.apart[f"{title}, image"] = apart(image, peer.image.to_numpy())
        for name, grad in peer.gradients.items():
            mine = fields[name].grad.to_numpy().reshape(grad.to_numpy().shape)
            found.apart[f"{title}, {name}"] = apart(mine, grad.to_numpy())


# The cases


def sums(options: Options) -> Findings:
    """Splats on the image plane, added up."""
    n, size = (300, 64) if options.quick else (2000, 256)
    given = flat_cloud(n, size)
    kinds = {"means": 2, "factors": 3, "colours": 3}
    fields = {k: dt.from_numpy(v, dt.vec(kinds[k], ti.f32), grad=True) for k, v in given.items()}
    image = dt.zeros((size, size), ti.math.vec3, grad=True)
    seed, loss = noise((size, size)), dt.zeros((), ti.f32, grad=True)
    weights, target = dt.from_numpy(seed, ti.math.vec3), dt.from_numpy(abs(seed), ti.math.vec3)
    peer = make_sum(given, size) if options.with_peers else None
    if peer is not None:
        peer.image_grad.from_numpy(seed)

    def forward() -> None:
        dt.render.sum_splats(*fields.values(), image)

    def weighed() -> None:
        forward()
        weigh_flat(image, weights, loss)

    adam = dt.optim.Adam(fields, lr=1e-6, nonfinite="ignore")

    def iterate() -> None:
        loss[None] = 0.0
        with dt.Tape(loss):
            forward()
            dt.render.l2(image, target, loss)
        adam.step()

    found = Findings()
    title = f"sum of {n:,} splats, {size}^2"
    results = lambda: (image.to_numpy(), fields)  # noqa: E731
    beside(found, title, options.meter, forward, weighed, loss, peer, results)
    (times,) = options.meter.measure(iterate)
    rate = RATES.get(("2-D", options.arch))
    found.rows.append(Row(f"{title}: iteration with Adam", times, rate=rate))
    return found


def alphas(options: Options) -> Findings:
    """Splats on the image plane, blended in the order of their indices."""
    n, size = (300, 64) if options.quick else (2000, 256)
    given = flat_cloud(n, size)
    kinds = {"means": 2, "factors": 3, "colours": 3}
    fields = {k: dt.from_numpy(v, dt.vec(kinds[k], ti.f32), grad=True) for k, v in given.items()}
    opacities = dt.full(n, 0.7, ti.f32, grad=True)
    render = dt.render.AlphaSplats(size, size)
    target, loss = dt.from_numpy(abs(noise((size, size))), ti.math.vec3), dt.zeros((), grad=True)

    def forward() -> None:
        render(fields["means"], fields["factors"], opacities, fields["colours"])

    def iterate() -> None:
        loss[None] = 0.0
        with dt.Tape(loss):
            forward()
            dt.render.l2(render.image, target, loss)

    ahead, both = options.meter.measure(forward, iterate)
    title = f"{n:,} splats blended, {size}^2"
    return Findings([Row(f"{title}: forward", ahead), Row(f"{title}: with gradient", both)])


class Stages:
    """The stages of a `Splatter` one by one, over fields of their own."""

    def __init__(self, given: Arrays, size: int, arch: str) -> None:
        self.size, self.arch = size, arch
        self.rows = dt.render.make_gaussians(given, dtype=ti.f32)
        n = len(given["means"])
        view = camera(size)
        pose = view.world_to_camera()
        self.pose = (
            dt.from_numpy(pose[:, None, :3, :3], dt.mat(3, 3, ti.f32)),
            dt.from_numpy(pose[:, None, :3, 3], dt.vec(3, ti.f32)),
            dt.from_numpy(view.intrinsics.to_numpy()[:, None], dt.vec(4, ti.f32)),
        )
        self.place = dt.from_numpy(np.array([[[0.0, 0.0, -3.0]]]), dt.vec(3, ti.f32))
        self.flat = {
            "means": dt.zeros((1, n), dt.vec(2, ti.f32), grad=True),
            "conics": dt.zeros((1, n), dt.vec(3, ti.f32), grad=True),
            "opacities": dt.zeros((1, n), ti.f32, grad=True),
            "colours": dt.zeros((1, n), dt.vec(3, ti.f32), grad=True),
        }
        self.depths = dt.zeros((1, n), ti.f32, grad=True)
        self.radii = dt.zeros((1, n), dt.vec(2, ti.i32))
        self.lists = dt.render.TileLists(size, size, TILE)
        pixels = (1, size, size)
        self.image = dt.zeros(pixels, dt.vec(3, ti.f32), grad=True)
        self.alpha, self.light = (dt.zeros(pixels, ti.f32, grad=True) for _ in range(2))
        self.last = dt.zeros(pixels, ti.i32)
        self.weights = dt.from_numpy(noise(pixels), dt.vec(3, ti.f32))
        self.loss = dt.zeros((), ti.f32, grad=True)

    @property
    def _seen(self) -> tuple[Any, ...]:
        rows = self.rows
        return (
            *(rows.means, rows.scales, rows.quaternions, rows.opacities, *self.pose),
            *(self.size, self.size),
        )

    def project(self) -> None:
        kind = (0.3, False, True)
        dt.render.cull(*self._seen, 0.01, 1e10, *kind, self.radii)
        means, conics, opacities, _ = self.flat.values()
        dt.render.project(
            *self._seen, *kind, self.radii, None, means, conics, opacities, self.depths
        )

    def shade(self) -> None:
        rows = self.rows
        colours = self.flat["colours"]
        dt.render.shade(3, rows.means, rows.sh0, rows.shN, self.place, self.radii, colours)

    def tiles(self) -> None:
        means, conics, opacities, _ = self.flat.values()
        self.lists.build(means, self.radii, self.depths, conics, opacities)

    def composite(self) -> None:
        dt.render.composite(
            *self.flat.values(),
            None,
            None,
            self.lists.order,
            self.lists.starts,
            TILE,
            self.image,
            self.alpha,
            None,
            self.light,
            self.last,
            None,
            self.arch != "cpu",
        )

    def weighed(self) -> None:
        self.composite()
        weigh(self.image, self.weights, self.loss)

    def adjoint(self, meter: Meter, stage: Callable[[], None], seeded: Sequence[dt.Field]) -> float:
        """Return the seconds of the adjoint of a stage."""
        with dt.Tape() as tape:
            stage()
        return meter.timed(lambda: tape.backward({one: 1.0 for one in seeded}))


def splats(options: Options) -> Findings:
    """Gaussians in space."""
    given = cloud(options.gaussians)
    title = f"{options.gaussians:,} gaussians, {options.size}^2"
    found = Findings()
    measure_stages(found, title, given, options)
    measure_whole(found, title, given, options)
    return found


def measure_stages(found: Findings, title: str, given: Arrays, options: Options) -> None:
    """Add the rows of stages, one by one, and of `composite` compared with its peer."""
    size, meter = options.size, options.meter
    stages = Stages(given, size, options.arch)
    for stage in (stages.project, stages.shade, stages.tiles, stages.composite):
        stage()
    peer = None
    if options.with_peers:
        flat = {name: one.to_numpy()[0] for name, one in stages.flat.items()}
        lists = stages.lists.order.to_numpy()[: stages.lists.total], stages.lists.starts.to_numpy()
        peer = make_blend(flat, lists, size, TILE)
        peer.image_grad.from_numpy(stages.weights.to_numpy()[0])
    results = lambda: (stages.image.to_numpy()[0], stages.flat)  # noqa: E731
    at = (stages.composite, stages.weighed, stages.loss)
    beside(found, f"{title}, composite", meter, *at, peer, results)

    pixels, flat = (stages.image,), tuple(stages.flat.values())
    calls = {
        "project": lambda: meter.timed(stages.project),
        "harmonics": lambda: meter.timed(stages.shade),
        f"lists ({stages.lists.total:,} entries)": lambda: meter.timed(stages.tiles),
        "adjoint of composite": lambda: stages.adjoint(meter, stages.composite, pixels),
        "adjoint of harmonics": lambda: stages.adjoint(meter, stages.shade, flat[3:]),
        "adjoint of project": lambda: stages.adjoint(
            meter, stages.project, (*flat[:3], stages.depths)
        ),
    }
    for name, times in zip(calls, meter.in_turn(*calls.values()), strict=True):
        found.rows.append(Row(f"  {name}", times))


def measure_whole(found: Findings, title: str, given: Arrays, options: Options) -> None:
    """Add the rows of a `Splatter`."""
    size = options.size
    rows, view = dt.render.make_gaussians(given, dtype=ti.f32), camera(size)
    splatter = dt.render.Splatter(size, size, depth=False)
    out = splatter(rows, view)
    target = dt.from_numpy(abs(noise((1, size, size))), dt.vec(3, ti.f32))
    loss = dt.zeros((), ti.f32, grad=True)

    def iterate() -> None:
        loss[None] = 0.0
        with dt.Tape(loss):
            splatter(rows, view, out)
            dt.render.l1(out.image, target, loss)

    times = options.meter.measure(lambda: splatter(rows, view, out), iterate)
    rate = RATES.get(("3-D", options.arch))
    good = GOOD if options.arch == "cuda" else None
    found.rows.append(Row(f"{title}: forward", times[0]))
    found.rows.append(Row(f"{title}: forward and backward", times[1], rate=rate, good=good))


def losses(options: Options) -> Findings:
    """Losses between images, with their gradients."""
    size = 128 if options.quick else 512
    rng = np.random.default_rng(0)
    image, target = (
        dt.from_numpy(rng.random((size, size, 3), np.float32), ti.math.vec3, grad=grad)
        for grad in (True, False)
    )
    loss = dt.zeros((), ti.f32, grad=True)
    found = Findings()

    def iterate(add: Callable[..., None]) -> None:
        loss[None] = 0.0
        with dt.Tape(loss):
            add(image, target, loss)

    calls = {
        "L1 with gradient": partial(iterate, dt.render.l1),
        "SSIM": lambda: dt.render.dssim(image, target, loss),
        "SSIM with gradient": partial(iterate, dt.render.dssim),
    }
    for name, times in zip(calls, options.meter.measure(*calls.values()), strict=True):
        found.rows.append(Row(f"{name}, {size}^2", times))
    return found


def textures(options: Options) -> Findings:
    """Lookups in textures."""
    n, size = (1 << 12, 64) if options.quick else (1 << 20, 512)
    return lookups.measure(options.meter, n, size, options.with_peers)


def sorts(options: Options) -> Findings:
    """Pairs of a key of 32 bits and a value, and lists of tiles."""
    found = Findings()
    for n in (10_000, 100_000) if options.quick else (1_000_000, 10_000_000):
        keys = np.random.default_rng(0).integers(0, 2**32, n, dtype=np.uint32)
        values = np.arange(n, dtype=np.int32)
        sorter = dt.render.Sorter(n)

        def ours(sorter: Any = sorter, keys: np.ndarray = keys, values: Any = values) -> float:
            sorter.keys.from_numpy(keys)
            sorter.values.from_numpy(values)
            return options.meter.timed(lambda: sorter.sort(len(keys)))

        def numpy(keys: np.ndarray = keys) -> float:
            return options.meter.timed(lambda: np.argsort(keys, kind="stable"))

        times = options.meter.in_turn(ours, numpy)
        found.rows.append(Row(f"sort of {n:,} pairs (NumPy)", *times))
        order = np.argsort(keys, kind="stable")
        found.apart[f"order of {n:,}"] = apart(sorter.values.to_numpy(), order)
    return found


CASES: dict[str, Callable[[Options], Findings]] = {
    "textures": textures,
    "sums": sums,
    "alphas": alphas,
    "splats": splats,
    "losses": losses,
    "sorts": sorts,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 if an image or gradient is wrong, whatever the figures are."""
    parser = Parser("python -m benchmarks.rendering", __doc__)
    parser.add_argument("--only", choices=tuple(CASES), help="one of the cases")
    parser.add_argument("--arch", choices=("cpu", "cuda"), default="cpu", help="default: cpu")
    parser.add_argument("--quick", action="store_true", help="small scenes, few turns")
    parser.add_argument("--gaussians", type=positive_int, help="of the case 'splats'")
    parser.add_argument("--size", type=positive_int, help="of its image [pixels]")
    parser.add_argument("--turns", type=positive_int, help="default: 5, and 2 with --quick")
    parser.add_argument(
        "--clock", choices=tuple(CLOCKS), default="wall", help="cpu: for a busy machine"
    )
    given = parser.parse_args(argv)
    usual = (1_000_000, 1024) if given.arch == "cuda" else (10_000, 256)
    if given.quick:
        usual = (1000, 64)
    options = Options(
        given.arch,
        given.quick,
        given.gaussians or usual[0],
        given.size or usual[1],
        Meter(given.turns or (2 if given.quick else 5), CLOCKS[given.clock]),
    )
    dt.init(arch=given.arch)
    right = True
    print(f"{'':48}{'[ms]':>11}{'[1/s]':>9}{'peer [ms]':>11}{'ratio':>8}   target")
    for name in [given.only] if given.only else CASES:
        found = CASES[name](options)
        print(*found.rows, sep="\n")
        if found.apart:
            worst = max(found.apart, key=lambda key: found.apart[key])
            print(f"  apart from the peer by {found.apart[worst]:.0e} at most ({worst})")
            right &= found.apart[worst] < APART
        print(flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
