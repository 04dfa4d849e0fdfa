"""Coloured balls and cameras around them: a scene for splats in tests of files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

CENTRES = np.array(
    [
        [0.0, 0.0, 0.0],
        [0.9, 0.2, -0.3],
        [-0.8, 0.4, 0.2],
        [0.1, -0.9, 0.1],
        [-0.3, 0.7, 0.7],
        [0.3, 0.3, 0.9],
    ]
)
RADII = np.array([0.5, 0.4, 0.35, 0.4, 0.3, 0.25])
COLOURS = np.array(
    [
        [0.90, 0.30, 0.20],
        [0.20, 0.60, 0.90],
        [0.95, 0.80, 0.20],
        [0.30, 0.75, 0.35],
        [0.70, 0.35, 0.80],
        [0.95, 0.95, 0.95],
    ]
)
_LIGHT = np.array([0.4, 0.3, 0.866])  # the direction towards it, above


@dataclass(frozen=True, slots=True)
class Shot:
    """A camera, and its position.

    Args:
        name: Of its picture, without an ending.
        world_to_camera: In OpenCV axes, shape (4, 4).
        intrinsics: fx, fy, cx, cy [pixels].
        width: [pixels]
        height: [pixels]
    """

    name: str
    world_to_camera: np.ndarray
    intrinsics: np.ndarray
    width: int
    height: int


def shots(count: int, width: int = 32, height: int = 24, away: float = 4.0) -> list[Shot]:
    """Return cameras on a sphere around the balls, directed at its middle; z is up."""
    found: list[Shot] = []
    for k in range(count):
        # Steps of the golden angle keep any number of cameras apart.
        turn, rise = 2.399963 * k, -0.3 + 1.1 * (k + 0.5) / count
        side = np.array([np.cos(turn) * np.cos(rise), np.sin(turn) * np.cos(rise), np.sin(rise)])
        forward = -side
        right = np.cross(forward, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        rotation = np.stack([right, np.cross(forward, right), forward])
        pose = np.eye(4)
        pose[:3, :3] = rotation
        pose[:3, 3] = -rotation @ (away * side)
        focal = 1.25 * width
        intrinsics = np.array([focal, focal, width / 2, height / 2])
        found.append(Shot(f"view_{k:03d}", pose, intrinsics, width, height))
    return found


def photograph(shot: Shot, samples: int = 3) -> np.ndarray:
    """Return a picture of the balls, colours and opacity 0 ... 1, shape (H, W, 4).

    Args:
        shot: The camera.
        samples: Rays along each axis of a pixel.
    """
    fx, fy, cx, cy = shot.intrinsics
    u = (np.arange(shot.width * samples) + 0.5) / samples
    v = (np.arange(shot.height * samples) + 0.5) / samples
    x, y = np.meshgrid((u - cx) / fx, (v - cy) / fy)
    rays = np.stack([x, y, np.ones_like(x)], axis=-1) @ shot.world_to_camera[:3, :3]
    rays /= np.linalg.norm(rays, axis=-1, keepdims=True)
    eye = -shot.world_to_camera[:3, :3].T @ shot.world_to_camera[:3, 3]
    nearest = np.full(x.shape, np.inf)
    picture = np.zeros((*x.shape, 4))
    for centre, radius, colour in zip(CENTRES, RADII, COLOURS, strict=True):
        along = rays @ (centre - eye)
        inside = radius**2 - (np.sum((centre - eye) ** 2) - along**2)
        distance = along - np.sqrt(np.maximum(inside, 0.0))
        hit = (inside > 0) & (distance < nearest)
        normal = (eye + distance[..., None] * rays - centre) / radius
        shade = (0.65 + 0.35 * (normal @ _LIGHT))[..., None] * colour
        nearest = np.where(hit, distance, nearest)
        picture = np.where(
            hit[..., None], np.concatenate([shade, np.ones_like(shade[..., :1])], -1), picture
        )
    blocks = picture.reshape(shot.height, samples, shot.width, samples, 4).mean(axis=(1, 3))
    blocks[..., :3] /= np.maximum(blocks[..., 3:], 1e-12)  # not multiplied by the opacity
    return blocks


def surface_points(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return points on the balls and their colours 0 ... 1, shape (count, 3) each."""
    draw = np.random.default_rng(seed)
    ball = draw.choice(len(RADII), count, p=RADII**2 / np.sum(RADII**2))
    normal = draw.normal(size=(count, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    shade = (0.65 + 0.35 * (normal @ _LIGHT))[:, None] * COLOURS[ball]
    return CENTRES[ball] + RADII[ball, None] * normal, shade
