"""Programs of ADBench: values and derivatives of its unit tests.

Those of `gmm` and `bundle` are printed there with 18 digits. `lstm` and `hand`, whose tests read
files, are compared with plain NumPy and the complex step, on drawn numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.testing as npt
import scipy.sparse
import taichi as ti

import difftile as dt
from tests.outside import bundle, complex_step, gmm, hand, lstm

EXACT = 1e-13


def test_gmm() -> None:
    alphas = np.array([-0.649014, 1.181166, -0.758453])
    means = np.array([[0.092339, 0.186260], [0.345561, 0.396767], [0.538817, 0.419195]])
    factors = np.array(
        [
            [0.586443, -0.851887, 0.800321],
            [-1.509405, 0.875874, -0.242790],
            [0.166813, -1.965419, -1.270071],
        ]
    )
    x = dt.from_numpy(np.array([[1.175171, 2.029160]]))
    run = dt.value_and_grad(gmm.log_likelihood, argnums=(0, 1, 2))
    value, gradients = run(alphas, means, factors, x, 1.0, 0)
    npt.assert_allclose(value, 8.07380408004975791, rtol=EXACT)
    by_alphas = [1.08662855508652456e-01, -7.41270039523898472e-01, 6.32607184015246071e-01]
    by_means = [
        [1.11692576532787013, 1.63333013551455269e-01],
        [-2.19989824071193142e-02, 2.27778292254236098e-01],
        [1.20963025612832187, -6.06375920733956339e-02],
    ]
    by_factors = [
        [2.58529994051162237, 1.12632694524213789e-01, 3.85744309849611777e-01],
        [7.35180573182305508e-02, 5.41836362715595232, -3.21494409677446469e-01],
        [1.71892309775004937, 8.60091090790866875e-01, -9.94640930466322848e-01],
    ]
    for ours, theirs in zip(gradients, (by_alphas, by_means, by_factors), strict=True):
        npt.assert_allclose(ours, theirs, rtol=EXACT)


def mixture(alphas: Any, means: Any, factors: Any, x: Any, gamma: float, m: int) -> Any:
    """The objective in terms of matrices."""
    (components, d), n = means.shape, len(x)
    lower = np.tril_indices(d, -1)
    lower = (lower[0][np.argsort(lower[1], kind="stable")], np.sort(lower[1]))
    total = gmm.constant(n, d, components, gamma, m) - n * np.log(np.exp(alphas).sum())
    terms = []
    for k in range(components):
        root = np.diag(np.exp(factors[k, :d]))
        root[lower] = factors[k, d:]
        whitened = (x - means[k]) @ root.T
        terms.append(alphas[k] + factors[k, :d].sum() - 0.5 * (whitened**2).sum(1))
        total += 0.5 * gamma**2 * (root**2).sum() - m * factors[k, :d].sum()
    return total + np.log(np.exp(terms).sum(0)).sum()


def test_gmm_of_more_points_and_dimensions() -> None:
    rng, (n, d, k) = np.random.default_rng(0), (7, 4, 3)
    at = [rng.standard_normal(shape) for shape in (k, (k, d), (k, d * (d + 1) // 2))]
    x = rng.standard_normal((n, d))
    run = dt.value_and_grad(gmm.log_likelihood, argnums=(0, 1, 2))
    value, gradients = run(*at, dt.from_numpy(x), 0.7, 2)
    npt.assert_allclose(value, mixture(*at, x, 0.7, 2), rtol=EXACT)
    for i, ours in enumerate(gradients):

        def along(one: Any, i: int = i) -> Any:
            return mixture(*at[:i], one, *at[i + 1 :], x, 0.7, 2)

        expected = complex_step.gradient(along, at[i])
        npt.assert_allclose(ours, expected, rtol=EXACT, atol=EXACT * np.abs(expected).max())


def test_bundle_adjustment() -> None:
    camera = [1.797201, 0.590697, -0.635786, 90.859550, 29.361415, 28.777534, 211.628116]
    camera += [-0.284531, -14.762924, 0.058931, 0.069976]
    weight = 0.417022
    z = np.concatenate(
        [2 * camera, 10 * [4.173048, 5.586898, 1.403869], 10 * [weight]], dtype=float
    )
    seen = np.stack([np.arange(10) % 2, np.arange(10)], 1).astype(np.int32)
    features = dt.from_numpy(np.tile([-525.672849, 161.811929], (10, 1)))
    found = bundle.errors(dt.from_numpy(z), dt.from_numpy(seen), features, 2, 10).to_numpy()
    expected = 10 * [-2.69048849235189402e-01, 2.59944792677901881e-01]
    npt.assert_allclose(found, expected + 10 * [8.26092651515999976e-01], rtol=EXACT)

    rows, columns = bundle.pattern(seen, 2, 10)
    pattern = scipy.sparse.csr_matrix((np.ones(rows.size), (rows, columns)))
    jacobian = dt.sparse_jacobian(
        lambda z: bundle.errors(z, dt.from_numpy(seen), features, 2, 10), pattern
    )(z)
    assert jacobian.shape == (30, 62)
    # fmt: off
    by_x = [
        2.28877202208246757e+02, 6.34574811495545418e+02, -7.82222866259340549e+02,
        2.42892615607159668, -1.17828079628011313e+01, 2.54169312487743460,
        -1.03657084958518086, weight, 0.0, -3.50739521096005205e+02, -9.12107773668008576e+02,
        -2.42892615607159668, 1.17828079628011313e+01, -2.54169312487743460,
        -6.45167039712987389e-01,
    ]
    by_y = [
        -1.20542435994996879e+02, -3.85673240766460424e+02, 9.75476291403326456e+01,
        -1.78372108529576567, 4.15466799433126077, 2.04025718029898906,
        3.49176397433145880e-01, 0.0, weight, 1.18149147704414503e+02, 3.07250108960343255e+02,
        1.78372108529576567, -4.15466799433126077, -2.04025718029898906,
        6.23335921553064054e-01,
    ]
    # fmt: on
    entries = np.asarray(jacobian[rows, columns]).ravel()
    npt.assert_allclose(entries[:300].reshape(10, 2, 15), np.tile([by_x, by_y], (10, 1, 1)), EXACT)
    npt.assert_allclose(entries[300:], -2 * weight, rtol=EXACT)


def network(weights: Any, ends: Any, state: Any, bits: Any) -> Any:
    """The loss of `lstm`, by whole rows of units."""
    hidden, cell = [one[0] for one in state], [one[1] for one in state]
    total = 0.0
    for t in range(len(bits) - 1):
        x = bits[t] * ends[0]
        for k, (factors, biases) in enumerate(weights):
            forget, read = (1 / (1 + np.exp(-x * factors[g] - biases[g])) for g in (0, 2))
            write = 1 / (1 + np.exp(-hidden[k] * factors[1] - biases[1]))
            change = np.tanh(hidden[k] * factors[3] + biases[3])
            cell[k] = cell[k] * forget + write * change
            x = hidden[k] = read * np.tanh(cell[k])
        y = x * ends[1] + ends[2]
        total -= (bits[t + 1] * (y - np.log(2 + np.exp(y).sum()))).mean() / (len(bits) - 1)
    return total


def test_lstm() -> None:
    rng = np.random.default_rng(4)
    weights, ends, state = (rng.uniform(0, 1, (*n, 14)) for n in ((2, 2, 4), (3,), (2, 2)))
    bits = rng.integers(0, 2, (40, 14)).astype(float)
    run = dt.value_and_grad(lstm.loss, argnums=(0, 1))
    value, gradients = run(weights, ends, dt.from_numpy(state), dt.from_numpy(bits))
    npt.assert_allclose(value, network(weights, ends, state, bits), rtol=EXACT)
    by_weights = complex_step.gradient(lambda w: network(w, ends, state, bits), weights)
    by_ends = complex_step.gradient(lambda e: network(weights, e, state, bits), ends)
    for ours, expected in zip(gradients, (by_weights, by_ends), strict=True):
        npt.assert_allclose(ours, expected, rtol=EXACT, atol=EXACT * np.abs(expected).max())


class Hand:
    """A drawn hand of three fingers, and its points, as plain arrays."""

    def __init__(self) -> None:
        rng = np.random.default_rng(5)
        self.parent = np.array([-1, 0, 1, 0, 3, 4, 0], np.int32)
        self.bend = np.array([-1, 6, 8, 10, 12, 13, 14], np.int32)
        self.spread = np.array([-1, 7, -1, 11, -1, -1, 15], np.int32)
        self.frame, self.inverse_frame = (
            np.array([np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in self.parent])
            for _ in range(2)
        )
        self.origin, self.inverse_origin = rng.normal(size=(2, 7, 3))
        self.vertex, self.weight = rng.normal(size=(8, 3)), rng.dirichlet(np.ones(7), 8).T
        self.theta = rng.uniform(-1.5, 1.5, hand.ANGLES)
        self.points, self.places = rng.normal(size=(3, 3)), rng.uniform(0.1, 0.4, (3, 2))
        self.which = np.array([6, 7, 0], np.int32)
        self.triangles = np.array([[3, 4, 5], [0, 2, 1], [7, 1, 6]], np.int32)

    def model(self) -> hand.Model:
        numbers = (dt.from_numpy(one) for one in (self.parent, self.bend, self.spread))
        frames = (matrices(self.frame), points(self.origin))
        inverses = (matrices(self.inverse_frame), points(self.inverse_origin))
        vertices = (points(self.vertex), dt.from_numpy(np.ascontiguousarray(self.weight)))
        return hand.Model(*numbers, *frames, *inverses, *vertices)

    def vertices(self, theta: Any) -> Any:
        frames: list[Any] = []
        for b, parent in enumerate(self.parent):
            c, s, d, e = 1.0, 0.0, 1.0, 0.0
            if self.bend[b] >= 0:
                c, s = np.cos(theta[self.bend[b]]), np.sin(theta[self.bend[b]])
            if self.spread[b] >= 0:
                d, e = np.cos(theta[self.spread[b]]), np.sin(theta[self.spread[b]])
            about_x = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
            about_z = np.array([[d, -e, 0], [e, d, 0], [0, 0, 1]])
            own = self.frame[b] @ about_z @ about_x, self.origin[b]
            if parent >= 0:
                turn, shift = frames[parent]
                own = turn @ own[0], turn @ own[1] + shift
            frames.append(own)
        angle = np.sqrt((theta[:3] ** 2).sum())
        x, y, z = theta[:3] / angle
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turn = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
        local = [
            self.vertex @ inverse.T + origin
            for inverse, origin in zip(self.inverse_frame, self.inverse_origin, strict=True)
        ]
        moved = sum(
            weight[:, None] * (at @ frame.T + shift)
            for weight, at, (frame, shift) in zip(self.weight, local, frames, strict=True)
        )
        return moved @ turn.T + theta[3:6]


def matrices(values: Any) -> dt.Field:
    return dt.from_numpy(np.ascontiguousarray(values), dtype=dt.mat(3, 3, ti.f64))


def points(values: Any) -> dt.Field:
    return dt.from_numpy(np.ascontiguousarray(values), dtype=dt.vec(3, ti.f64))


def compare(ours: Any, expected: Any) -> None:
    npt.assert_allclose(ours, expected, rtol=EXACT, atol=10 * EXACT * np.abs(expected).max())


def test_simple_hand() -> None:
    drawn = Hand()
    model, measured, which = drawn.model(), points(drawn.points), dt.from_numpy(drawn.which)

    def plain(theta: Any) -> Any:
        return drawn.points - drawn.vertices(theta)[drawn.which]

    def errors(theta: dt.Field) -> dt.Field:
        return hand.simple_errors(theta, model, measured, which)

    compare(errors(dt.from_numpy(drawn.theta)).to_numpy(), plain(drawn.theta))
    jacobian = dt.jacfwd(errors)(drawn.theta).reshape(9, hand.ANGLES)
    compare(jacobian.T, complex_step.gradient(plain, drawn.theta).reshape(hand.ANGLES, 9))


def test_complicated_hand() -> None:
    drawn = Hand()
    model, measured = drawn.model(), points(drawn.points)
    triangles = dt.from_numpy(drawn.triangles)

    def plain(theta: Any, places: Any) -> Any:
        corners = drawn.vertices(theta)[drawn.triangles]
        shares = np.stack([*places.T, 1 - places.sum(1)], 1)
        return drawn.points - (shares[:, :, None] * corners).sum(1)

    def errors(theta: dt.Field, places: dt.Field) -> dt.Field:
        return hand.complicated_errors(theta, places, model, measured, triangles)

    at = drawn.theta, drawn.places
    compare(errors(*map(dt.from_numpy, at)).to_numpy(), plain(*at))
    by_theta, by_places = dt.jacfwd(errors, argnums=(0, 1))(*at)
    expected = complex_step.gradient(lambda theta: plain(theta, drawn.places), drawn.theta)
    compare(by_theta.reshape(9, hand.ANGLES).T, expected.reshape(hand.ANGLES, 9))
    expected = complex_step.gradient(lambda places: plain(drawn.theta, places), drawn.places)
    compare(np.reshape(by_places, (9, 6)).T, expected.reshape(6, 9))
