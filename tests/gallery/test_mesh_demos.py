"""The demos that fit a mesh to pictures, and that throw a soft body onto one."""

from __future__ import annotations

from pathlib import Path

import pytest

import difftile as dt
from demos import fit_mesh, soft_drop
from difftile import ti
from scenes.mesh_views import Descent, MeshScene, MeshViews
from scenes.soft_drop import DropScene, SoftDrop


def miss_of(edges: bool, iterations: int) -> tuple[float, float]:
    """Return how far the vertices are from the true surface before and after a fit."""
    views = MeshViews(MeshScene(), edges=edges)
    descent, first = Descent(views, iterations), views.miss()
    for _ in range(iterations):
        with dt.Tape(views.loss):
            views.run()
        descent.step()
    return first, views.miss()


def test_a_mesh_is_found_with_outlines_and_not_without() -> None:
    dt.init(arch="cpu")
    first, found = miss_of(True, 120)
    _, without = miss_of(False, 120)
    assert found < 0.2 * first
    assert without > 0.45 * first


def test_the_gradient_of_a_mesh_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert fit_mesh.main(["--check"]) == 0
    assert "by differences" in capsys.readouterr().out


def test_fit_mesh_writes_its_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit_mesh.main(["--iterations", "2", "--out", str(tmp_path)]) == 0
    assert "with outlines: loss" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loss.png", "views.png"]


def test_a_throw_misses_by_less_after_some_gradients() -> None:
    dt.init(arch="cpu")
    drop = SoftDrop(DropScene(), 300, ti.f32)
    adam, losses = dt.optim.Adam(drop.parameters, 0.2), []
    for _ in range(8):
        with dt.Tape(drop.loss):
            drop.run()
        losses.append(float(drop.loss[None]))
        adam.step()
    assert losses[-1] < 0.5 * losses[0]


def test_soft_drop_checks_its_gradient_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert soft_drop.main(["--check"]) == 0
    assert soft_drop.main(["--iterations", "1", "--steps", "60", "--out", str(tmp_path)]) == 0
    assert "misses the goal by" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loss.png", "throws.png"]
