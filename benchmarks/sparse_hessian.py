"""`dt.sparse_hessian` against a Hessian written by hand, for springs and hinges of a cloth.

The peer's kernels write the same blocks by formulas (for the angle of a hinge after Tamstorf and
Grinspun, Discrete bending forces and their Jacobians, 2013), and a kernel adds them up in a pattern
that is computed before. Both sides run turn by turn in one process; results are compared. Assembly
is also measured by itself, so that what is left is the time of the kernels of the terms. The last
lines are for terms made positive semidefinite, which has no peer here, and for the first call.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from benchmarks.meter import CLOCKS, Meter, Row
from difftile.arguments import Parser, positive_int
from scenes.cloth import bend, find_hinges, make_cloth, stretch

RATIO = 1.5
BENDING = 0.01
TOLERANCE = 1e-12


@dt.kernel
def springs_by_hand(x, springs, rest, stiffness, slots):
    for s in springs:
        d = x[springs[s][0]] - x[springs[s][1]]
        length = d.norm()
        k, n, part = stiffness[springs[s][2]], d / length, rest[s] / length
        block = k * ((1.0 - part) * ti.Matrix.identity(float, 3) + part * n.outer_product(n))
        for i, j in ti.static(ti.ndrange(3, 3)):
            slots[27 * s + 3 * i + j] = block[i, j]
            slots[27 * s + 9 + 3 * i + j] = -block[i, j]
            slots[27 * s + 18 + 3 * i + j] = block[i, j]


@dt.func
def skew(v):
    return ti.Matrix([[0.0, -v.z, v.y], [v.z, 0.0, -v.x], [-v.y, v.x, 0.0]])


@dt.kernel
def hinges_by_hand(x, hinges, stiffness: float, slots):
    for k in hinges:
        x0, x1, x2, x3 = x[hinges[k][0]], x[hinges[k][1]], x[hinges[k][2]], x[hinges[k][3]]
        e, u, v = x1 - x0, x2 - x0, x3 - x0
        n, m = e.cross(u), v.cross(e)
        ee, nn, mm = e.norm_sqr(), n.norm_sqr(), m.norm_sqr()
        length = ti.sqrt(ee)
        angle = ti.atan2(length * v.dot(n), n.dot(m))
        s, t = u.dot(e) / ee, v.dot(e) / ee
        g2, g3 = length / nn * n, length / mm * m
        g1 = -s * g2 - t * g3
        g0 = -g1 - g2 - g3
        eye = ti.Matrix.identity(float, 3)
        by_n = length / nn * (eye - 2.0 / nn * n.outer_product(n))
        by_m = length / mm * (eye - 2.0 / mm * m.outer_product(m))
        h22 = by_n @ skew(e)
        h21 = -by_n @ skew(u) + (n / (nn * length)).outer_product(e)
        h33 = -by_m @ skew(e)
        h31 = by_m @ skew(v) + (m / (mm * length)).outer_product(e)
        h11 = -s * h21 - t * h31
        h11 -= g2.outer_product(u - 2.0 * s * e) / ee + g3.outer_product(v - 2.0 * t * e) / ee
        h12, h13 = h21.transpose(), h31.transpose()
        h01 = -(h11 + h12 + h13).transpose()
        h02, h03 = -h22 - h12, -h33 - h13
        h00 = -h01 - h02 - h03
        a, b, at = stiffness, stiffness * angle, 90 * k
        for i, j in ti.static(ti.ndrange(3, 3)):
            slots[at + 3 * i + j] = a * g0[i] * g0[j] + b * h00[i, j]
            slots[at + 9 + 3 * i + j] = a * g0[i] * g1[j] + b * h01[i, j]
            slots[at + 18 + 3 * i + j] = a * g0[i] * g2[j] + b * h02[i, j]
            slots[at + 27 + 3 * i + j] = a * g0[i] * g3[j] + b * h03[i, j]
            slots[at + 36 + 3 * i + j] = a * g1[i] * g1[j] + b * h11[i, j]
            slots[at + 45 + 3 * i + j] = a * g1[i] * g2[j] + b * h12[i, j]
            slots[at + 54 + 3 * i + j] = a * g1[i] * g3[j] + b * h13[i, j]
            slots[at + 63 + 3 * i + j] = a * g2[i] * g2[j] + b * h22[i, j]
            slots[at + 72 + 3 * i + j] = a * g2[i] * g3[j]
            slots[at + 81 + 3 * i + j] = a * g3[i] * g3[j] + b * h33[i, j]


@dt.kernel
def assemble(slots, starts, parts, first, stride, data):
    for block in first:
        total = ti.Matrix.zero(ti.f64, 3, 3)
        for k in range(starts[block], starts[block + 1]):
            part = parts[k]
            if part >= 0:
                for i, j in ti.static(ti.ndrange(3, 3)):
                    total[i, j] += slots[part + 3 * i + j]
            else:
                for i, j in ti.static(ti.ndrange(3, 3)):
                    total[i, j] += slots[-1 - part + 3 * j + i]
        for i, j in ti.static(ti.ndrange(3, 3)):
            data[first[block] + i * stride[block] + j] = total[i, j]


class ByHand:
    """The matrix of blocks that a kernel has written, one for each pair of vertices of a term.

    Args:
        terms: The vertices of each term, shape (m, k).
        vertices: Their number.
        fill: Fills the slots.
    """

    def __init__(self, terms: np.ndarray, vertices: int, fill: Callable[[Any], None]):
        pairs = [(k, m) for k in range(terms.shape[1]) for m in range(k, terms.shape[1])]
        rows, columns, parts = [], [], []
        for number, (k, m) in enumerate(pairs):
            slot = 9 * (len(pairs) * np.arange(len(terms)) + number)
            for one, other, place in ((k, m, slot), (m, k, -1 - slot))[: 1 + (k != m)]:
                rows.append(terms[:, one])
                columns.append(terms[:, other])
                parts.append(place)
        keys = np.concatenate(rows).astype(np.int64) * vertices + np.concatenate(columns)
        order = np.argsort(keys, kind="stable")
        keys, starts = np.unique(keys[order], return_index=True)
        row = keys // vertices
        counts = np.bincount(row, minlength=vertices)
        above = np.concatenate([[0], np.cumsum(counts)])
        self.fill = fill
        self.slots = dt.zeros(9 * len(pairs) * len(terms), dtype=ti.f64)
        self.data = dt.zeros(9 * len(keys), dtype=ti.f64)
        self.pattern = [
            dt.from_numpy(one.astype(np.int32))
            for one in (
                np.concatenate([starts, [len(order)]]),
                np.concatenate(parts)[order],
                9 * above[row] + 3 * (np.arange(len(keys)) - above[row]),
                3 * counts[row],
            )
        ]

    def assemble(self) -> None:
        """Add up the blocks."""
        assemble(self.slots, *self.pattern, self.data)

    def __call__(self) -> None:
        self.fill(self.slots)
        self.assemble()


def main() -> int:
    """Run the measurements; return the exit code."""
    parser = Parser("python -m benchmarks.sparse_hessian", __doc__)
    parser.add_argument("--masses", type=positive_int, default=100, help="in a row and a column")
    parser.add_argument("--turns", type=positive_int, default=15, help="how often each is measured")
    parser.add_argument("--threads", type=positive_int, help="default: one for each core")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    options = parser.parse_args()
    dt.init(**({} if options.threads is None else {"cpu_max_num_threads": options.threads}))
    meter = Meter(options.turns, CLOCKS[options.clock])
    cloth = make_cloth(options.masses, options.masses)
    rng = np.random.default_rng(0)
    away = 0.2 * cloth.rest_length[0] * rng.standard_normal(cloth.positions.shape)
    x = dt.from_numpy(cloth.positions + away, dtype=dt.vec(3, ti.f64))
    springs = dt.from_numpy(cloth.springs, dtype=ti.math.ivec3)
    rest = dt.from_numpy(cloth.rest_length.astype(np.float64))
    stiffness = dt.from_numpy(np.array([200.0, 40.0, 10.0]))
    corners = find_hinges(cloth.triangles)
    hinges = dt.from_numpy(corners, dtype=ti.math.ivec4)
    energy = dt.zeros((), dtype=ti.f64)
    vertices = len(cloth.positions)
    cases = {
        "springs": (
            stretch,
            (springs, rest, stiffness, energy),
            ByHand(
                cloth.springs[:, :2],
                vertices,
                lambda slots: springs_by_hand(x, springs, rest, stiffness, slots),
            ),
        ),
        "hinges": (
            bend,
            (hinges, BENDING, energy),
            ByHand(corners, vertices, lambda slots: hinges_by_hand(x, hinges, BENDING, slots)),
        ),
    }
    print(f"{vertices:,} vertices, {len(cloth.springs):,} springs, {len(corners):,} hinges")
    print(f"{'':48}{'ms':>11}{'1/s':>9}{'by hand':>11}{'ratio':>8}")
    failed = False
    for name, (kernel, args, by_hand) in cases.items():
        hessian = dt.sparse_hessian(kernel)
        started = time.perf_counter()
        found = hessian.fields(x, *args).data.to_numpy()
        first = time.perf_counter() - started
        by_hand()
        wanted = by_hand.data.to_numpy()
        apart = float(np.abs(found - wanted).max() / np.abs(wanted).max())
        failed |= not apart <= TOLERANCE
        ours, theirs, assembly, value = meter.measure(
            lambda hessian=hessian, args=args: hessian.fields(x, *args),
            by_hand,
            by_hand.assemble,
            lambda kernel=kernel, args=args: kernel(x, *args),
        )
        print(Row(f"{name}: energy and Hessian", ours, theirs, RATIO))
        # Of the fastest turns: the difference of medians would be mostly noise.
        least, least_by_hand, adding = min(ours), min(theirs), min(assembly)
        terms = [least - adding - min(value)], [least_by_hand - adding]
        print(Row(f"{name}: terms, by difference", *terms, RATIO))
        print(Row(f"{name}: assembly", assembly))
        projected = dt.sparse_hessian(kernel, psd=True)
        spent = meter.measure(lambda h=projected, args=args: h.fields(x, *args))
        print(Row(f"{name}: semidefinite terms", *spent))
        print(f"{name}: {1e3 * first:.0f} ms the first time; {apart:.1e} from the one by hand")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
