"""A material to be recovered from noisy measurements of the light that it reflects.

The model is from Walter et al. (EGSR 2007) with Schlick's Fresnel term over a diffuse base.

Run this file for a few steps of the optimisation; the demo `brdf-fit` does all of them.
"""

from dataclasses import dataclass

import numpy as np

import difftile as dt
from difftile import ti

BALL = 128  # pixels
LIGHTS = ((-0.5, 0.6, 0.62), (0.75, 0.1, 0.65))  # of the ball: to the right, up, to the eye
BRIGHT = 2.0  # how strong each of them is

vec2, vec3 = ti.math.vec2, ti.math.vec3


@dataclass(frozen=True, slots=True)
class Material:
    """The material of a surface.

    Attributes:
        diffuse: Part of the light that is scattered, red, green and blue, shape (3,).
        roughness: Of the facets on the surface, 0 to 1; the slopes spread by its square.
        f0: Part of the light that a facet mirrors straight back.
    """

    diffuse: np.ndarray
    roughness: float
    f0: float


@dataclass(frozen=True, slots=True)
class BrdfScene:
    """Measurements of a flat sample whose normal is the z axis.

    Attributes:
        lights: Directions to the light, shape (n, 3).
        views: Directions to the sensor, shape (n, 3).
        values: What the sensor reads [1/sr], red, green and blue, shape (n, 3): the reflected part
            times the cosine of the light's angle, with noise.
        noise: The standard deviation of their logarithms.
        material: What was measured.
        guess: What to begin with.
    """

    lights: np.ndarray
    views: np.ndarray
    values: np.ndarray
    noise: float
    material: Material
    guess: Material


def reflect(material: Material, lights: np.ndarray, views: np.ndarray) -> np.ndarray:
    """Return the part of the light that is reflected, times the cosine [1/sr], shape (n, 3)."""
    half = lights + views
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    nl, nv, nh = lights[:, 2], views[:, 2], half[:, 2]
    a2 = material.roughness**4
    facets = a2 / (np.pi * (nh**2 * (a2 - 1.0) + 1.0) ** 2)
    masking = 2.0 * nl * nv
    masking /= nv * np.sqrt(a2 + (1.0 - a2) * nl**2) + nl * np.sqrt(a2 + (1.0 - a2) * nv**2)
    fresnel = material.f0 + (1.0 - material.f0) * (1.0 - np.sum(views * half, axis=1)) ** 5
    mirrored = facets * masking * fresnel / (4.0 * nl * nv)
    return (material.diffuse / np.pi + mirrored[:, None]) * nl[:, None]


def make_scene(n: int = 4096, noise: float = 0.03, seed: int = 0) -> BrdfScene:
    """Return measurements of a rough red plastic.

    Every other one lies near the mirrored direction, where the highlight is.

    Args:
        n: Number of measurements.
        noise: The standard deviation of their logarithms.
        seed: Of directions and noise.
    """
    random = np.random.default_rng(seed)
    material = Material(np.array([0.62, 0.16, 0.09]), roughness=0.35, f0=0.05)
    guess = Material(np.array([0.3, 0.3, 0.3]), roughness=0.7, f0=0.2)
    lights, views = _upwards(random, n), _upwards(random, n)
    mirrored = lights[::2] * [-1.0, -1.0, 1.0] + 0.2 * random.standard_normal(lights[::2].shape)
    mirrored[:, 2] = np.maximum(mirrored[:, 2], 0.05)
    views[::2] = mirrored / np.linalg.norm(mirrored, axis=1, keepdims=True)
    values = reflect(material, lights, views)
    values *= np.exp(noise * random.standard_normal(values.shape))
    return BrdfScene(lights, views, values, noise, material, guess)


def _upwards(random: np.random.Generator, n: int) -> np.ndarray:
    """Draw directions evenly from the part of the hemisphere that is not grazing."""
    z, angle = random.uniform(0.1, 1.0, n), random.uniform(0.0, 2 * np.pi, n)
    side = np.sqrt(1.0 - z**2)
    return np.stack([side * np.cos(angle), side * np.sin(angle), z], axis=1)


