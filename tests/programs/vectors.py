"""Vectors: fields of them, locals, components, products, lengths."""

import taichi as ti

from tests.harness import array, floats, ints, program

vec2, vec3, vec4 = ti.math.vec2, ti.math.vec3, ti.math.vec4


@program(
    x=array([[1, 2, 3]], (3,)),
    y=floats(1),
    expected={"y": [7]},
    gradients={"x": [[2, 1, 1]]},
    seeds={"y": 1},
)
def local_component_assignment(x, y):
    for i in x:
        v = x[i]
        v[0] *= 2
        y[i] = v.sum()


@program(
    x=array([[1, 2, 3, 4]], (4,)),
    k=ints([1]),
    y=floats(1),
    expected={"y": [14]},
    gradients={"x": [[1, 3, 3, 1]]},
    seeds={"y": 1},
)
def local_component_by_index(x, k, y):
    for i in x:
        v = x[i]
        j = k[i]
        v[j] = v[j] * v[j + 1]
        y[i] = v.sum()


@program(x=floats(3, element=(3,)), y=floats(3, element=(3,)))
def arithmetic(x, y):
    for i in x:
        y[i] = 2 * x[i] - y[i] * x[i] / (1 + x[i] * x[i]) + 1.5
        y[i] += -x[i]
        y[i] *= 0.5
        y[i] *= x[i]


@program(x=floats(3, element=(3,)), y=floats(3, element=(3,)), z=floats(3, element=(3,)))
def products(x, y, z):
    for i in x:
        a = x[i].cross(y[i])
        z[i] = a * x[i].dot(y[i]) + ti.math.cross(a, x[i]) * ti.math.dot(a, y[i])


@program(x=floats(3, element=(3,)), y=floats(3), z=floats(3, element=(3,)))
def lengths(x, y, z):
    for i in x:
        v = x[i]
        y[i] = v.norm() + v.norm_sqr() + ti.math.length(v + 1) + ti.math.distance(v, z[i])
        z[i] = v.normalized() + ti.math.normalize(z[i])


@program(
    x=array([[3, 0, 4], [0, 0, 0], [0, 2, 0]], (3,)),
    y=floats(3),
    expected={"y": [5 + 0.6, 0, 2]},
    gradients={"x": [[0.6 + 0.128, 0, 0.8 - 0.096], [0, 0, 0], [0.5, 1, 0]]},
    seeds={"y": 1},
    smooth=False,
)
def at_zero(x, y):
    for i in x:
        y[i] = x[i].norm() + x[i].normalized().x


@program(x=floats(3, element=(4,)), y=floats(3, element=(4,)))
def swizzles(x, y):
    for i in x:
        v = x[i]
        a = v.xy
        b = vec3(a, v.w)
        c = vec4(v.zyx, b.x * a.y)
        y[i] = c * v.wzyx + vec4(vec2(v.x), a)


@program(x=floats(3, element=(3,)), y=floats(3))
def components_read(x, y):
    for i in x:
        y[i] = x[i].x * x[i][1] + x[i].z * x[i].z


@program(x=floats(3), y=floats(3, element=(3,)))
def components_stored(x, y):
    for i in x:
        y[i].y = x[i] * x[i]
        y[i][2] = x[i] * y[i][0]


@program(x=floats(3), y=floats(3, element=(3,)))
def components_accumulated(x, y):
    for i in x:
        y[i][0] += x[i] * x[i]
        y[i].z -= x[i]
        y[i].y *= x[i]


@program(x=floats(4, element=(2,)), total=floats(element=(2,)))
def components_of_a_sum(x, total):
    for i in x:
        total[None].x += x[i].y * x[i].y
        total[None][1] += x[i].x


@program(x=floats(3), y=floats(3, element=(3,)))
def one_scalar_fills(x, y):
    for i in x:
        v = vec3(x[i])
        v.y = 2 * x[i] * x[i]
        y[i] = v + x[i]
        y[i] = y[i] * vec3(1, 2, 3)


@program(x=floats(3, element=(3,)), y=floats(3, element=(3,)))
def componentwise_functions(x, y):
    for i in x:
        v = ti.sin(x[i]) + ti.exp(0.5 * x[i])
        w = ti.max(v, 0.5) - ti.min(x[i], y[i])
        y[i] = ti.abs(w) * ti.math.clamp(v, 0.2, 0.9) + ti.math.mix(v, w, 0.25)


@program(x=floats(3, element=(2,)), y=floats(3))
def loop_over_components(x, y):
    for i in x:
        s = 0.0
        for k in range(2):
            s += x[i][k] * (k + 1)
        v = x[i]
        for k in range(2):
            v[k] = v[k] * s
            s += v[k] * v[k]
        y[i] = v.sum() * s


@program(
    x=array([0.1, -0.4, 0.7, 1.2, -0.9]),
    w=array([[1.0, 2.0, -0.5]], (3,)),
    y=floats(1),
    expected={"y": [22.8355]},
    gradients={"x": [1.385, -1.68, 9.195, 14.56, -19.075]},
    seeds={"y": 1},
)
def weighted_vector_sum(x, w, y):
    for i in y:
        s = ti.Vector([0.0, 0.0, 0.0])
        for j in range(x.shape[0]):
            s += (j + 1) * ti.Vector([x[j], x[j] * x[j], x[j] * x[j] * x[j]])
        y[i] = s.dot(w[i])


@program(x=floats(3, element=(2,)), y=floats(3))
def unpacked(x, y):
    for i in x:
        a, b = x[i]
        b, a = a * b, a + b
        y[i] = a * b


@program(x=floats(3, element=(2,)), y=floats(3, element=(2,)))
def vector_comparisons(x, y):
    for i in x:
        y[i] = ti.select(x[i] > 0, x[i] * x[i], -y[i])


@program(x=floats(2, element=(5,)), y=floats(2))
def five_components(x, y):
    for i in x:
        v = x[i] * x[i]
        y[i] = v.dot(x[i]) + v[4] * v.norm()


@program(x=floats(4), y=floats(4))
def filled_in_loops(x, y):
    for i in x:
        v = ti.math.vec2(x[i], 1.0)
        for k in range(3):
            y[i] += v[0] * v[1]
            v.fill(y[i] * (k + 1))
        while v.x > 0.5:
            v.fill(v.y - 0.5)
        y[i] = v.x * x[i]
