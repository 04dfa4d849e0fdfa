"""A material to be recovered from noisy measurements of the light that it reflects.

The model is from Walter et al. (EGSR 2007) with Schlick's Fresnel term over a diffuse base. This
module holds only data, made with NumPy; the differentiable model is in `demos/brdf_fit.py`.
"""

from dataclasses import dataclass

import numpy as np


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
