"""Singular values, eigenvalues and polar factors of 2x2 and 3x3 matrices, for kernels.

The same steps as in `ops.decompositions`, which documents the results. Taichi's own are not
used: its 2x2 ones leave errors of 1e-5 in either precision, its 3x3 eigenvectors the errors of a
cubic equation. Loops are `while` loops, which never run in parallel; the literals are exact in f32.
"""

# Functions of Taichi's language: their annotations are objects, and what they index has no types.
# pyrefly: ignore-errors[implicit-any, invalid-annotation, unannotated-return]
# pyrefly: ignore-errors[unknown-argument-type, unknown-attribute-access]
# pyrefly: ignore-errors[unknown-return-type, unknown-variable-type]
# pyrefly: ignore-errors[untyped-function-decorator]

from difftile.substrate.compiler import ti

_SWEEPS = 12  # more than are ever needed; five do in f64


@ti.func
def _tiny(dtype: ti.template()):
    """The largest number that is negligible compared with 1."""
    return ti.cast(ti.static(1e-14 if dtype == ti.f64 else 1e-6), dtype)


@ti.func
def _turn(first, second, mixed):
    apart = second - first
    root = ti.sqrt(apart * apart + 4 * mixed * mixed)
    below = ti.select(apart < 0, apart - root, apart + root)
    tangent = mixed * 0
    if below != 0:
        tangent = 2 * mixed / below
    cosine = 1 / ti.sqrt(1 + tangent * tangent)
    return ti.Vector([cosine, cosine * tangent])


@ti.func
def _rotate(b: ti.template(), p: ti.template(), q: ti.template(), turn):
    for i in ti.static(range(b.n)):
        left = b[i, p]
        b[i, p] = turn[0] * left - turn[1] * b[i, q]
        b[i, q] = turn[1] * left + turn[0] * b[i, q]


@ti.func
def _rotate_rows(b: ti.template(), p: ti.template(), q: ti.template(), turn):
    for i in ti.static(range(b.n)):
        left = b[p, i]
        b[p, i] = turn[0] * left - turn[1] * b[q, i]
        b[q, i] = turn[1] * left + turn[0] * b[q, i]


@ti.func
def _swap(b: ti.template(), p: ti.template(), q: ti.template()):
    for i in ti.static(range(b.n)):
        left = b[i, p]
        b[i, p] = b[i, q]
        b[i, q] = -left


@ti.func
def _column(b, j: ti.template()):
    return ti.Vector([b[i, j] for i in ti.static(range(b.n))])


@ti.func
def _identity(like):
    """The identity in the number type of a matrix."""
    n = ti.static(like.n)
    one = like[0, 0] * 0 + 1
    return ti.Matrix(
        [[one if i == j else one * 0 for j in ti.static(range(n))] for i in ti.static(range(n))]
    )


@ti.func
def _largest(a):
    size = a[0, 0] * 0
    for i, j in ti.static(ti.ndrange(a.n, a.n)):
        size = ti.max(size, ti.abs(a[i, j]))
    return size


@ti.func
def _unit(v, otherwise):
    result = otherwise
    size = v.norm()
    if size > 0:
        result = v / size
    return result


@ti.func
def _normal_part(u, b, tiny):
    """The direction of b at a right angle to u; any, where b is along u."""
    rest = b - u.dot(b) * u
    if rest.norm() <= tiny:
        axis = u * 0
        size = ti.abs(u)
        if size[0] <= size[1] and size[0] <= size[2]:
            axis[0] = 1
        elif size[1] <= size[2]:
            axis[1] = 1
        else:
            axis[2] = 1
        rest = u.cross(axis)
    return rest


