"""Native kernels for `composite`, run by threads of Python, against the kernels of the language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile
from difftile.render import compositing, native_compositing
from difftile.substrate.family.native import blend
from tests.render.blend_scenes import ALL, IN_LANGUAGE, Blending, Scene
from tests.threads import Elements, Emulator

BLOCKS = 3


def test_thresholds_are_the_same() -> None:
    for name in ("MAX_ALPHA", "MIN_ALPHA", "MIN_LIGHT", "MAX_SIGMA", "MIN_COVER"):
        assert getattr(blend, name) == getattr(compositing, name)


@pytest.fixture(scope="module")
def emulator() -> Emulator:
    folder = Path(difftile.__file__).parent / "substrate" / "family" / "native"
    return Emulator(folder / "blend.py", {}, _BLOCKS=BLOCKS)


def native(emulator: Emulator, one: Blending, expected: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return what the native kernels make of a scene; incoming gradients are those of `run`."""
    scene, f = one.scene, one.fields
    side = next(s for s in native_compositing.SIDES if scene.tile % s == 0)
    options = [name in scene.options for name in ALL]
    found = {name: f[name].to_numpy() * 0 for name in ("image", "alpha", "depth", "light", "last")}
    values = {name: field.to_numpy() for name, field in f.items()} | found
    rng = np.random.default_rng(5)
    for name in ("image", "alpha", "light", *(["depth"] if options[0] else [])):
        values[f"{name}_in_bar"] = rng.normal(size=values[name].shape)
    values.setdefault("depth_in_bar", values["depth"] * 0)
    for name in ("means", "conics", "opacities", "colours", "depths", "background", "absolute"):
        values[f"{name}_out_bar"] = np.full_like(values[name], 0.25)  # the kernel adds

    def run(kernel: Any, arrays: Any, flags: list[bool]) -> None:
        args: list[Any] = []
        for name, (_, ndim) in arrays.items():
            args.append(Elements(values[name], ndim))
            if name == "starts":
                args.append(scene.tile)
        emulator.run(kernel(scene.channels, False), [*args, side, *map(int, flags)], BLOCKS)

    run(emulator.names["_forward"], native_compositing.FORWARD, options[:2])
    run(emulator.names["_adjoint"], native_compositing.ADJOINT, options)
    bars = {
        name: values[name.replace("_bar", "_out_bar")] - 0.25 for name in expected if "_bar" in name
    }
    return {name: values[name] for name in expected if "_bar" not in name} | bars


@pytest.mark.parametrize(
    "scene",
    [
        Scene(
            150, 13, 9, 8, options=ALL, opacities=(0.02, 0.1, 0.2), listed=1.0
        ),  # several batches
        Scene(40, 13, 9, tile=16, cameras=1, channels=4),
        Scene(60, 8, 8, tile=8, cameras=1, odd=True),
    ],
    ids=str,
)
def test_native_kernels_blend_as_the_language(emulator: Emulator, scene: Scene) -> None:
    one = Blending(scene, ti.f64)
    expected = one.run(IN_LANGUAGE)
    found = native(emulator, one, expected)
    for name, array in expected.items():
        scale = np.abs(array).max()
        np.testing.assert_allclose(found[name], array, atol=2e-5 * scale, err_msg=name)
