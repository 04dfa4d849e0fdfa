"""Values that are noted over time, in bounded memory."""

from __future__ import annotations

import numpy as np

from difftile.viewer.curve import curve
from difftile.viewer.primitives import Lines, Plot, Text
from difftile.viewer.screen import Area
from difftile.viewer.series import Series
from difftile.viewer.surface import text_width

RED = np.array([200, 0, 0], np.uint8)


def noted(values: np.ndarray) -> Series:
    series = Series()
    for value in values.tolist():
        series.add(value)
    return series


def test_few_values_are_all_kept() -> None:
    values = np.random.default_rng(0).normal(size=1024)
    series = noted(values)
    np.testing.assert_array_equal(series.values, values)
    np.testing.assert_array_equal(series.times, np.arange(1024))
    series.clear()
    assert (len(series.values), series.count, np.isnan(series.last)) == (0, 0, True)
    series.add(2.0)
    assert (series.times.tolist(), series.values.tolist(), series.last) == ([0.0], [2.0], 2.0)


def test_of_many_the_whole_course_and_all_extremes_are_kept() -> None:
    values = np.sin(np.arange(70_001) / 900.0) + 1e-3 * np.arange(70_001)
    values[12_345], values[50_000] = -1e3, 1e3  # single ones
    series = noted(values)
    assert len(series.values) <= 2 * 1024 + 1
    np.testing.assert_array_equal(series.values, values[series.times.astype(int)])
    assert (series.count, series.times[-1], series.last) == (70_001, 70_000, values[-1])
    assert {12_345, 50_000} <= set(series.times.astype(int))
    assert np.diff(series.times).max() < 2 * 128  # stretches of 128 of the whole time
    assert np.diff(series.times[:20]).max() < 2 * 128
    assert len(series.values) > 1000


def test_what_is_not_finite_hides_nothing() -> None:
    values = np.ones(5000)
    values[1::3] = np.nan
    values[2::3] = np.inf
    assert np.isfinite(noted(values).values[:-1]).all()
    assert not np.isfinite(noted(np.full(5000, np.nan)).values).any()


def test_a_curve_is_as_long_as_its_course_and_says_how_many_values_it_has() -> None:
    series = noted(np.linspace(3.0, 1.0, 30_000))
    plot = Plot("loss", series.times, series.values, (0, 0, 1, 1), RED)
    shapes = curve(plot, Area(0.0, 0.0, 200.0, 100.0))
    words = [one.text for one in shapes if isinstance(one, Text)]
    assert words == ["loss", "1", "1 … 3", "n = 30000"]
    (line,) = (one for one in shapes if isinstance(one, Lines))
    np.testing.assert_allclose(line.begins[0], [6, 22])
    np.testing.assert_allclose(line.ends[-1], [194, 80])
    assert np.abs(np.diff(line.begins[:, 0])).max() < 1.5


def test_a_long_name_ends_before_the_last_value() -> None:
    values, times = np.array([-1.2345e-6]), np.zeros(1)
    plot = Plot("the largest of all distances", times, values, (0, 0, 1, 1), RED)
    for width in (120.0, 200.0, 400.0):
        shapes = curve(plot, Area(0.0, 0.0, width, 100.0))
        name, last = [one for one in shapes if isinstance(one, Text)][:2]
        end = name.at[0] + text_width(name.text, name.size, bold=True)
        assert end < last.at[0] - text_width(last.text, last.size)
        assert name.text == plot.name if width > 300 else name.text.endswith("…")
