"""`dt.sparse_hessian` against dense Hessians, differences of gradients, and NumPy.

The errors of functions that are not such sums are in `tests/wrong/sparse_hessians.txt`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt

sparse: Any = importlib.import_module("scipy.sparse") if find_spec("scipy") else None

POINTS = 7
CORNERS = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1.5]), axis=-1).reshape(-1, 3)[:POINTS]
HINGES = [[0, 3, 1, 2], [1, 4, 0, 5], [2, 6, 3, 4], [5, 0, 6, 1], [3, 2, 4, 6], [6, 4, 5, 1]]


@pytest.fixture
def rng() -> Any:
    return np.random.default_rng(19)


@pytest.fixture(autouse=True, scope="module")
def taichi() -> Iterator[None]:
    if sparse is None:
        pytest.skip("SciPy is not installed")
    dt.init()
    yield


def vectors(values: Any, dtype: Any = ti.f64) -> Any:
    array = np.asarray(values)
    made = dt.field(dt.vec(array.shape[-1], dtype), array.shape[:-1])
    made.from_numpy(array.astype(np.float32 if dtype is ti.f32 else np.float64))
    return made


def points(rng: Any, dtype: Any = ti.f64) -> Any:
    """Return points whose distances are moderate."""
    return vectors(CORNERS + rng.uniform(-0.2, 0.2, CORNERS.shape), dtype)


def integers(values: Any) -> Any:
    return dt.from_numpy(np.asarray(values, np.int32))


def number(dtype: Any = ti.f64) -> Any:
    return dt.zeros((), dtype=dtype)


def dense(f: Callable[[Any], Any], x: Any) -> Any:
    found = dt.hessian(f)(x)
    size = int(np.prod(x.to_numpy().shape))
    return np.asarray(found).reshape(size, size)


def agree_with_differences(f: Callable[[Any], Any], x: Any, hessian: Any, tolerance: float) -> None:
    """Compare products with central differences of the gradient, of the fourth order."""
    start, h = x.to_numpy(), 1e-3
    for number in range(2):
        along = np.random.default_rng(number).normal(size=start.shape)
        gradients = []
        for step in (1, -1, 2, -2):
            x.from_numpy(start + step * h * along)
            gradients.append(dt.grad(f)(x).to_numpy().ravel())
        x.from_numpy(start)
        near, far = gradients[0] - gradients[1], gradients[2] - gradients[3]
        wanted = (8 * near - far) / (12 * h)
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(hessian @ along.ravel(), wanted, rtol=0, atol=tolerance * scale)


def agree(found: Any, wanted: Any, tolerance: float = 1e-12) -> None:
    array = found.toarray()
    scale = np.abs(wanted).max()
    assert scale > 0
    np.testing.assert_allclose(array, wanted, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(array, array.T, rtol=0, atol=1e-15 * scale)


# Energies


@dt.kernel
def stretch(x, edges, rest, k: float, energy):
    for e in rest:
        d = x[edges[e, 0]] - x[edges[e, 1]]
        energy[None] += 0.5 * k * (d.norm() - rest[e]) ** 2


@dt.func
def angle(a, b, c, d):
    edge = b - a
    left, right = edge.cross(c - a), (d - a).cross(edge)
    return ti.atan2(left.cross(right).dot(edge) / edge.norm(), left.dot(right))


@dt.kernel
def bend(x, hinges, k: float, energy):
    for h in range(hinges.shape[0]):
        theta = angle(x[hinges[h, 0]], x[hinges[h, 1]], x[hinges[h, 2]], x[hinges[h, 3]])
        energy[None] += k * (theta - 0.3) ** 2


@dt.kernel
def membrane(x, triangles, inverse, mass, target):
    total = 0.0
    for t in inverse:
        a, b, c = x[triangles[t, 0]], x[triangles[t, 1]], x[triangles[t, 2]]
        f = ti.Matrix.cols([b - a, c - a]) @ inverse[t]
        strain = 0.5 * (f.transpose() @ f - ti.Matrix.identity(float, 2))
        total += (strain * strain).sum() + 0.5 * strain.trace() ** 2
    for i in x:
        total += 0.5 * mass[i] * (x[i] - target[i]).norm_sqr()
    return total


@dt.kernel
def near(x, neighbours, reach: float, energy):
    for i in x:
        for j in range(3):
            if neighbours[i, j] >= 0:
                d = x[neighbours[i, j]] - x[i]
                if d.norm() < reach:
                    energy[None] += ti.exp(-d.norm_sqr()) + x[i][0] ** 3 * x[i].y


def test_springs_that_share_points_and_have_equal_ends(rng: Any) -> None:
    x, energy = points(rng), number()
    ends = rng.integers(0, POINTS, (12, 2))
    ends[3] = ends[2][::-1]
    ends[5] = 4, 4  # a spring without length: both parts count
    edges, rest = integers(ends), dt.from_numpy(rng.uniform(0.5, 1.5, 12))

    def f(x: Any) -> Any:
        total = number()
        stretch(x, edges, rest, 2.0, total)
        return total

    hessian = dt.sparse_hessian(stretch)
    found = hessian(x, edges, rest, k=2.0, energy=energy)
    assert sparse.issparse(found) and found.format == "csr" and found.has_canonical_format
    agree(found, dense(f, x))
    agree(dt.sparse_hessian(f)(x), found.toarray())
    assert energy[None] == pytest.approx(f(x)[None])
    others = np.delete(ends, 5, axis=0)  # where differences exist
    edges.from_numpy(np.concatenate([others, others[:1]]).astype(np.int32))
    agree_with_differences(f, x, hessian(x, edges, rest, 2.0, energy), 1e-9)


def test_several_energies_add_up(rng: Any) -> None:
    x, hinges = points(rng), integers(HINGES)
    edges, rest = integers([[0, 1], [3, 4], [6, 2]]), dt.ones(3, dtype=ti.f64)

    def f(x: Any) -> Any:
        bending, stretching = number(), number()
        bend(x, hinges, 0.7, bending)
        stretch(x, edges, rest, 2.0, stretching)
        stretch(x, edges, rest, 0.5, stretching)
        return 0.5 * bending + stretching / 3.0

    wanted = dense(f, x)
    agree(dt.sparse_hessian(f)(x), wanted)
    agree_with_differences(f, x, dt.sparse_hessian(f)(x), 1e-7)

    def once(x: Any) -> Any:
        total = number()
        bend(x, hinges, 0.7, total)
        return total

    def again(x: Any) -> Any:
        total = number()
        bend(x, hinges, 3.0, total)
        total.fill(0.0)  # what was added before does not count
        bend(x, hinges, 0.7, total)
        return total

    agree(dt.sparse_hessian(again)(x), dt.sparse_hessian(once)(x).toarray())


def test_a_kernel_that_returns_the_sum(rng: Any) -> None:
    x, triangles = points(rng), integers([h[:3] for h in HINGES])
    inverse = dt.field(dt.mat(2, 2, ti.f64), 6)
    inverse.from_numpy(rng.normal(size=(6, 2, 2)))
    mass, target = dt.from_numpy(rng.uniform(1, 2, POINTS)), points(rng)

    @dt.kernel
    def added(x, triangles, inverse, mass, target, energy):
        for t in inverse:
            a, b, c = x[triangles[t, 0]], x[triangles[t, 1]], x[triangles[t, 2]]
            f = ti.Matrix.cols([b - a, c - a]) @ inverse[t]
            strain = 0.5 * (f.transpose() @ f - ti.Matrix.identity(float, 2))
            energy[None] += (strain * strain).sum() + 0.5 * strain.trace() ** 2
        for i in x:
            energy[None] += 0.5 * mass[i] * (x[i] - target[i]).norm_sqr()

    def f(x: Any) -> Any:
        total = number()
        added(x, triangles, inverse, mass, target, total)
        return total

    found = dt.sparse_hessian(membrane)(x, triangles, inverse, mass, target)
    agree(found, dense(f, x))

    def halves(x: Any) -> Any:
        first = membrane(x, triangles, inverse, mass, target)
        return 0.25 * first + membrane(x, triangles, inverse, mass, target) * 0.75

    agree(dt.sparse_hessian(halves)(x), found.toarray())
    part = vectors(rng.normal(size=(POINTS + 2, 3)))
    with pytest.raises(dt.LaunchError, match="is a view of a field"):
        dt.sparse_hessian(membrane)(part[1:-1], triangles, inverse, mass, target)


def test_neighbours_in_loops_and_branches(rng: Any) -> None:
    x = points(rng)
    lists = rng.integers(-1, POINTS, (POINTS, 3))
    lists[0] = -1, 2, 2  # repeated
    lists[1] = 1, -1, -1  # itself
    neighbours = integers(lists)

    def f(x: Any) -> Any:
        total = number()
        near(x, neighbours, 1.7, total)
        return total

    hessian = dt.sparse_hessian(f)
    agree(hessian(x), dense(f, x))
    x.from_numpy(0.3 * x.to_numpy())  # other pairs are in reach
    agree(hessian(x), dense(f, x))


@pytest.mark.parametrize("case", ["springs", "hinges"])
def test_terms_made_positive_semidefinite(rng: Any, case: str) -> None:
    """Against NumPy: the nearest such matrix to the Hessian of each term by itself."""
    x = points(rng)
    lists = [h[:2] if case == "springs" else h for h in HINGES]

    def of(chosen: list[Any]) -> Callable[[Any], Any]:
        indices, length = integers(chosen), dt.full(len(chosen), 2.0, dtype=ti.f64)

        def f(x: Any) -> Any:
            total = number()
            if case == "springs":
                stretch(x, indices, length, 2.0, total)
            else:
                bend(x, indices, 0.7, total)
            return total

        return f

    wanted = np.zeros((3 * POINTS, 3 * POINTS))
    for one in lists:
        values, axes = np.linalg.eigh(dense(of([one]), x))
        wanted += (axes * np.maximum(values, 0)) @ axes.T
    found = dt.sparse_hessian(of(lists), psd=True)(x)
    agree(found, wanted)
    assert np.linalg.eigvalsh(found.toarray())[0] > -1e-12 * np.abs(wanted).max()
    assert np.linalg.eigvalsh(dense(of(lists), x))[0] < -1e-3 * np.abs(wanted).max()


# Fields, types and what a term may compute


@dt.kernel
def chain(x, k: float, energy):
    for i in range(x.shape[0] - 1):
        energy[None] += ti.exp(x[i + 1] - x[i]) + k * x[i] ** 4


@dt.kernel
def grid(u, masks, energy):
    for i, j in ti.ndrange((1, 4), u.shape[1] - 1):
        right, down = u[i, j + 1] - u[i, j], u[i - 1, j] - u[i, j]
        if masks[i, j] > 0:
            energy[None] += ti.sqrt(1.0 + right**2 + down**2)


@dt.kernel
def matrices(f, energy):
    for i in range(f.shape[0] - 1):
        energy[None] += f[i].determinant() ** 2 + (f[i] @ f[i + 1]).trace()


@dt.kernel
def components(x, energy):
    for i in range(x.shape[0] - 1):
        energy[None] += x[i][0] * x[i + 1][2] ** 2 + ti.sin(x[i][0])


def test_fields_of_numbers_and_matrices_and_grids(rng: Any) -> None:
    cases: list[tuple[Any, Any, tuple[Any, ...]]] = [
        (chain, dt.from_numpy(rng.normal(size=5)), (0.7,)),
        (grid, dt.from_numpy(rng.normal(size=(5, 4))), (integers(rng.integers(0, 2, (5, 4))),)),
        (components, points(rng), ()),
    ]
    f = dt.field(dt.mat(2, 2, ti.f64), 4)
    f.from_numpy(rng.normal(size=(4, 2, 2)))
    cases.append((matrices, f, ()))
    for kernel, x, rest in cases:

        def of(x: Any, kernel: Any = kernel, rest: Any = rest) -> Any:
            total = number()
            kernel(x, *rest, total)
            return total

        found = dt.sparse_hessian(kernel)(x, *rest, number())
        agree(found, dense(of, x))
    # Components that no term uses together have no entries but zeros.
    assert np.count_nonzero(dt.sparse_hessian(components)(points(rng), number()).toarray()) > 0


@dt.kernel
def neighbouring(a, b, energy):
    for i in b:
        energy[None] += ti.exp(a[i] - b[i]) + a[i] ** 2 * b[i]


@dt.kernel
def rows(u, energy):
    for i, j in u:
        energy[None] += u[i, j] ** 4 * u[0, j]


def test_parts_and_other_shapes_of_the_field(rng: Any) -> None:
    def f(x: Any) -> Any:
        total = number()
        neighbouring(x[:-1], x[1:], total)
        neighbouring(x[::2], x[1::2], total)
        rows(x.view(2, 3), total)
        return total

    x = dt.from_numpy(rng.normal(size=6))
    agree(dt.sparse_hessian(f)(x), dense(f, x))


def test_single_precision_and_arrays(rng: Any) -> None:
    values = rng.normal(size=6).astype(np.float32)
    exact = dt.sparse_hessian(chain)(values.astype(np.float64), 0.7, number())
    found = dt.sparse_hessian(chain)(values, 0.7, number(ti.f32))
    assert found.dtype == np.float32 and exact.dtype == np.float64
    np.testing.assert_allclose(found.toarray(), exact.toarray(), rtol=0, atol=1e-4)
    wide = dt.sparse_hessian(chain)(values, 0.7, number())  # a sum in double precision
    np.testing.assert_allclose(wide.toarray(), exact.toarray(), rtol=0, atol=1e-4)


@dt.func
def cube(x):
    return x * x * x


@cube.backward
def _(x, d_out):
    return 3.0 * x * x * d_out


@dt.func
def root(y):
    """The root of z + z^3 = y, by Newton's method."""
    z = 0.0
    for _ in range(12):
        z -= (z + z**3 - y) / (1.0 + 3.0 * z**2)
    return z


