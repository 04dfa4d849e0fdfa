"""The triangles of robots, and their pictures."""

from pathlib import Path

import numpy as np
import pytest

from difftile import worlds
from difftile.worlds.robots import BodyPoses, Robots

MODELS = Path(__file__).parents[2] / "scenes" / "models"


@pytest.fixture(scope="module")
def hopper() -> worlds.Model:
    return worlds.load_arrays(MODELS / "hopper.npz")


def rotation(quat: np.ndarray) -> np.ndarray:
    """The matrix of a unit quaternion, by the textbook."""
    w, x, y, z = quat
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def drawn(model: worlds.Model, copies: int, seed: int = 5) -> BodyPoses:
    """BodyPoses of bodies that are as they like, joints or not."""
    rng = np.random.default_rng(seed)
    nbody = model.sizes.nbody
    quats = rng.normal(size=(copies, nbody, 4))
    quats /= np.linalg.norm(quats, axis=-1, keepdims=True)
    places = rng.uniform([-1.0, -1.0, 1.0], [1.0, 1.0, 3.0], (copies, nbody, 3))
    places[:, 0], quats[:, 0] = 0.0, [1.0, 0.0, 0.0, 0.0]  # the world
    return BodyPoses(places, quats)


def test_vertices_are_on_the_surfaces_of_the_geoms(hopper: worlds.Model) -> None:
    shown = drawn(hopper, 2)
    robots = Robots(hopper, 2, spacing=3.0)
    vertices, _, _ = robots.mesh(shown)
    capsules = np.flatnonzero(hopper.geom_type == 3)
    each = robots.vertices // 2 // len(capsules)
    for copy in range(2):
        for number, geom in enumerate(capsules):
            body = hopper.geom_bodyid[geom]
            turn = rotation(shown.xquat[copy, body])
            middle = shown.xpos[copy, body] + turn @ hopper.geom_pos[geom] + [0, 3.0 * copy, 0]
            axis = turn @ rotation(hopper.geom_quat[geom])[:, 2]
            start = (copy * len(capsules) + number) * each
            way = vertices[start : start + each] - middle
            radius, half = hopper.geom_size[geom, :2]
            along = np.clip(way @ axis, -half, half)
            off = np.linalg.norm(way - along[:, None] * axis, axis=1)
            np.testing.assert_allclose(off, radius, rtol=1e-9)
            assert np.abs(way @ axis).max() == pytest.approx(half + radius)


@pytest.mark.parametrize(
    ("kind", "size", "volume"),
    [
        (2, [0.3, 0.0, 0.0], 4 / 3 * np.pi * 0.3**3),
        (3, [0.2, 0.5, 0.0], 4 / 3 * np.pi * 0.2**3 + np.pi * 0.2**2),
        (6, [0.1, 0.2, 0.3], 8 * 0.1 * 0.2 * 0.3),
    ],
)
def test_faces_enclose_the_geom_and_look_outwards(
    hopper: worlds.Model, kind: int, size: list[float], volume: float
) -> None:
    model = worlds.load_arrays(MODELS / "hopper.npz")
    model.geom_type[1:], model.geom_size[1:] = 0, 0.0  # planes, of which the first is the floor
    model.geom_type[2], model.geom_size[2] = kind, size
    robots = Robots(model)
    vertices, faces, colours = robots.mesh(drawn(model, 1))
    own = faces[(faces < robots.vertices).all(axis=1)]
    a, b, c = (vertices[own[:, k]] for k in range(3))
    enclosed = np.einsum("nk,nk", a, np.cross(b, c)) / 6.0
    assert enclosed == pytest.approx(volume, rel=1e-12 if kind == 6 else 0.1)
    edges = np.sort(own[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    poles = np.unique(edges, axis=0, return_counts=True)[1]
    assert kind != 6 or (poles == 2).all()  # round geoms have several vertices at a pole
    assert colours.min() >= 0.0 and colours.max() <= 1.0


def test_shadows_lie_on_the_floor(hopper: worlds.Model) -> None:
    robots = Robots(hopper, 2)
    vertices, faces, colours = robots.mesh(drawn(hopper, 2))
    shadows = vertices[robots.vertices : 2 * robots.vertices]
    np.testing.assert_allclose(shadows[:, 2], shadows[0, 2])
    assert 0.0 < shadows[0, 2] < 0.01
    assert len(faces) == len(colours) and faces.max() == len(vertices) - 1


def test_pictures_show_each_copy_in_its_colour(hopper: worlds.Model) -> None:
    shown = drawn(hopper, 1)
    both = BodyPoses(np.repeat(shown.xpos, 2, axis=0), np.repeat(shown.xquat, 2, axis=0))
    robots = Robots(hopper, 2, spacing=3.0, colours=("#ff0000", "#0000ff"))
    picture = robots.image(both, (240, 160)).astype(int)
    assert picture.shape == (160, 240, 3)
    red = picture[..., 0] - picture[..., 2] > 80
    blue = picture[..., 2] - picture[..., 0] > 80
    assert red.sum() > 20 and blue.sum() > 20
    assert (picture == 255).all(axis=-1).any()  # the background


def test_archives_are_of_their_files(hopper: worlds.Model) -> None:
    pytest.importorskip("mujoco", reason="compiles the files")
    for file in sorted(MODELS.glob("*.xml")):
        compiled, archived = worlds.load(file), worlds.load_arrays(file.with_suffix(".npz"))
        assert compiled.sizes == archived.sizes
        for name, array in compiled.arrays.items():
            np.testing.assert_array_equal(archived.arrays[name], array, err_msg=f"{file}: {name}")
