"""Echoes in a room: rays from a loudspeaker to a microphone by way of the walls, as a mesh.

A path begins with a direction and is reflected in a loop, with a position, a direction and a length
as its state. The walls of a box are known from the mirror images of the microphone too, which is
how the paths are aimed, and what the lengths and their gradients are compared with (Allen and
Berkley, Image method for efficiently simulating small-room acoustics, 1979).

Run this file for a few steps of the optimisation; the demo `echoes` does all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

import difftile as dt
from difftile import ti

_CORNERS = np.array(list(product((0, 1), repeat=3)), float)
_SIDES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
_FACES = np.array([face for a, b, c, d in _SIDES for face in ((a, b, c), (a, c, d))])
_BEGIN = 1e-4  # of a ray on a wall, which it does not meet again [lengths of the direction, m]


@dataclass(frozen=True, slots=True)
class EchoScene:
    """A room in the shape of a box with a corner at 0.

    Attributes:
        size: The true sides of the room [m], shape (3,).
        guess: Those that the search begins with [m].
        speaker: Where sound comes from [m].
        microphone: Where it is heard [m].
        bounces: The largest number of walls on a path.
    """

    size: tuple[float, float, float] = (5.2, 4.1, 2.9)
    guess: tuple[float, float, float] = (6.0, 3.6, 2.4)
    speaker: tuple[float, float, float] = (1.1, 0.9, 1.2)
    microphone: tuple[float, float, float] = (3.7, 2.6, 1.5)
    bounces: int = 3

    def orders(self) -> np.ndarray:
        """Return how often each path changes its room along each axis, shape (paths, 3)."""
        axis = range(-self.bounces, self.bounces + 1)
        found = [one for one in product(axis, repeat=3) if 0 < np.abs(one).sum() <= self.bounces]
        return np.array(sorted(found, key=lambda one: (np.abs(one).sum(), one)))

    def lengths(self, size: np.ndarray) -> np.ndarray:
        """Return the lengths of all paths by mirror images, in closed form [m]."""
        orders, microphone = self.orders(), np.array(self.microphone)
        images = orders * size + np.where(orders % 2 == 0, microphone, size - microphone)
        return np.linalg.norm(images - np.array(self.speaker), axis=1)


@dt.data_oriented
class Echoes:
    """A room whose sides are found from the lengths of its echoes.

    Args:
        scene: The room.
        dtype: Of all fields.
    """

    def __init__(self, scene: EchoScene, dtype=ti.f32):
        self.scene = scene
        vec = dt.vec(3, dtype)
        orders = scene.orders()
        self.size = dt.full((), scene.guess, dtype=vec, grad=True)
        self.unit = dt.from_numpy(_CORNERS, dtype=vec)
        self.mesh = dt.geometry.Mesh(dt.from_numpy(_CORNERS, dtype=vec, grad=True), _FACES)
        self.speaker = dt.full((), scene.speaker, dtype=vec)
        self.microphone = dt.full((), scene.microphone, dtype=vec)
        self.orders = dt.from_numpy(orders.astype(np.int32), dtype=dt.vec(3, ti.i32))
        self.heard = dt.from_numpy(scene.lengths(np.array(scene.size)), dtype=dtype)
        self.lengths = dt.zeros(len(orders), dtype, grad=True)
        self.stops = dt.zeros((len(orders), scene.bounces), vec)
        self.loss = dt.zeros((), dtype, grad=True)

    @property
    def parameters(self) -> dict[str, dt.Field]:
        """What is optimised."""
        return {"size": self.size}

    @dt.kernel
    def build(self):
        """Move the walls."""
        for i in self.unit:
            for k in ti.static(range(3)):
                self.mesh.vertices[i][k] = self.unit[i][k] * self.size[None][k]

    @dt.func
    def aim(self, order):
        """Return the direction from the loudspeaker to a mirror image of the microphone.

        A constant: the length of a path changes with its direction in second order only (Fermat).
        """
        size, at = self.size[None], self.microphone[None]
        image = ti.Vector([0.0, 0.0, 0.0])
        for k in ti.static(range(3)):
            image[k] = order[k] * size[k] + (at[k] if order[k] % 2 == 0 else size[k] - at[k])
        return dt.stop_grad((image - self.speaker[None]).normalized())

    @dt.kernel
    def trace(self):
        """Follow all paths and add up their lengths."""
        for i in self.lengths:
            at, way, length = self.speaker[None], self.aim(self.orders[i]), 0.0
            for k in range(abs(self.orders[i]).sum()):
                hit = self.mesh.ray(at, way, _BEGIN)
                normal = self.mesh.normal(hit.face)
                at = self.mesh.position(hit.face, hit.u, hit.v)
                way -= 2.0 * way.dot(normal) * normal
                length += hit.t
                self.stops[i, k] = dt.stop_grad(at)
            self.lengths[i] = length + (self.microphone[None] - at).norm()

    @dt.kernel
    def compare(self):
        """Sum the squares of what the lengths are off by."""
        for i in self.lengths:
            self.loss[None] += 0.5 * (self.lengths[i] - self.heard[i]) ** 2

    def run(self) -> None:
        """Follow all paths, and write the loss [m^2]."""
        self.loss.fill(0.0)
        self.build()
        self.mesh.refit()
        self.trace()
        self.compare()


if __name__ == "__main__":
    echoes = Echoes(EchoScene())
    adam = dt.optim.Adam(echoes.size, 0.1)
    for _ in range(12):
        with dt.Tape(echoes.loss):
            echoes.run()
        print(f"loss {echoes.loss[None]:.6g} m^2, sides {np.round(echoes.size.to_numpy(), 3)} m")
        adam.step()