@dt.kernel
def computed(x, ends, energy):
    for e in range(ends.shape[0]):
        a, b = x[ends[e, 0]], x[ends[e, 1]]
        parts = ti.Vector([0.0, 0.0])
        for k in range(2):
            parts[k] = (a - b) * (k + 1)
        lowest = a if a < b else b
        energy[None] += root(cube(parts[1]) + parts[0]) ** 2 + lowest**3


def test_terms_with_loops_branches_and_rules(rng: Any) -> None:
    x, ends = dt.from_numpy(rng.normal(size=5)), integers([[0, 1], [3, 1], [2, 4], [2, 2]])

    def f(x: Any) -> Any:
        total = number()
        computed(x, ends, total)
        return total

    agree(dt.sparse_hessian(f)(x), dense(f, x), 1e-11)
    agree_with_differences(f, x, dt.sparse_hessian(f)(x), 1e-7)


def test_the_pattern_stays_while_indices_do(rng: Any) -> None:
    x, energy = points(rng), number()
    edges, rest = integers([[0, 1], [1, 2], [5, 3]]), dt.ones(3, dtype=ti.f64)
    hessian = dt.sparse_hessian(stretch)
    first = hessian.fields(x, edges, rest, 1.0, energy)
    assert first.shape == (21, 21) and first.data.shape == first.indices.shape
    rest.fill(2.0)
    x.from_numpy(x.to_numpy() + 0.1)
    second = hessian.fields(x, edges, rest, 3.0, energy)
    assert second.indices is first.indices and second.indptr is first.indptr
    edges[0, 1] = 4
    third = hessian.fields(x, edges, rest, 3.0, energy)
    assert third.indices is not first.indices
    parts = tuple(one.to_numpy() for one in third[:3])
    given = sparse.csr_matrix(parts, shape=third.shape)
    agree(given, hessian(x, edges, rest, 3.0, energy).toarray())
    edges.from_numpy(edges.to_numpy())  # written, and the same
    assert hessian.fields(x, edges, rest, 3.0, energy).indices is third.indices
    none = integers(np.full((POINTS, 3), -1))
    empty = dt.sparse_hessian(near)(x, none, 1.0, energy)
    assert empty.nnz == 0 and empty.shape == (21, 21)


