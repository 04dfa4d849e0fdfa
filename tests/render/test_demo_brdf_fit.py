"""The model of a surface against NumPy, and the demo that fits it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import taichi as ti

from demos.brdf_fit import main
from scenes.brdf import BrdfFit, make_scene


def test_model_agrees_with_numpy() -> None:
    scene = make_scene(500, noise=0.0)
    fitted = BrdfFit(scene, ti.f64)
    fitted.run()
    assert fitted.loss[None] > 0.1
    fitted.put(scene.material)
    fitted.run()
    assert fitted.loss[None] < 1e-28


def test_demo_finds_the_material_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--out", str(tmp_path)]) == 0
    found = re.findall(r"^(\w+) +is (\S+) off$", capsys.readouterr().out, re.MULTILINE)
    assert [name for name, _ in found] == ["diffuse", "roughness", "f0"]
    assert all(float(off) < 1e-3 for _, off in found)
    assert {path.name for path in tmp_path.iterdir()} == {"strip.png", "curve.png", "ball.gif"}


def test_demo_checks_its_gradient() -> None:
    assert main(["--check"]) == 0
