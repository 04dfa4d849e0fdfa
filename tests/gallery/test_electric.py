"""The charge that follows way-points, against NumPy."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos.electric import main
from demos.support.training import slope
from scenes.electric import Electric, ElectricScene, make_network, make_ways
from tests.gallery.reference_electric import simulate

SCENE = ElectricScene(segment=20)
NETWORK = make_network(SCENE, 3)
STEP = 1e-30


def electric(steps: int, original: bool, scene: ElectricScene = SCENE) -> Electric:
    return Electric(scene, NETWORK, make_ways(scene, 3, steps), steps, original, ti.f64)


def differences(electric: Electric, stale, eps: float = 1e-4) -> dict[tuple[str, int], float]:
    """Return the derivatives for some weights, by central differences of fourth order."""
    weights = NETWORK.arrays()

    def loss(name: str, entry: int, by: float) -> float:
        moved = weights[name].copy()
        moved.flat[entry] += by
        found = weights | {name: moved}
        ways = electric.ways.to_numpy()
        return simulate(electric.scene, found, ways, electric.steps, stale)[0].real

    found = {}
    for name, values in weights.items():
        for entry in {0, values.size // 2, values.size - 1}:
            found[name, entry] = slope(partial(loss, name, entry), eps)
    return found


def compare(electric: Electric, stale=None) -> tuple[np.ndarray, np.ndarray]:
    """Compare one run, its loss and its gradient; return positions and velocities of all steps."""
    with dt.Tape(electric.loss):
        electric.run()
    weights, ways = NETWORK.arrays(), electric.ways.to_numpy()
    loss, xs, vs = simulate(electric.scene, weights, ways, electric.steps, stale)
    assert electric.loss[None] == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(electric.x.to_numpy()[-1], xs[-1].real, rtol=1e-12)
    gradient = {name: field.grad.to_numpy() for name, field in electric.parameters.items()}
    for (name, entry), wanted in differences(electric, stale).items():
        assert gradient[name].flat[entry] == pytest.approx(wanted, rel=1e-6), (name, entry)
    rng = np.random.default_rng(1)
    along = {name: rng.standard_normal(value.shape) for name, value in weights.items()}
    moved = {name: value + 1j * STEP * along[name] for name, value in weights.items()}
    wanted = simulate(electric.scene, moved, ways, electric.steps, stale)[0].imag / STEP
    assert sum((gradient[n] * along[n]).sum() for n in along) == pytest.approx(wanted, rel=1e-10)
    return xs, vs


def test_charge_that_is_seen() -> None:
    compare(electric(50, original=False))


def test_stale_charge_is_what_the_run_before_has_left() -> None:
    one = electric(50, original=True)
    nothing = np.zeros((50, 3, 2))
    compare(one, compare(one, (nothing, nothing)))


@pytest.mark.slow
def test_full_horizon() -> None:
    compare(electric(512, original=False, scene=ElectricScene()))


def test_demo_draws_and_checks_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = ["--steps", "24", "--iterations", "1", "--ways", "2", "--out", str(tmp_path)]
    assert main(short) == 0
    assert "unseen paths" in capsys.readouterr().out
    names = ["before_after.png", "chase.gif", "loss.png"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert main(["--check", "--steps", "24"]) == 0
    with pytest.raises(SystemExit):
        main(["--check", "--original"])
    assert "a run depends on the one before it" in capsys.readouterr().err
