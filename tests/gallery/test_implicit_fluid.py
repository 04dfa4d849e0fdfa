"""The box of air against NumPy, and its demo."""

from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from demos import implicit_fluid
from demos.implicit_fluid import divergence, main, measure, stir
from demos.support.training import slope
from scenes.implicit_fluid import Fluid, make_box
from tests.gallery import reference_implicit_fluid as reference


@pytest.mark.parametrize(("n", "steps"), [(12, 3), pytest.param(40, 36, marks=pytest.mark.slow)])
def test_loss_and_gradient_agree_with_numpy(n: int, steps: int) -> None:
    box = make_box(n, steps)
    fluid = Fluid(box, tolerance=1e-13)
    stir(fluid, 3)
    u, v = fluid.u0.to_numpy(), fluid.v0.to_numpy()
    project = reference.Projection(*box.open_sides, box.softness)
    with dt.Tape(fluid.loss):
        fluid.run()
    assert fluid.loss[None] == pytest.approx(reference.loss(box, project, u, v), rel=1e-10)
    assert divergence(fluid) < 1e-4  # tolerance for soft edges

    gradients = fluid.u0.grad.to_numpy(), fluid.v0.grad.to_numpy()
    scale = max(np.abs(gradient).max() for gradient in gradients)
    for which, index in [
        (0, (n // 2, 1)),
        (0, (n // 4, n // 2)),
        (1, (1, n // 2)),
        (1, (n - 2, 3)),
    ]:
        directions = [np.zeros_like(u), np.zeros_like(v)]
        directions[which][index] = 1.0
        found = gradients[which][index]

        def moved(step: complex, along: list[np.ndarray] = directions) -> complex:
            return reference.loss(box, project, u + step * along[0], v + step * along[1])

        assert found == pytest.approx(moved(1e-30j).imag / 1e-30, rel=1e-8, abs=1e-9 * scale)
        if n < 20:  # longer runs meet kinks of the interpolation within any step
            assert found == pytest.approx(slope(moved, 1e-5), rel=1e-6)


def test_nothing_flows_through_walls_and_smoke_stays_where_there_is_no_wind() -> None:
    box = make_box(12, 2)
    fluid = Fluid(box)
    fluid.run()
    np.testing.assert_array_equal(fluid.smoke.to_numpy(), box.smoke)
    stir(fluid, 1)
    fluid.run()
    u, v = fluid.u.to_numpy(), fluid.v.to_numpy()
    assert not u[0].any() and not u[-1].any() and not v[:, 0].any() and not v[:, -1].any()
    x, y = np.nonzero(box.solid)
    assert len(x) and not u[x, y].any() and not u[x + 1, y].any()
    assert not v[x, y].any() and not v[x, y + 1].any()


def test_jacobi_comes_to_the_same_gradient_in_the_end() -> None:
    box, found = make_box(8, 2), []
    for relaxations in (None, 20, 500):
        fluid = Fluid(box, relaxations, tolerance=1e-12)
        stir(fluid, 2)
        found.append(measure(fluid))
    implicit, few, many = found
    assert few.apart(implicit) > 1e-2
    assert many.apart(implicit) < 1e-7


def test_demo_gets_smoke_behind_the_wall_and_writes_its_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(implicit_fluid, "JACOBI", (5, 20))
    assert main(["--size", "12", "--steps", "6", "--iterations", "4", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "of the smoke reaches the circle" in printed
    assert "conjugate gradients" in printed and "20 of Jacobi" in printed
    assert {path.name for path in tmp_path.iterdir()} == {
        "before_after.png",
        "gradients.png",
        "loss.png",
        "smoke.gif",
    }


def test_demo_checks_its_gradient() -> None:
    assert main(["--check", "--size", "12", "--steps", "3"]) == 0
