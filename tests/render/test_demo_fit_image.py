"""A photograph is painted with gaussians, as well and as fast as others do it."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from demos.fit_image import GOALS, SHOWN, UNPAINTED, VIEW, Painter, main, schedules, view
from demos.support.brush import Brush
from demos.support.fits import psnr
from demos.support.photographs import read_photograph
from difftile.viewer import KeyDown, MouseDown, MouseMove, MouseUp
from difftile.viewer.controls import Checkbox, Choice, Slider
from difftile.viewer.screen import PlaneBox
from scenes.painting import Painting


def paint(
    name: str, size: int, n: int, steps: Sequence[int], total: int, model: str = "sum"
) -> list[float]:
    """Return the PSNR after these numbers of steps of a fit [dB]."""
    photograph = read_photograph(name, size)
    painting = Painting(photograph, n, model, np.random.default_rng(0))
    painter, found = Painter(painting, schedules(painting, total)), []
    for more in np.diff(steps, prepend=0):
        for _ in range(more):
            with dt.Tape(painting.loss):
                painting.run()
            painter.step()
        painting.run()
        found.append(psnr(painting.image.to_numpy(), photograph))
    return found


def test_sums_of_gaussians_paint_chelsea_as_well_as_others() -> None:
    (reached,) = paint("chelsea", 128, 500, [200], 1000)
    assert reached > GOALS["chelsea", 128, 500][200] + 1.0


@pytest.mark.slow  # one minute
@pytest.mark.parametrize(("case", "goals"), GOALS.items())
def test_sums_of_gaussians_reach_their_goals(
    case: tuple[str, int, int], goals: dict[int, float]
) -> None:
    reached = paint(*case, [*goals], 1000)
    assert all(np.array(reached) > list(goals.values())), reached


def test_gaussians_on_each_other_paint_too() -> None:
    (reached,) = paint("chelsea", 48, 150, [60], 200, "alpha")
    assert reached > 26.0


def test_demo_paints_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ["chelsea", "--size", "32", "--gaussians", "60", "--iterations", "25"]
    assert main([*short, "--out", str(tmp_path)]) == 0
    assert "60 Gaussians show the photograph" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"strip.png", "curve.png", "fit.gif"}


@pytest.mark.parametrize("model", ["sum", "alpha"])
def test_demo_checks_its_gradient(model: str) -> None:
    assert main(["--check", "--size", "24", "--gaussians", "20", "--model", model]) == 0


def test_a_wrong_photograph_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        (["missing.jpg"], "missing.jpg: is not there"),
        (["--size", "1"], "--size"),
    ):
        with pytest.raises(SystemExit) as caught:
            main([*arguments, "--no-pictures"])
        assert caught.value.code == 2
        error = capsys.readouterr().err
        assert said in error and error.count("\n") == 1


def test_a_brush_paints_along_its_way_and_erases() -> None:
    brush = Brush(40, 0.25)
    assert not brush.used
    brush.stroke((0.2, 0.5), (0.8, 0.5), 0.1)
    weights = brush.weights.to_numpy()
    assert brush.used and weights.max() == 1.0 and weights.min() == 0.25
    along = weights[20, 10:30]  # half of the radius is the rim
    assert (along > 0.95).all() and weights[19:21, :3].max() == 0.25 and weights[10].max() == 0.25
    brush.stroke((0.5, 0.9), (0.5, 0.9), 0.08)  # a dot, nearer to the top
    assert brush.weights.to_numpy()[4, 20] > 0.95
    brush.stroke((0.5, 0.0), (0.5, 1.0), 0.1, erase=True)
    weights = brush.weights.to_numpy()
    np.testing.assert_allclose(weights[:, 19:21], 0.25, atol=1e-6)
    assert weights[20, 10] > 0.95  # all other pixels are unchanged
    brush.clear()
    assert not brush.used and (brush.weights.to_numpy() == np.float32(0.25)).all()


def test_one_looks_on_and_paints_where_the_picture_counts() -> None:
    photograph = read_photograph("chelsea", 32)
    painting = Painting(photograph, 60, "sum", np.random.default_rng(0))
    first = painting.means.to_numpy()
    app = view(painting, argparse.Namespace(view="none", out=Path("out")))
    assert painting.weights is not None
    controls = {one.label: one for one in app._panel.controls if hasattr(one, "label")}
    show, erase, pace = controls["show"], controls["brush: erase"], controls["learning rate"]
    assert isinstance(show, Choice) and isinstance(erase, Checkbox) and isinstance(pace, Slider)
    flat = PlaneBox(app._layout.scene.area, VIEW)

    def drag(*places: tuple[float, float]) -> list[MouseMove | MouseDown | MouseUp]:
        pixels, _, _ = flat.project(np.array(places, np.float32))
        (x, y), (u, v) = pixels.tolist()
        return [
            MouseMove(x, y, frame=1),
            MouseDown("left", x, y, frame=1),
            MouseMove(u, v, frame=2),
            MouseUp("left", u, v, frame=3),
        ]

    def off() -> np.ndarray:
        painting.run()
        return np.square(painting.image.to_numpy() - photograph).sum(axis=2)

    app.run(frames=40)
    plain, apart = off(), painting.means.to_numpy()
    app.run(frames=1, events=[KeyDown("r"), KeyDown("space")])
    np.testing.assert_array_equal(painting.means.to_numpy(), first)
    # The same again, with the lower left quarter painted.
    app.run(frames=4, events=[KeyDown("space"), *drag((0.1, 0.25), (0.4, 0.25))])
    weights = painting.weights.to_numpy()
    assert weights[24, 3:13].min() > 0.9 and weights[:12].max() == np.float32(UNPAINTED)
    app.run(frames=37)
    painted, elsewhere = weights > 0.9, weights < 0.1
    there = off()
    assert there[painted].mean() < 0.8 * plain[painted].mean()
    assert there[elsewhere].mean() > plain[elsewhere].mean()
    assert not np.array_equal(painting.means.to_numpy(), apart)
    assert set(app._panel.series) == {"PSNR [dB]", "weighted PSNR [dB]"}

    erase.value = True
    app.run(frames=4, events=drag((0.02, 0.25), (0.5, 0.25)))
    assert painting.weights.to_numpy()[24].max() < 0.1

    # The view changes, with gradients and without; steps at a rate near 0 have no effect.
    app.playing, seen = False, []
    for mode in SHOWN:
        show.value = mode
        for _ in range(2):
            app.run(frames=2, events=[KeyDown("g")])  # its message is gone with time
            seen.append(app.picture[60:540, :530].copy())
    assert app.error is None
    for k, one in enumerate(seen[:4]):
        assert all(np.abs(one.astype(int) - other).mean() > 0.3 for other in seen[k + 1 : 5])
    pace.value, before = 0.05, painting.means.to_numpy()
    app.run(frames=1, events=[KeyDown("n")])
    assert 0.0 < np.abs(painting.means.to_numpy() - before).max() < 0.05 * 0.3 * 2


def test_demo_records_what_one_would_see(tmp_path: Path) -> None:
    short = ["chelsea", "--size", "32", "--gaussians", "60", "--iterations", "3", "--no-pictures"]
    assert main([*short, "--model", "alpha", "--record", str(tmp_path / "frames")]) == 0
    assert len(list((tmp_path / "frames").iterdir())) == 3
