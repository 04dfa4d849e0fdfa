"""Structs as arguments: of numbers, of fields, and of both."""

import dataclasses
from typing import Any

import taichi as ti

import difftile as dt
from tests.harness import array, floats, held, program
from tests.programs.structs import Ball


@dataclasses.dataclass
class Spring:
    k: float
    rest: Any
    links: int = 2

    @dt.func
    def force(self, x):
        return -self.k * (x - self.rest)


@dataclasses.dataclass(frozen=True)
class Chain:
    x: Any
    v: Any
    spring: Spring
    damped: bool = True

    @dt.func
    def pull(self, i, h):
        for _ in range(self.spring.links):
            self.v[i] += h * self.spring.force(self.x[i])


wind = ti.Struct(speed=2.0, direction=ti.Vector([0.6, 0.8]), gusts=ti.Struct(low=1, high=3))


@program(x=floats(4, element=(2,)), y=floats(4), wind=wind)
def blown(x, y, wind):
    for i in x:
        for k in range(wind.gusts.low, wind.gusts.high):
            y[i] += wind.speed * k * wind.direction.dot(x[i]) ** 2


@program(x=floats(4), spring=Spring(0.5, 1.5), h=0.125)
def relaxed(x, spring, h: float):
    for i in x:
        for _ in range(spring.links):
            x[i] += h * spring.force(x[i]) * x[i]


@program(
    x=array([1.0, 2.0]),
    ball=Ball(pos=ti.math.vec2(1, 2), vel=ti.math.vec2(0, 1), r=2.0),
    expected={"x": [12 * 2.5, 12 * 4.5]},
)
def energies(x, ball: Ball):
    for i in x:
        x[i] = ball.energy(x[i])


@program(x=floats(3), ball={"pos": (1.0, -2), "vel": [0.5, 0.25], "r": 0.5})
def stepped(x, ball: Ball):
    for i in x:
        b = ball
        b.steps(2, x[i])
        x[i] = b.pos.dot(b.vel) + ball.pos.x


@program(
    chain=held(Chain, x=floats(5), v=floats(5), spring=Spring(2.0, 0.25, 3)),
    h=0.125,
)
def chained(chain, h: float):
    for i in chain.x:
        chain.pull(i, h)
        if ti.static(chain.damped):
            chain.v[i] *= 0.5
    for i in chain.v:
        chain.x[i] += h * chain.v[i] ** 2


@program(
    scene=held(
        ti.Struct,
        balls=held(ti.Struct, pos=floats(4, element=(2,)), weights=floats(4)),
        loss=floats(),
        target=(0.5, -0.5),
        scale=2,
    )
)
def missed(scene):
    for i in scene.balls.pos:
        gap = scene.balls.pos[i] - scene.target
        scene.loss[None] += scene.scale * scene.balls.weights[i] * gap.norm_sqr()
