"""The demos of particles that look for neighbours."""

from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from demos import dam_break, lennard_jones
from demos.lennard_jones import error_of_mean
from scenes.dam_break import Dam, DamScene
from scenes.lennard_jones import Fluid, FluidScene

SMALL = FluidScene(side=4, cutoff=1.3, skin=0.2)


def test_demos_check_their_gradients() -> None:
    assert dam_break.main(["--check", "--steps", "4"]) == 0
    assert lennard_jones.check(Fluid(SMALL)) == 0


@pytest.mark.slow  # 20 s
def test_demos_write_their_pictures(tmp_path: Path) -> None:
    few = ["--iterations", "2", "--steps", "60", "--out", str(tmp_path / "dam")]
    assert dam_break.main(few) == 0
    assert lennard_jones.main(["--steps", "100", "--out", str(tmp_path / "fluid")]) == 0
    names = {path.name for path in tmp_path.rglob("*.*")}
    assert names == {"before_after.png", "loss.png", "dam.gif", "fluid.png"}


@pytest.mark.slow  # 2 minutes
def test_the_fluid_has_the_published_energy_and_pressure() -> None:
    scene, samples = FluidScene(), []
    fluid = Fluid(scene)
    for t in range(6600):
        fluid.step()
        if t >= 600 and t % 10 == 0:
            samples.append(fluid.state())
    found = np.array(samples)
    off = np.abs(found.mean(axis=0) - (scene.energy, scene.pressure))
    assert (off < 4 * error_of_mean(found)).all()
    assert off[0] < 0.02
    assert off[1] < 0.1


def test_the_front_of_the_water_is_slower_than_that_of_shallow_water() -> None:
    """At most 2 (g h)^(1/2) (Ritter, 1892), and the water keeps its mass in the tank."""
    scene = DamScene(width=0.1, height=0.2, tank=0.4)
    dam = Dam(scene, 0)
    dam.start()
    for _ in range(300):
        dam.step()
    front = dam.x.to_numpy()[:, 0].max() - scene.width
    assert 0.02 < front < 2 * np.sqrt(scene.gravity * scene.height) * 300 * dam.h
    assert abs(dam.rho.to_numpy().max() / scene.density - 1) < 0.1
    assert dam.x.to_numpy().min() > -scene.spacing


def test_momentum_is_kept_by_pairs() -> None:
    fluid = Fluid(SMALL)
    for _ in range(3):
        fluid.step()
    fluid.differentiate()
    assert np.abs(fluid.x.grad.to_numpy().sum(axis=0)).max() < 1e-9
    assert isinstance(fluid.energy, dt.Field)
