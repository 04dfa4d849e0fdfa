"""Particles that change their owners, on several ranks and alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.distributed import particle_programs as programs
from tests.ranks import ranks

BOXES = {1: (1, 1), 2: (2, 1), 3: (1, 3), 4: (2, 2)}
N, STEPS = 40, 12


def assert_close(found: Any, wanted: Any) -> None:
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-12 * scale)


def alone(*args: Any) -> Any:
    return programs.wander((1, 1), *args)


@pytest.mark.parametrize(
    ("size", "engine", "periodic"),
    [
        (2, "torch", True),
        (3, "torch", False),
        (4, "torch", True),
        pytest.param(3, "mpi", True, marks=pytest.mark.slow),  # compiles anew
    ],
)
def test_value_and_gradients_are_those_of_one_process(
    size: int, engine: str, periodic: bool
) -> None:
    wanted, state, gradients, _ = alone(periodic, N, N, STEPS, 1)
    found = ranks(size, engine).run(programs.wander, BOXES[size], periodic, N, N, STEPS, 1)
    assert_close(sum(one[0] for one in found), wanted)
    for _, final, grads, _ in found:  # each rank has the whole
        assert final["id"].tolist() == list(range(N))
        for name, values in state.items():
            assert_close(final[name], values)
        for name, values in gradients.items():
            assert_close(grads[name], values)
    counts = np.array([one[3] for one in found])
    assert (counts.sum(axis=0) == N).all()
    assert (np.diff(counts, axis=1) != 0).any(axis=1).all()  # borders are crossed


@pytest.mark.parametrize(("size", "periodic"), [(3, True)])
def test_forward_mode_and_second_derivatives(size: int, periodic: bool) -> None:
    given = periodic, N, N, 5, 2
    loss, tangent, gradient, product, direction = programs.derivatives(BOXES[1], *given)
    assert abs(gradient @ direction - tangent) <= 1e-12 * max(1.0, abs(tangent))
    assert abs(tangent) > 1e-2 and np.abs(product).max() > 1e-2
    for one in ranks(size).run(programs.derivatives, BOXES[size], *given):
        for found, wanted in zip(one, (loss, tangent, gradient, product), strict=False):
            assert_close(found, wanted)


def test_a_rank_may_be_empty_or_full() -> None:
    found = ranks(4).run(programs.crowd, BOXES[4])
    counts = np.array([one for one, _ in found])
    assert counts.max() == 20 and counts.min() == 0  # all on one rank, and back
    for _, state in found:
        assert state["id"].tolist() == list(range(20))
        assert state["kind"].tolist() == programs.initial(20, 0)["kind"].tolist()


def test_what_cannot_be_is_an_error_on_all_ranks() -> None:
    pool = ranks(3)
    found = pool.run(programs.failures)
    assert [len(set(one)) for one in zip(*found, strict=True)] == [1, 1, 1, 3, 1]
    full, room, away, _, unknown = found[0]
    assert full == (
        "Rank 2 would have 21 particles, and has a capacity of 20. Make the fields of the "
        "particles larger."
    )
    assert room.endswith(
        "leave rank 0 at once, and there is room for 3: 'moving' of dist.Particles."
    )
    assert away == (
        "Rank 2 has 1 particle outside the grid, [-1, 2) x [0, 2), the first of them at "
        "(7.25, 0.5)."
    )
    assert found[2][3].startswith(
        "Ranks 0 and 1 make different particles; rank 2 has [('x', 'vec2<f64>'), "
    )
    assert unknown.endswith("outside the grid, [-1, 2) x [0, 2), the first of them at (inf, 0.5).")


def test_fields_and_arrays_are_checked() -> None:
    found = programs.misuse()
    assert found == programs.MISUSE