def test_random_meshes(rng: Any) -> None:
    """One kernel on random connections: vertices repeated, left out, and behind a condition."""
    for _ in range(12):
        n, m = rng.integers(1, 9), rng.integers(1, 12)
        x = vectors(rng.normal(size=(n, 3)))
        lists = integers(rng.integers(-1, n, (n, 3)))
        edges, rest = integers(rng.integers(0, n, (m, 2))), dt.ones(int(m), dtype=ti.f64)

        def f(x: Any, lists: Any = lists, edges: Any = edges, rest: Any = rest) -> Any:
            total = number()
            near(x, lists, 1.5, total)
            stretch(x, edges, rest, 2.0, total)
            return 2.0 * total

        found, wanted = dt.sparse_hessian(f)(x), dense(f, x)
        np.testing.assert_allclose(found.toarray(), wanted, rtol=0, atol=1e-11)


def test_under_debug(rng: Any) -> None:
    try:
        dt.init(debug=True)
        x, energy = points(rng), number()
        edges, rest = integers([[0, 1], [1, 2]]), dt.ones(2, dtype=ti.f64)
        hessian = dt.sparse_hessian(stretch)
        found = hessian(x, edges, rest, 1.0, energy)
        assert found.nnz == 7 * 9
        edges[1, 1] = POINTS
        with pytest.raises(IndexError):
            hessian(x, edges, rest, 1.0, energy)
    finally:
        dt.init()


