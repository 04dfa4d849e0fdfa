"""A photograph is painted with gaussians, as well and as fast as others do it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from demos.fit_image import GOALS, Painter, Painting, main
from demos.support.fits import psnr
from demos.support.photographs import read_photograph


def paint(
    name: str, size: int, n: int, steps: Sequence[int], total: int, model: str = "sum"
) -> list[float]:
    """Return the PSNR after these numbers of steps of a fit [dB]."""
    photograph = read_photograph(name, size)
    painting = Painting(photograph, n, model, np.random.default_rng(0))
    painter, found = Painter(painting, total), []
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
    assert "60 gaussians show the photograph" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"strip.png", "curve.png", "fit.gif"}


@pytest.mark.parametrize("model", ["sum", "alpha"])
def test_demo_checks_its_gradient(model: str) -> None:
    assert main(["--check", "--size", "24", "--gaussians", "20", "--model", model]) == 0


def test_a_wrong_photograph_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        (["missing.jpg"], "missing.jpg: No such file or directory"),
        (["--size", "1"], "--size"),
    ):
        with pytest.raises(SystemExit) as caught:
            main([*arguments, "--no-pictures"])
        assert caught.value.code == 2
        error = capsys.readouterr().err
        assert said in error and error.count("\n") == 1
