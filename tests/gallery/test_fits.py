"""Shared code of the demos that fit pictures: the loop, its pictures, and photographs."""

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import difftile as dt
from demos.support import pictures
from demos.support.fits import (
    fit_pictures,
    psnr,
    save_fit_animation,
    save_fit_curve,
    save_fit_strip,
    to_srgb,
)
from demos.support.photographs import PhotographError, read_photograph


@dt.data_oriented
class Painting:
    """A picture whose pixels are the parameters."""

    def __init__(self, target: np.ndarray):
        self.image = dt.zeros(target.shape[:2], dt.vec(3), grad=True)
        self.target = dt.from_numpy(target, dtype=dt.vec(3))
        self.loss = dt.zeros((), grad=True)
        self.parameters = {"image": self.image}
        self.runs = 0

    @dt.kernel
    def measure(self):
        self.loss[None] = 0.0
        for i, j in self.image:
            self.loss[None] += (self.image[i, j] - self.target[i, j]).norm_sqr()

    def run(self) -> None:
        self.runs += 1
        self.measure()


TARGET = np.random.default_rng(5).uniform(0.0, 1.0, (6, 8, 3))


def paint(iterations: int, quality=None, **options):
    painting = Painting(TARGET)
    descent = dt.optim.SGD(painting.parameters, 0.25)
    fit = fit_pictures(
        painting,
        descent,
        iterations,
        "painting",
        picture=painting.image.to_numpy,
        quality=quality or (lambda: psnr(painting.image.to_numpy(), TARGET)),
        **options,
    )
    return painting, fit


def test_a_fit_keeps_its_pictures_and_draws_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "MOST_FRAMES", 1000)
    _, fit = paint(8, every=3)
    assert fit is not None
    assert fit.measured == [0, 3, 6, 8]
    assert fit.shown == [*range(9)]
    assert fit.decibels[0] == pytest.approx(-10 * np.log10(np.mean(TARGET**2)))
    # Each step halves the error: 6.02 dB.
    assert fit.decibels[-1] - fit.decibels[0] == pytest.approx(8 * 20 * np.log10(2), abs=1e-2)
    np.testing.assert_array_equal(fit.result, fit.training.best["image"])
    save_fit_strip(tmp_path / "strip.png", [("a", TARGET, fit.frames[0], fit.result)] * 2)
    save_fit_strip(
        tmp_path / "gray.png", [("", *(TARGET[..., 0],) * 3)], linear=True
    )  # without any error
    save_fit_curve(tmp_path / "curve.png", fit, "loss", {2: 10.0, 2000: 20.0})
    save_fit_animation(tmp_path / "fit.gif", fit, TARGET)
    with Image.open(tmp_path / "fit.gif") as gif:
        assert gif.n_frames == 9  # the last one stands for a while
        assert gif.info["loop"] == 0
        gif.seek(8)
        assert gif.info["duration"] > 500
    monkeypatch.setattr(pictures, "MOST_FRAMES", 4)
    save_fit_animation(tmp_path / "short.gif", fit, TARGET)
    with Image.open(tmp_path / "short.gif") as gif:
        assert 1 < gif.n_frames <= 4
    with Image.open(tmp_path / "strip.png") as strip:
        assert strip.width > strip.height


def test_what_was_learnt_stays_after_an_interruption() -> None:
    seen = []

    def quality() -> float:
        seen.append(0.0)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return 0.0

    painting, fit = paint(8, quality)
    assert fit is not None and fit.measured == [0, 1, 2]
    np.testing.assert_allclose(painting.image.to_numpy(), 0.75 * TARGET, rtol=1e-5)


def test_the_last_parameters_can_be_kept() -> None:
    painting, fit = paint(2, keep="last")
    assert fit is not None
    np.testing.assert_allclose(painting.image.to_numpy(), 0.875 * TARGET, rtol=1e-5)
    np.testing.assert_array_equal(fit.result, painting.image.to_numpy())


def test_psnr_and_the_encoding_for_screens() -> None:
    assert psnr(np.full((4, 4), 0.5), np.full((4, 4), 0.6)) == pytest.approx(20.0)
    np.testing.assert_allclose(
        to_srgb(np.array([-1.0, 0.001, 0.2140, 1.0, 2.0])), [0.0, 0.01292, 0.5, 1.0, 1.0], atol=1e-4
    )


def test_a_photograph_is_cropped_and_resized(tmp_path: Path) -> None:
    stripes = np.zeros((10, 30, 4), np.uint8)
    stripes[:, 10:20] = (255, 0, 0, 255)
    stripes[:, 20:] = (0, 0, 0, 0)
    Image.fromarray(stripes).save(tmp_path / "stripes.png")
    square = read_photograph(str(tmp_path / "stripes.png"), 5)
    np.testing.assert_array_equal(square, np.broadcast_to([1.0, 0.0, 0.0], (5, 5, 3)))
    deep = np.full((4, 4), 65535, np.uint16)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    np.testing.assert_array_equal(read_photograph(str(tmp_path / "deep.png"), 2), 1.0)


def test_a_sample_takes_the_place_of_one_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert read_photograph("astronaut", 8).shape == (8, 8, 3)
    assert not capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "skimage", None)
    assert read_photograph("astronaut", 8).shape == (8, 8, 3)
    said = capsys.readouterr().out
    assert said.count("\n") == 1 and "grace_hopper.jpg" in said and "difftile[demo]" in said


def test_a_file_that_is_no_photograph_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "text.jpg").write_text("not an image")
    Image.new("RGB", (64, 64), "red").save(tmp_path / "whole.png")
    data = (tmp_path / "whole.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(data[: len(data) // 2])
    for name, meaning in {
        "missing.png": "is not there",
        "text.jpg": "unknown format",
        "cut.png": "truncated",
        ".": "is a folder",
    }.items():
        with pytest.raises(PhotographError) as caught:
            read_photograph(str(tmp_path / name), 8)
        assert meaning in str(caught.value) and "\n" not in str(caught.value), str(caught.value)
