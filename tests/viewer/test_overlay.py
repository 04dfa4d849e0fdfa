"""Gradients drawn over their shapes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.viewer.overlay import (
    NOT_FINITE,
    arrows,
    is_of_overwritten,
    overlay,
    scale_of,
    strengths,
    tinted,
)
from difftile.viewer.picking import pick
from difftile.viewer.primitives import Arrows, Circles, Facets, Image, Lines, Markers
from difftile.viewer.screen import Area, PlaneBox

RED = np.array([200, 0, 0], np.uint8)
GREY = np.full((1, 4, 3), 100, np.uint8)


def test_one_large_element_does_not_hide_the_others() -> None:
    gradient = np.ones(1000)
    gradient[3] = -1e9
    assert scale_of(gradient) == pytest.approx(1.0)
    assert strengths(gradient)[[0, 3]].tolist() == [1.0, -1.0]


@pytest.mark.parametrize("nothing", [[], [0.0, 0.0], [np.nan, np.inf]])
def test_a_gradient_of_zeros_has_the_scale_one(nothing: list[float]) -> None:
    assert scale_of(nothing) == 1.0


def test_positive_is_red_negative_is_blue_zero_is_grey_and_infinite_magenta() -> None:
    positive, negative, zero, broken = tinted(GREY, np.array([[2.0, -2.0, 0.0, np.nan]]))[0]
    assert positive[0] > 200 > positive[2]
    assert negative[2] > 200 > negative[0]
    assert zero.tolist() == [60, 60, 60]
    assert broken.tolist() == NOT_FINITE.tolist()


def test_channels_are_added_up() -> None:
    channels = np.zeros((1, 4, 3))
    channels[0, 0] = [1.0, 2.0, -1.0]
    np.testing.assert_array_equal(
        tinted(GREY, channels), tinted(GREY, np.array([[2.0, 0.0, 0.0, 0.0]]))
    )


def test_arrows_point_along_the_gradient_with_lengths_in_proportion() -> None:
    positions = np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0], [2.0, 2.0]])
    gradient = np.array([[1e-6, 0.0], [0.0, -5e-7], [0.0, 0.0], [np.inf, 0.0]])
    drawn, broken = arrows(positions, gradient)
    assert drawn.begins.tolist() == [[0.0, 0.0], [3.0, 4.0]]
    lengths = np.linalg.norm(drawn.vectors, axis=1)
    assert lengths[0] == pytest.approx(5.0 / 8.0)
    assert lengths[1] == pytest.approx(0.5 * lengths[0], rel=0.02)
    assert drawn.vectors[1, 1] < 0.0 == drawn.vectors[1, 0]
    assert broken.positions.tolist() == [[2.0, 2.0]]


def test_of_many_arrows_the_longest_are_drawn() -> None:
    n = 5000
    drawn, _ = arrows(np.zeros((n, 3)), np.outer(np.arange(n), [0.0, 0.0, 1.0]))
    assert len(drawn.begins) == 2000
    lengths = np.linalg.norm(drawn.vectors, axis=1)
    assert lengths.max() == pytest.approx(0.1)
    assert lengths.min() > 0.05


def test_every_shape_with_a_field_shows_its_gradient() -> None:
    x = dt.from_numpy(np.zeros((2, 2, 2), np.float32), dtype=ti.math.vec2, grad=True)
    x.grad[0, 1] = [1.0, 0.0]
    y = dt.zeros((1, 4), dtype=ti.f32, grad=True)
    plain = dt.zeros((1, 4), dtype=ti.f32)
    flat = np.zeros((4, 2), np.float32)
    faces = np.array([[0, 1, 2]], np.int32)
    shapes = [
        Markers(flat, RED, source=x),
        Circles(flat, np.ones(4, np.float32), RED, source=x),
        Facets(flat, faces, RED, source=x),
        Image(GREY, source=y, box=(0.0, 0.0, 0.5, 0.5)),
        Image(GREY, source=plain),
        Image(GREY),
        Markers(flat, RED),
        Lines(flat, flat, RED),
    ]
    found = overlay(shapes)
    assert [type(one) for one in found.over] == [Arrows, Markers] * 3
    assert len(found.over[0].begins) == 1
    changed = [new for new, old in zip(found.shapes, shapes, strict=True) if new is not old]
    assert changed == [found.shapes[3]]  # in its place, so that shapes over it are visible
    assert changed[0].box == (0.0, 0.0, 0.5, 0.5)
    assert found.said == (
        "gradients\n"
        "4 points: the longest arrow is 1\n"
        "4 circles: the longest arrow is 1\n"
        "4 vertices: the longest arrow is 1\n"
        "1 x 4 pixels: 0 everywhere"
    )


def test_it_says_where_there_is_no_gradient_and_where_it_is_not_finite() -> None:
    assert overlay([Markers(np.zeros((3, 2), np.float32), RED)]).said == (
        "no gradients: nothing that is shown is\ndrawn from a field that has one (grad=True)"
    )
    x = dt.zeros((1, 4), dtype=ti.f32, grad=True)
    x.grad.from_numpy(np.array([[0.0, np.nan, np.inf, 2e-3]], np.float32))
    shapes = [Image(GREY, source=x)] * 8
    lines = overlay(shapes).said.split("\n")
    assert lines[1] == "1 x 4 pixels: red > 0 > blue, full at 0.002, 2 not finite (magenta)"
    assert (len(lines), lines[-1]) == (8, "…")


@dt.kernel
def paint(image, level):
    for i, j in image:
        image[i, j] = level[None] * (i + 1.0)


@dt.kernel
def add_squares(image, loss):
    for i, j in image:
        loss[None] += image[i, j] ** 2


def test_a_gradient_of_overwritten_values_is_marked_and_retain_is_offered() -> None:
    image, level = dt.zeros((2, 3), grad=True), dt.full((), 0.5, grad=True)
    loss = dt.zeros((), grad=True)
    shape = Image(np.zeros((2, 3, 3), np.uint8), source=image)
    place = Markers(np.zeros((1, 2), np.float32), RED, source=dt.zeros(1, dt.vec(2, ti.f32)))
    hint = (
        "* of values that the tape has overwritten since; tape.backward(loss, retain=[field]) "
        "gives the gradient of those shown"
    )

    def legend(*retain: dt.Field) -> list[str]:
        loss[None] = 0.0
        with dt.Tape() as tape:
            paint(image, level)
            add_squares(image, loss)
        tape.backward(loss, retain=retain)
        return overlay([place, shape]).said.split("\n")

    lines = legend()
    assert lines == ["gradients", "2 x 3 pixels*: 0 everywhere", hint]
    area = Area(0.0, 0.0, 300.0, 200.0)
    flat = PlaneBox(area, (0.0, 0.0, 3.0, 2.0))
    (under,) = [pick([replace(shape, box=(0.0, 0.0, 3.0, 2.0))], flat, 150.0, 150.0)]
    assert str(under) == "[1, 1] = 1\ngrad = 0 (of the value before the tape)"
    lines = legend(image)
    assert lines == ["gradients", "2 x 3 pixels: red > 0 > blue, full at 2"]
    np.testing.assert_allclose(image.grad.to_numpy(), [[1.0] * 3, [2.0] * 3])
    legend()
    assert is_of_overwritten(image) and not is_of_overwritten(level)
    loss[None] = 0.0
    with dt.Tape(loss):
        add_squares(image, loss)  # which now is a parameter
    assert not is_of_overwritten(image)
    assert overlay([shape]).said.startswith("gradients\n2 x 3 pixels: red")
