"""Scenes to train splats on: pictures with their cameras on disk, and points to start from.

`marbles` is drawn by a ray tracer and has no gaussians in it: glossy marbled balls on a striped
plate, with shadows. `knot` is the torus knot of `scenes/torus_knot.py`, drawn by the library.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import taichi as ti
from PIL import Image

import difftile as dt
from scenes import torus_knot

HELD_OUT = 8  # every so many-th view
SPREAD = 0.01  # standard deviation of the points from the surfaces [scene units]
PLATE, BALLS = 2.2, 40  # the radius of the plate [scene units], and how many balls lie on it
AWAY = 5.5  # distance of the cameras from the middle of the plate [scene units]
HARMONIC, OPAQUE = 0.28209479177387814, 4.0  # of the discs of the knot
UP = (0.0, 0.0, 1.0)


@dt.func
def marbled(p, tone):
    """Return the colour of a point on a ball: veins of several sizes in two colours."""
    t = ti.math.vec3(tone, tone + 2.1, tone + 4.2)
    v = ti.sin(9.0 * p.x + 3.0 * ti.sin(7.0 * p.y + tone) + 2.0 * ti.sin(17.0 * p.z))
    fine = ti.sin(61.0 * p.x + 5.0 * v) * ti.sin(53.0 * p.y) * ti.sin(67.0 * p.z)
    share = 0.5 + 0.35 * v + 0.15 * fine
    return (0.55 + 0.4 * ti.cos(t)) * share + (0.35 + 0.3 * ti.cos(t + 1.7)) * (1.0 - share)


@dt.func
def striped(p):
    """Return the colour of a point of the plate: rings and spokes, with small squares on them."""
    r, turn = ti.sqrt(p.x * p.x + p.y * p.y), ti.atan2(p.y, p.x)
    ring = 0.5 + 0.5 * ti.tanh(6.0 * ti.sin(14.0 * r) * ti.sin(16.0 * turn))
    square = 0.5 + 0.5 * ti.tanh(4.0 * ti.sin(40.0 * p.x) * ti.sin(40.0 * p.y))
    light, dark = ti.math.vec3(0.85, 0.8, 0.7), ti.math.vec3(0.25, 0.3, 0.42)
    return (light * ring + dark * (1.0 - ring)) * (0.8 + 0.2 * square)


@dt.func
def nearest(balls, start, way):
    """Return the distance of what a ray meets, and what: a ball, -1 for nothing, -2 the plate."""
    far, which = 1e6, -1
    if way.z < -1e-6:
        t = -start.z / way.z
        x, y = start.x + t * way.x, start.y + t * way.y
        if x * x + y * y < PLATE * PLATE:
            far, which = t, -2
    for k in range(balls.shape[0]):
        ball = balls[k]
        to = ti.math.vec3(ball[0], ball[1], ball[2]) - start
        along = to.dot(way)
        short = to.dot(to) - along * along
        inside = ball[3] * ball[3] - short
        if inside > 0.0:
            t = along - ti.sqrt(inside)
            if t > 1e-3 and t < far:
                far, which = t, k
    return far, which


@dt.func
def seen(balls, start, way):
    """Return what a ray sees: diffuse light with a shadow, and a highlight on balls."""
    far, which = nearest(balls, start, way)
    colour = ti.math.vec3(0.0)
    if which != -1:
        p = start + far * way
        out = ti.math.vec3(0.0, 0.0, 1.0)
        base = ti.math.vec3(0.0)
        gloss = 0.0
        if which >= 0:
            ball = balls[which]
            out = (p - ti.math.vec3(ball[0], ball[1], ball[2])) / ball[3]
            base = marbled(p, ball[4])
            gloss = 0.35
        else:
            base = striped(p)
        light = ti.math.vec3(0.36, 0.48, 0.8)
        bright = max(out.dot(light), 0.0)
        _, above = nearest(balls, p + 1e-3 * out, light)
        if above != -1:
            bright = 0.0
        half = (light - way).normalized()
        shine = gloss * max(out.dot(half), 0.0) ** 40 if bright > 0.0 else 0.0
        colour = base * (0.35 + 0.65 * bright) + shine
    return colour


@dt.kernel
def trace(balls, turn, place, focal: float, image):
    for i, j in image:
        total = ti.math.vec3(0.0)
        for a, b in ti.static(ti.ndrange(3, 3)):
            x = (j + (b + 0.5) / 3 - 0.5 * image.shape[1]) / focal
            y = (i + (a + 0.5) / 3 - 0.5 * image.shape[0]) / focal
            way = (turn[None].transpose() @ ti.math.vec3(x, y, 1.0)).normalized()
            total += seen(balls, place[None], way)
        image[i, j] = ti.math.clamp(total / 9.0, 0.0, 1.0)


def make_balls(seed: int = 0) -> np.ndarray:
    """Return balls that lie on the plate: centre, radius and tone, shape (balls, 5)."""
    rng = np.random.default_rng(seed)
    found: list[tuple[float, ...]] = []
    while len(found) < BALLS:
        r = rng.uniform(0.1, 0.34)
        x, y = rng.uniform(-1.7, 1.7, 2)
        apart = [
            (x - a) ** 2 + (y - b) ** 2 + (r - c) ** 2 > (r + d) ** 2 for a, b, c, d, _ in found
        ]
        if x * x + y * y < 1.75**2 and all(apart):
            found.append((x, y, r, r, rng.uniform(0.0, 6.0)))
    return np.array(found)


@dt.kernel
def colour(points, tones, colours):
    for k in points:
        base = ti.math.vec3(0.0)
        if tones[k] < 0.0:
            base = striped(points[k])
        else:
            base = marbled(points[k], tones[k])
        colours[k] = 0.6 * base


def on_surfaces(balls: np.ndarray, count: int, seed: int = 1) -> dt.datasets.Points:
    """Return points near the balls and the plate, as many to an area everywhere."""
    rng = np.random.default_rng(seed)
    areas = np.append(4.0 * np.pi * balls[:, 3] ** 2, np.pi * PLATE**2)
    which = rng.choice(len(areas), count, p=areas / areas.sum())
    on_plate = which == len(balls)
    out = rng.normal(size=(count, 3))
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    ball = balls[np.where(on_plate, 0, which)]
    places = ball[:, :3] + ball[:, 3:4] * out
    r, turn = PLATE * np.sqrt(rng.random(count)), rng.uniform(0.0, 2.0 * np.pi, count)
    flat = np.stack([r * np.cos(turn), r * np.sin(turn), np.zeros(count)], axis=1)
    places[on_plate] = flat[on_plate]
    given = dt.from_numpy(places, dt.vec(3, ti.f32))
    colours = dt.zeros(count, dt.vec(3, ti.f32))
    colour(given, dt.from_numpy(np.where(on_plate, -1.0, ball[:, 4]), dtype=ti.f32), colours)
    return dt.datasets.Points(places + rng.normal(0.0, SPREAD, places.shape), colours.to_numpy())


def around(views: int) -> np.ndarray:
    """Return places on a sphere by steps of the golden angle, shape (views, 3)."""
    k = np.arange(views)
    rise, turn = 0.25 + 1.0 * (k + 0.5) / views, 2.399963 * k
    flat = np.cos(rise)
    return AWAY * np.stack([flat * np.cos(turn), flat * np.sin(turn), np.sin(rise)], axis=1)


def marbles(folder: Path, views: int, size: int, points: int) -> dt.datasets.Dataset:
    """Write pictures of the balls, and return them with their cameras."""
    balls = make_balls()
    given = dt.from_numpy(balls, dt.vec(5, ti.f32))
    cameras = dt.render.Cameras.look_at(around(views), (0.0, 0.0, 0.1), size, size, fov=45.0, up=UP)
    poses, lens = cameras.world_to_camera(), cameras.intrinsics.to_numpy()[0]
    image = dt.zeros((size, size), ti.math.vec3)
    turn, place = dt.zeros((), dt.mat(3, 3, ti.f32)), dt.zeros((), ti.math.vec3)

    def draw(k: int) -> np.ndarray:
        turn.from_numpy(poses[k, :3, :3])
        place.from_numpy(-poses[k, :3, :3].T @ poses[k, :3, 3])
        trace(given, turn, place, float(lens[0]), image)
        return image.to_numpy()

    return _written(folder, draw, poses, lens, size, on_surfaces(balls, points))


def knot(folder: Path, views: int, size: int, points: int) -> dt.datasets.Dataset:
    """Write pictures of the torus knot, and return them with their cameras."""
    scene = torus_knot.make_scene(points, views, noise=0.03)
    discs = dt.render.make_gaussians(
        means=scene.means,
        scales=np.log(scene.widths),
        quaternions=scene.quaternions,
        opacities=np.full(len(scene.means), OPAQUE),
        sh0=(scene.colours - 0.5) / HARMONIC,
        dtype=ti.f32,
        grad=False,
    )
    fov = torus_knot.ANGLE
    cameras = dt.render.Cameras.look_at(scene.eyes, (0.0, 0.0, 0.0), size, size, fov=fov, up=UP)
    splatter = dt.render.Splatter(size, size, sh_degree=0, depth=False)
    known = dt.datasets.Points(scene.points, np.full((points, 3), 0.5, np.float32))

    def draw(k: int) -> np.ndarray:
        return splatter(discs, cameras[k]).image.to_numpy()[0]

    lens = cameras.intrinsics.to_numpy()[0]
    return _written(folder, draw, cameras.world_to_camera(), lens, size, known)


SCENES = {"marbles": marbles, "knot": knot}


def _written(
    folder: Path,
    draw: Callable[[int], np.ndarray],
    poses: np.ndarray,
    lens: np.ndarray,
    size: int,
    points: dt.datasets.Points,
) -> dt.datasets.Dataset:
    """Write a picture for each pose, and return the data set."""
    folder.mkdir(parents=True, exist_ok=True)
    views: list[dt.datasets.View] = []
    saved = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for k, pose in enumerate(poses):
            path = folder / f"{k:04}.png"
            picture = Image.fromarray(np.rint(np.clip(draw(k), 0.0, 1.0) * 255).astype(np.uint8))
            saved.append(pool.submit(picture.save, path, compress_level=1))
            held_out = k % HELD_OUT == 0
            views.append(
                dt.datasets.View(
                    path.name, path, pose, lens.astype(np.float64), size, size, held_out=held_out
                )
            )
    for one in saved:
        one.result()
    return dt.datasets.Dataset(
        folder, tuple(views), points, f"{len(views)} pictures of {folder.name}"
    )
