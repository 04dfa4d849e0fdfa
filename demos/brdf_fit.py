"""Recover a surface material from noisy measurements of the light that it reflects.

The model, mirroring microfacets over a diffuse base, is a single func. One kernel compares it with
thousands of measurements, another renders a lit ball. Gradients find five numbers.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import taichi as ti

import difftile as dt
from demos.support.fits import (
    PictureFit,
    fit_pictures,
    psnr,
    save_fit_animation,
    save_fit_curve,
    save_fit_strip,
)
from demos.support.options import make_parser, start
from demos.support.training import print_check
from difftile.arguments import positive_int
from scenes.brdf import BrdfScene, Material, make_scene

STEP_SIZE, SHORTER = 0.04, 0.98  # of Adam, and its factor from step to step
SMOOTHEST = 0.02  # roughness: below it a highlight lies between the measurements
BALL = 128  # pixels
LIGHTS = ((-0.5, 0.6, 0.62), (0.75, 0.1, 0.65))  # of the ball: to the right, up, to the eye
BRIGHT = 2.0  # how strong each of them is

vec2, vec3 = ti.math.vec2, ti.math.vec3


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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("brdf-fit", __doc__, iterations=200, memory=False)
    parser.add_argument(
        "--samples", type=positive_int, default=4096, help="measurements; default: %(default)s"
    )
    options = start(parser, argv)
    scene = make_scene(options.samples, seed=options.seed)
    if options.check:
        return print_check(BrdfFit(scene, ti.f64), "roughness")

    fitted = BrdfFit(scene)
    fitted.put(scene.material)
    target = fitted.picture()
    fitted.put(scene.guess)
    rate = dt.optim.schedules.exponential(STEP_SIZE, SHORTER)
    descent = dt.optim.Adam(fitted.parameters, rate, low=SMOOTHEST, high=1.0)
    fit = fit_pictures(
        fitted,
        descent,
        options.iterations,
        "finding it",
        picture=fitted.picture,
        quality=lambda: psnr(fitted.picture(), target),
    )
    if fit is None:
        return 130  # interrupted before there was anything to show
    print(fit)
    for name, off in fitted.off(scene.material).items():
        print(f"{name:9} is {off:.5f} off")
    spread = np.sqrt(min(fit.training.losses))
    print(f"measurements are {spread:.4f} off in logarithms; their noise is {scene.noise:.4f}")
    if not options.no_pictures:
        draw(options.out, fit, target)
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, fit: PictureFit, target: np.ndarray) -> None:
    """Write the pictures."""
    save_fit_strip(out / "strip.png", [("", target, fit.frames[0], fit.result)], linear=True)
    save_fit_curve(out / "curve.png", fit, "mean square of logarithms")
    save_fit_animation(out / "ball.gif", fit, target, linear=True)


if __name__ == "__main__":
    sys.exit(main())