def test_places_that_follow_from_a_number() -> None:
    @dt.kernel
    def coupled(x, energy, apart: int):
        for i in range(x.shape[0]):
            energy[None] += x[i] ** 2 * x[(i + apart) % x.shape[0]] ** 2

    def f(x: Any, apart: Any = 1) -> Any:
        energy = number()
        coupled(x, energy, apart)
        return energy

    x = dt.from_numpy(np.linspace(0.5, 1.5, 6))
    hessian = dt.sparse_hessian(f)
    for apart in (1, 2, 1):
        agree(hessian(x, apart), dense(lambda x, a=apart: f(x, a), x))


def test_a_sum_that_is_copied_over_another() -> None:
    @dt.kernel
    def powers(x, k: int, energy):
        for i in x:
            energy[None] += x[i] ** k

    def f(x: Any) -> Any:
        one, other = number(), number()
        powers(x, 4, other)  # which the copy replaces
        powers(x, 3, one)
        other.copy_from(one)
        return other

    x = dt.from_numpy(np.linspace(0.5, 1.5, 4))
    agree(dt.sparse_hessian(f)(x), dense(f, x))


def test_a_block_and_its_mirror_are_equal_to_the_last_digit() -> None:
    """Terms that meet a pair of points from either side add up in one order."""
    rng = np.random.default_rng(4)

    @dt.kernel
    def pulled(x, edges, weights, energy):
        for e in weights:
            a, b = x[edges[e, 0]], x[edges[e, 1]]
            energy[None] += weights[e] * ti.sin(a.dot(b)) * (a - 2.0 * b).norm()

    edges = integers(rng.permuted(np.repeat([[0, 1], [1, 2], [2, 0]], 20, axis=0), axis=1))
    weights = dt.from_numpy(rng.uniform(0.1, 1.0, 60))

    def f(x: Any) -> Any:
        energy = number()
        pulled(x, edges, weights, energy)
        return energy

    found = dt.sparse_hessian(f)(vectors(rng.uniform(0.5, 1.5, (3, 2)))).toarray()
    np.testing.assert_array_equal(found, found.T)
