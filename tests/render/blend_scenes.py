"""Gaussians on image planes for `composite`, and what it and its rule make of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from difftile.render.compositing import composite, composite_plain
from difftile.runtime.kernel import Kernel

GIVEN = ("means", "conics", "opacities", "colours", "depths", "background")

IN_LANGUAGE = Kernel(composite_plain.function)
"""`composite` and its rule, without native kernels."""

IN_LANGUAGE.backward(composite.rules["backward"].function)


@dataclass(frozen=True)
class Scene:
    """Gaussians of all sizes in front of some cameras, each in the lists of random tiles.

    Args:
        count: How many there are.
        width: Of the images [pixels].
        height: Of the images [pixels].
        tile: The side of a tile [pixels].
        channels: Of a colour.
        cameras: Their number.
        options: The arguments that are given and may be None: depths, background, absolute.
        opacities: Are drawn from these.
        listed: The part of the tiles in whose lists a gaussian is.
        odd: Gaussians with numbers that are not finite, or conics that are no conics.
    """

    count: int = 200
    width: int = 45
    height: int = 37
    tile: int = 16
    channels: int = 3
    cameras: int = 2
    options: tuple[str, ...] = ()
    opacities: tuple[float, ...] = (0.003, 0.02, 0.4, 0.9, 1.0)
    listed: float = 0.7
    odd: bool = False

    def values(self) -> dict[str, Any]:
        """Return the arrays, lists included."""
        rng = np.random.default_rng(self.count)
        shape = self.cameras, self.count
        spread = np.exp(rng.uniform(np.log(0.3), np.log(12.0), (*shape, 2)))
        turn = rng.uniform(0, np.pi, shape)
        c, s = np.cos(turn), np.sin(turn)
        a, b = 1 / spread[..., 0] ** 2, 1 / spread[..., 1] ** 2
        low, high = (-6, -6), (self.width + 6, self.height + 6)
        found = {
            "means": rng.uniform(low, high, (*shape, 2)),
            "conics": np.stack((a * c * c + b * s * s, (a - b) * c * s, a * s * s + b * c * c), -1),
            "opacities": rng.choice(self.opacities, shape),
            "colours": rng.uniform(-0.5, 1.0, (*shape, self.channels)),
            "depths": rng.uniform(1.0, 4.0, shape),
            "background": rng.uniform(0, 1, self.channels),
        }
        if self.odd:
            numbers = np.array([np.nan, np.inf, -np.inf, -0.2, 0.0, 1e30])
            for name in ("means", "conics"):
                rows = found[name].reshape(-1)
                places = rng.choice(rows.size, rows.size // 20, replace=False)
                rows[places] = rng.choice(numbers, places.size)
            found["conics"][:, ::9] = 0.0
            found["opacities"][:, ::9] = 1.0
        tiles = self.cameras * -(-self.width // self.tile) * -(-self.height // self.tile)
        lists = [np.flatnonzero(rng.random(self.count) < self.listed) for _ in range(tiles)]
        lists[-1] = lists[-1][:0]
        if tiles > 2:
            lists[1] = lists[1][:1]
        found["order"] = np.concatenate([*lists, [0]]).astype(np.int32)  # lists may be shorter
        found["starts"] = np.cumsum([0, *map(len, lists)]).astype(np.int32)
        return found


@dataclass
class Blending:
    """The fields of a scene, and launches on them."""

    scene: Scene
    dtype: Any = ti.f32
    fields: dict[str, dt.Field] = field(default_factory=dict[str, dt.Field])

    def __post_init__(self) -> None:
        one, values = self.scene, self.scene.values()
        lengths = {"means": 2, "conics": 3, "colours": one.channels, "background": one.channels}
        for name, array in values.items():
            if name in ("order", "starts"):
                self.fields[name] = dt.from_numpy(array)
            else:
                of = dt.vec(lengths[name], self.dtype) if name in lengths else self.dtype
                self.fields[name] = dt.from_numpy(array, of, grad=True)
        pixels = one.cameras, one.height, one.width
        self.fields["image"] = dt.zeros(pixels, dt.vec(one.channels, self.dtype), grad=True)
        for name in ("alpha", "depth", "light"):
            self.fields[name] = dt.zeros(pixels, self.dtype, grad=True)
        self.fields["last"] = dt.zeros(pixels, ti.i32)
        shape = one.cameras, one.count
        self.fields["absolute"] = dt.zeros(shape, dt.vec(2, self.dtype), grad=True)

    def run(self, kernel: Any) -> dict[str, np.ndarray]:
        """Launch a kernel on a tape and reverse it; return all images and gradients."""
        f, options = self.fields, self.scene.options
        outputs = ["image", "alpha", "light", *(["depth"] if "depths" in options else [])]
        with dt.Tape() as tape:
            kernel(
                f["means"],
                f["conics"],
                f["opacities"],
                f["colours"],
                f["depths"] if "depths" in options else None,
                f["background"] if "background" in options else None,
                f["order"],
                f["starts"],
                self.scene.tile,
                f["image"],
                f["alpha"],
                f["depth"] if "depths" in options else None,
                f["light"],
                f["last"],
                f["absolute"] if "absolute" in options else None,
            )
        rng = np.random.default_rng(5)
        tape.backward({f[name]: rng.normal(size=f[name].to_numpy().shape) for name in outputs})
        found = {name: f[name].to_numpy() for name in (*outputs, "last")}
        bars = {*GIVEN[:4], *options}
        return found | {f"{name}_bar": f[name].grad.to_numpy() for name in sorted(bars)}


ALL = ("depths", "background", "absolute")

SCENES = [
    Scene(),
    Scene(options=ALL),
    Scene(options=ALL, tile=8, channels=1),
    Scene(options=("background",), tile=32, channels=4, width=70, height=33),
    Scene(options=("depths",), tile=48, channels=8),
    Scene(options=ALL, tile=16, channels=8, cameras=3),
    Scene(count=1, cameras=1, options=ALL),
    Scene(count=1, cameras=1, tile=8, listed=0.0),
    Scene(count=30_000, width=20, height=20, opacities=(0.004, 0.005), options=ALL),
    Scene(odd=True, options=("absolute",)),
    Scene(odd=True, tile=8),
    Scene(tile=5, options=ALL),
    Scene(channels=9, options=ALL),
]


def check(scene: Scene) -> None:
    """Compare the native kernels with those of the language.

    Few pixels may differ by a gaussian at a threshold: rounding decides whether it is left out.
    """
    one = Blending(scene)
    expected, found = one.run(IN_LANGUAGE), one.run(composite)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        if not scene.odd:
            assert np.isfinite(found[name]).all(), name
        if name == "last":
            assert (found[name] != array).mean() <= 1e-3
            continue
        usual = np.isfinite(array)
        assert (usual == np.isfinite(found[name])).all(), name
        apart, scale = np.abs(found[name] - array)[usual], np.abs(array[usual]).max(initial=1.0)
        if name.endswith("_bar"):
            assert np.linalg.norm(apart) <= 2e-3 * np.linalg.norm(array[usual]), name
        else:
            assert (apart > 1e-5 * scale).mean() <= 1e-3 and apart.max(initial=0) < 1e-2, name


def check_other_ways() -> None:
    """Forward mode and double precision are those of the language."""
    scene = replace(Scene(), count=20)
    one = Blending(scene, ti.f64)
    expected = one.run(IN_LANGUAGE)
    for name, array in one.run(composite).items():
        np.testing.assert_allclose(array, expected[name], rtol=1e-9, atol=1e-12, err_msg=name)
