"""The balls of `scenes/balls.py` as data sets on disk, in every format that is read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from difftile.datasets.colmap import Camera, Cloud, PosedImage, Reconstruction
from scenes.balls import Shot, photograph, shots, surface_points
from tests.datasets.writers import quaternion_of, write_binary, write_picture, write_text

TO_OPENGL = np.diag([1.0, -1.0, -1.0, 1.0])
FORMATS = ("colmap-bin", "colmap-txt", "nerfstudio", "blender")


def write_dataset(folder: Path, kind: str, views: list[Shot] | None = None) -> list[Shot]:
    """Write the balls as a data set of that kind; return its cameras."""
    views = shots(4) if views is None else views
    write = {
        "colmap-bin": lambda: write_binary(folder / "sparse" / "0", reconstruction(views)),
        "colmap-txt": lambda: write_text(folder / "sparse" / "0", reconstruction(views)),
        "nerfstudio": lambda: write_json(folder / "transforms.json", nerfstudio(views)),
        "blender": lambda: write_json(folder / "transforms_train.json", blender(views)),
    }
    pictures = folder / ("train" if kind == "blender" else "images")
    pictures.mkdir(parents=True)
    write[kind]()
    for shot in views:
        picture = photograph(shot)
        if kind != "blender":  # the one kind whose pictures are transparent
            picture = picture[..., :3] * picture[..., 3:]
        write_picture(pictures / f"{shot.name}.png", picture)
    return views


def write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")


def reconstruction(views: list[Shot], points: int = 200) -> Reconstruction:
    one = views[0]
    cameras = {1: Camera(1, "PINHOLE", one.width, one.height, (*map(float, one.intrinsics),))}
    images = {}
    for k, shot in enumerate(views, 1):
        rotation, translation = shot.world_to_camera[:3, :3], shot.world_to_camera[:3, 3]
        where = (*map(float, translation),)
        images[k] = PosedImage(k, quaternion_of(rotation), where, 1, f"{shot.name}.png")
    positions, colours = surface_points(points)
    ids = np.arange(1, points + 1, dtype=np.uint64)
    return Reconstruction(
        cameras, images, Cloud(ids, positions, np.rint(colours * 255).astype(np.uint8))
    )


def camera_to_world(shot: Shot) -> list[list[float]]:
    """The pose as nerfstudio and Blender have it, in OpenGL axes."""
    return (np.linalg.inv(shot.world_to_camera) @ TO_OPENGL).tolist()


def nerfstudio(views: list[Shot]) -> dict[str, object]:
    fx, fy, cx, cy = map(float, views[0].intrinsics)
    frames = [
        {"file_path": f"images/{shot.name}.png", "transform_matrix": camera_to_world(shot)}
        for shot in views
    ]
    return {
        **{"camera_model": "OPENCV", "fl_x": fx, "fl_y": fy, "cx": cx, "cy": cy},
        **{"w": views[0].width, "h": views[0].height},
        **{"k1": 0.0, "k2": 0.0, "p1": 0.0, "p2": 0.0, "frames": frames},
    }


def blender(views: list[Shot]) -> dict[str, object]:
    angle = 2 * np.arctan(0.5 * views[0].width / views[0].intrinsics[0])
    frames = [
        {"file_path": f"./train/{shot.name}", "transform_matrix": camera_to_world(shot)}
        for shot in views
    ]
    return {"camera_angle_x": float(angle), "frames": frames}
