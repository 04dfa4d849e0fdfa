"""Structs: fields of them, locals, nested ones, methods, through funcs, loops and branches."""

import taichi as ti

import difftile as dt
from tests.harness import array, floats, ints, program, structs

Particle = ti.types.struct(pos=ti.math.vec3, m=ti.f32)


@ti.dataclass
class Ball:
    pos: ti.math.vec2
    vel: ti.math.vec2
    r: ti.f32

    @dt.func
    def area(self):
        return 3.0 * self.r * self.r

    @dt.func
    def energy(self, g):
        return self.area() * (0.5 * self.vel.dot(self.vel) + g * self.pos.y)

    @ti.func
    def step(self, h):
        self.vel -= h * self.pos * self.r
        self.pos += h * self.vel
        if self.pos.x > 0:
            self.vel.x *= 0.5

    @dt.func
    def stepped(self, h):
        self.step(h)
        return self

    @dt.func
    def steps(self, n, h):
        for _ in range(n):
            self.step(h)


Spring = ti.types.struct(k=ti.f32, ends=ti.math.ivec2)
Body = ti.types.struct(ball=Ball, spring=Spring, weight=ti.f32)


@dt.func
def mixed(a, b, t):
    return Particle(pos=a.pos * (1 - t) + b.pos * t, m=a.m * b.m)


@dt.func
def heavier(a, b):
    if a.m > b.m:
        return a, b.m
    q = Particle(b.pos, 0)
    return q, 0


@dt.func
def doubled(q):
    q.m *= 2.0
    q.pos.x += q.m
    return q


@dt.func
def shifted(q: ti.template(), by):
    q.pos += by
    q.m *= q.pos.x


@program(
    s=structs(a=array([3.0]), b=array([2.0])),
    expected={"s.a": [2.0]},
    gradients={"s.b": [1.0], "s.a": [0.0]},
    seeds={"s.a": 1},
)
def members_of_one_element(s):  # MU11
    for i in s:
        s[i].a = s[i].b


@program(
    p=structs(pos=floats(4, element=(3,)), m=floats(4)),
    q=structs(pos=floats(4, element=(3,)), m=floats(4)),
    k=ints([2, 0, 3, 1]),
)
def elements_and_copies(p, q, k):
    for i in p:
        a = p[i]
        b = p[k[i]]
        a.pos *= b.m
        a.pos.x += b.pos.y * a.m
        a.m = a.pos.z
        q[i].m += a.m * q[i].pos.xy.norm()
        q[i].pos.yz = b.pos.xy * a.m
        q[i].pos.x -= a.pos.dot(b.pos)
        q[i].pos *= 2.0


@program(
    p=structs(pos=floats(4, element=(3,)), m=floats(4)),
    q=structs(pos=floats(4, element=(3,)), m=floats(4)),
    y=floats(4),
)
def through_funcs(p, q, y):
    for i in p:
        c = mixed(p[i], p[3 - i], 0.25)
        d, m = heavier(c, p[i])
        e = doubled(d)
        shifted(d, e.pos * m)
        q[i] = d
        f = Particle(m=e.m)
        f.pos.z = d.m
        shifted(q[i], f.pos)
        y[i] = e.m + d.pos.sum() * f.pos.z


@program(
    b=structs(Ball, pos=floats(3, element=(2,)), vel=floats(3, element=(2,)), r=floats(3)),
    y=floats(3),
    n=5,
)
def methods(b, y, n: int):
    for i in b:
        y[i] = b[i].energy(9.8) + b[i].area()
        a = b[i]
        a.step(0.1)
        c = a.stepped(0.2)
        for t in range(n):
            if t % 2 == 0:
                c.step(0.1 * c.r)
            a.steps(2, 0.05)
        y[i] += a.energy(1.0) * c.pos.x + Ball(r=c.vel.y).area()


@program(
    b=structs(Ball, pos=floats(3, element=(2,)), vel=floats(3, element=(2,)), r=floats(3)),
)
def methods_of_elements(b):
    for i in b:
        b[i].step(0.1)


@program(p=structs(pos=floats(4, element=(3,)), m=floats(4)), y=floats(4), n=9)
def in_loops_and_branches(p, y, n: int):
    for i in p:
        q = p[i]
        best = ti.Struct(at=0, value=ti.sin(q.m))
        pair = (q.m, q.pos)
        for t in range(n):
            if q.m > 0.1:
                q.m = 0.7 * q.m * ti.cos(q.pos.y)
                q.pos.y += q.m
            else:
                q = Particle(q.pos.zxy * 0.9, 0.5 + q.m * q.m)
            if ti.sin(q.m) > best.value:
                best = ti.Struct(at=t, value=ti.sin(q.m) * q.pos.x)
            pair = (pair[0] * 0.9 + pair[1].x * q.m, pair[1] * 0.8)
        while q.m < 0.6 and best.at < 100:
            q.m += 0.25 * (1.2 + ti.sin(q.pos.x))
            best.at += 1
        y[i] = q.m * best.value + q.pos.norm_sqr() + pair[0] * pair[1].z


@program(
    o=structs(
        ball=structs(Ball, pos=floats(3, element=(2,)), vel=floats(3, element=(2,)), r=floats(3)),
        spring=structs(k=floats(3), ends=ints([[0, 1], [2, 0], [1, 2]], element=(2,))),
        weight=floats(3),
    ),
    y=floats(3),
)
def nested(o, y):
    for i in o:
        a = o[i]
        j = a.spring.ends.y
        a.ball.step(0.1 * a.weight)
        a.spring.k *= o[j].ball.pos.x
        y[i] += o[j].ball.energy(1.0) * a.ball.vel.x
        c = Body(Ball(a.ball.pos, a.ball.vel), Spring(k=a.spring.k), 2)
        c.ball.r = a.spring.k * c.weight
        c.ball = c.ball.stepped(0.3)
        c.spring.ends[0] += j
        if c.spring.ends.x == 1:
            c.ball.pos.x = 0.5 * c.weight
        y[i] += c.ball.area() + c.ball.pos.dot(c.ball.vel)


@program(
    p=structs(pos=floats(4, element=(3,)), m=floats(4)), total=floats(), c=floats(element=(3,))
)
def sums(p, total, c):
    for i in p:
        q = p[i]
        total[None] += q.m * q.pos.norm_sqr()
    for i in p:
        c[None] += p[i].pos * p[i].m
    for i in range(p.shape[0]):
        p[i].m /= 2.0 + len(p)
