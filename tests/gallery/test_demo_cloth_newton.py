"""The demo of the cloth by Newton's method, headless and small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy.sparse", reason="SciPy is not installed")

from demos.cloth_newton import main
from demos.support.convergence import orders
from scenes.cloth import SOLVED, ClothScene, SoftCloth, find_hinges, make_cloth


def test_demo_prints_its_figures_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "pictures"
    assert main(["--masses", "6", "--steps", "3", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "36 vertices, 3 steps of 10 ms" in printed and "s in Hessians" in printed
    assert "the order of convergence at the end of a step is" in printed
    assert "as it should" in printed
    written = sorted(path.name for path in out.iterdir())
    assert written == ["cloth.gif", "convergence.png", "strip.png"]


def test_demo_checks_its_hessian(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", "--masses", "6"]) == 0
    assert "curvature by the Hessian" in capsys.readouterr().out


def test_mistake_in_an_argument_is_one_line_and_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--masses", "2"])
    assert ended.value.code == 2
    assert "argument --masses: this cloth has 3 or more in a row" in capsys.readouterr().err


def test_a_step_is_the_minimum_of_its_energy() -> None:
    cloth = SoftCloth(ClothScene(make_cloth(6, 6, height=0.31), 0.01))
    fixed = cloth.x.to_numpy()[[0, 5]]
    for _ in range(3):
        cloth.step()
    (*_, last) = cloth.effort.forces
    assert last[-1] < SOLVED
    np.testing.assert_array_equal(cloth.x.to_numpy()[[0, 5]], fixed)
    least = cloth.measure(found := cloth.x.to_numpy())
    rng = np.random.default_rng(0)
    for _ in range(5):
        away = 1e-4 * rng.standard_normal(found.shape)
        away[[0, 5]] = 0.0
        assert cloth.measure(found + away) > least


def test_hinges_are_the_inner_edges_seen_from_their_triangles() -> None:
    cloth = make_cloth(4, 5)
    hinges = find_hinges(cloth.triangles)
    assert len(hinges) == 3 * 4 + (3 - 1) * 4 + 3 * (4 - 1)  # diagonals, rows, columns
    triangles = {tuple(np.roll(t, k)) for t in cloth.triangles for k in range(3)}
    for a, b, c, d in hinges:
        assert (a, b, c) in triangles and (b, a, d) in triangles


def test_orders_of_known_sequences() -> None:
    assert orders([1e-1, 1e-2, 1e-4, 1e-8, 1e-15])[-1] == pytest.approx(2.0)
    np.testing.assert_allclose(orders([1.0, 0.1, 0.01]), [1.0])