@dt.func
def reflected(normal, light, view, diffuse, roughness, f0):
    """Return the part of the light that is reflected, times the cosine of its angle [1/sr].

    Facets are spread as by Walter et al. (Microfacet models for refraction, EGSR 2007), shadow each
    other as by Heitz (JCGT 2014, equation 99), and mirror as by Schlick (CGF 1994).
    """
    half = (light + view).normalized()
    nl, nv, nh = normal.dot(light), normal.dot(view), normal.dot(half)
    a2 = roughness**4
    facets = a2 / (ti.math.pi * (nh * nh * (a2 - 1.0) + 1.0) ** 2)
    shadowed = nv * ti.sqrt(a2 + (1.0 - a2) * nl * nl) + nl * ti.sqrt(a2 + (1.0 - a2) * nv * nv)
    fresnel = f0 + (1.0 - f0) * (1.0 - view.dot(half)) ** 5
    return nl * (diffuse / ti.math.pi + facets * fresnel / (2.0 * shadowed))


@dt.data_oriented
class BrdfFit:
    """A material, `diffuse`, `roughness` and `f0`, and the measurements to match.

    Args:
        scene: The measurements.
        dtype: Of the numbers.
    """

    def __init__(self, scene: BrdfScene, dtype=ti.f32):
        vector = dt.vec(3, dtype)
        self.lights = dt.from_numpy(scene.lights, dtype=vector)
        self.views = dt.from_numpy(scene.views, dtype=vector)
        self.values = dt.from_numpy(scene.values, dtype=vector)
        self.diffuse = dt.from_numpy(scene.guess.diffuse, dtype=vector, grad=True)
        self.roughness = dt.full((), scene.guess.roughness, dtype, grad=True)
        self.f0 = dt.full((), scene.guess.f0, dtype, grad=True)
        self.ball = dt.zeros((BALL, BALL), vector)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"diffuse": self.diffuse, "roughness": self.roughness, "f0": self.f0}

    @dt.kernel
    def run(self):
        """The mean squared error of logarithms: noise grows with the light."""
        self.loss[None] = 0.0
        for i in self.values:
            expected = reflected(
                vec3(0.0, 0.0, 1.0),
                self.lights[i],
                self.views[i],
                self.diffuse[None],
                self.roughness[None],
                self.f0[None],
            )
            off = ti.log(expected / self.values[i])
            self.loss[None] += ti.math.dot(off, off) / (3 * self.values.shape[0])

    @dt.kernel
    def light_ball(self):
        """Light a ball of the material, which the eye sees from afar."""
        for i, j in self.ball:
            at = 2.1 * vec2(j + 0.5 - BALL / 2, BALL / 2 - i - 0.5) / BALL
            colour = vec3(0.02)
            if at.norm_sqr() < 1.0:
                normal = vec3(at.x, at.y, ti.sqrt(1.0 - at.norm_sqr()))
                colour = 0.02 * self.diffuse[None]
                for k in ti.static(range(len(LIGHTS))):
                    light = vec3(LIGHTS[k][0], LIGHTS[k][1], LIGHTS[k][2]).normalized()
                    if normal.dot(light) > 0.0:
                        colour += BRIGHT * reflected(
                            normal,
                            light,
                            vec3(0.0, 0.0, 1.0),
                            self.diffuse[None],
                            self.roughness[None],
                            self.f0[None],
                        )
            self.ball[i, j] = colour

    def picture(self) -> np.ndarray:
        """Return the ball, linear light, shape (rows, columns, 3)."""
        self.light_ball()
        return self.ball.to_numpy()

    def put(self, material: Material) -> None:
        """Take a material."""
        self.diffuse.from_numpy(material.diffuse)
        self.roughness[None], self.f0[None] = material.roughness, material.f0

    def off(self, material: Material) -> dict[str, float]:
        """Return the error of each parameter of a material; of colours the largest."""
        return {
            "diffuse": float(np.abs(self.diffuse.to_numpy() - material.diffuse).max()),
            "roughness": abs(self.roughness[None] - material.roughness),
            "f0": abs(self.f0[None] - material.f0),
        }


if __name__ == "__main__":
    surface = BrdfFit(make_scene(1024))
    descent = dt.optim.Adam(surface.parameters, 0.04, low=0.02, high=1.0)
    for _ in range(8):
        with dt.Tape(surface.loss):
            surface.run()
        print(f"loss {surface.loss[None]:.6f}")
        descent.step()