@ti.func
def svd(a, dtype: ti.template()):
    """Return U, the singular values and V in one vector."""
    n = ti.static(a.n)
    pairs = ti.static([(0, 1)] if n == 2 else [(0, 1), (0, 2), (1, 2)])
    tiny = _tiny(dtype)
    scale = _largest(a)
    b = a
    if scale > 0:
        b = a / scale  # squares stay within the range of f32
    v = _identity(a)
    sweeps = _SWEEPS
    while sweeps > 0:
        sweeps -= 1
        done = 1
        for p, q in ti.static(pairs):
            first, second = _column(b, p), _column(b, q)
            product = first.dot(second)
            if ti.abs(product) > tiny * first.norm() * second.norm():
                done = 0
            turn = _turn(first.norm_sqr(), second.norm_sqr(), product)
            _rotate(b, p, q, turn)
            _rotate(v, p, q, turn)
        if done:
            break
    for p, q in ti.static(pairs):
        if _column(b, p).norm_sqr() < _column(b, q).norm_sqr():
            _swap(b, p, q)
            _swap(v, p, q)
    u = _identity(a)
    first = _unit(_column(b, 0), _column(u, 0))
    if ti.static(n == 2):
        second = ti.Vector([-first[1], first[0]])
        if second.dot(_column(b, 1)) < 0:
            second = -second
        u = ti.Matrix.cols([first, second])
    else:
        rest = _normal_part(first, _column(b, 1), tiny * _column(b, 0).norm())
        rest = rest - first.dot(rest) * first
        second = _unit(rest, _column(u, 1))
        u = ti.Matrix.cols([first, second, first.cross(second)])
    s = [_column(u, j).dot(_column(b, j)) * scale for j in ti.static(range(n))]
    return ti.Vector(
        [u[i, j] for i in ti.static(range(n)) for j in ti.static(range(n))]
        + s
        + [v[i, j] for i in ti.static(range(n)) for j in ti.static(range(n))]
    )


@ti.func
def sym_eig(a, dtype: ti.template()):
    """Return the eigenvalues and, as columns, the eigenvectors in one vector."""
    n = ti.static(a.n)
    pairs = ti.static([(0, 1)] if n == 2 else [(0, 1), (0, 2), (1, 2)])
    tiny = _tiny(dtype)
    scale = _largest(a)
    b = (a + a.transpose()) * 0
    if scale > 0:
        b = (a / scale + a.transpose() / scale) / 2
    q = _identity(a)
    sweeps = _SWEEPS
    while sweeps > 0:
        sweeps -= 1
        done = 1
        for i, j in ti.static(pairs):
            if ti.abs(b[i, j]) > tiny:
                done = 0
            turn = _turn(b[i, i], b[j, j], b[i, j])
            _rotate(b, i, j, turn)
            _rotate_rows(b, i, j, turn)
            _rotate(q, i, j, turn)
        if done:
            break
    values = ti.Vector([b[i, i] * scale for i in ti.static(range(n))])
    for i, j in ti.static(pairs):
        if (values[i] < values[j]) == ti.static(n == 2):
            left = values[i]
            values[i] = values[j]
            values[j] = left
            _swap(q, i, j)
    return ti.Vector(
        [values[i] for i in ti.static(range(n))]
        + [q[i, j] for i in ti.static(range(n)) for j in ti.static(range(n))]
    )


@ti.func
def polar(a, dtype: ti.template()):
    """Return the orthogonal and the symmetric factor in one vector."""
    n = ti.static(a.n)
    u = _identity(a)
    if ti.static(n == 2):
        scale = _largest(a)
        if scale > 0:
            b = a / scale
            sign = ti.select(b.determinant() < 0, -1, 1)
            first = ti.Vector([b[0, 0] + sign * b[1, 1], b[1, 0] - sign * b[0, 1]]).normalized()
            u = ti.Matrix([[first[0], -sign * first[1]], [first[1], sign * first[0]]])
    else:
        parts = svd(a, dtype)
        w = ti.Matrix(
            [[parts[3 * i + j] for j in ti.static(range(3))] for i in ti.static(range(3))]
        )
        v = ti.Matrix(
            [[parts[12 + 3 * i + j] for j in ti.static(range(3))] for i in ti.static(range(3))]
        )
        u = w @ v.transpose()
    p = u.transpose() @ a
    return ti.Vector(
        [u[i, j] for i in ti.static(range(n)) for j in ti.static(range(n))]
        + [(p[i, j] + p[j, i]) / 2 for i in ti.static(range(n)) for j in ti.static(range(n))]
    )
