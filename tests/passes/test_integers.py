"""Linear constraints over integers, compared with enumeration."""

from __future__ import annotations

import random
from itertools import product

from difftile.passes.affine import Affine
from difftile.passes.integers import FormConstraint, System, at_least, solve, zero


def _random_system(rng: random.Random) -> tuple[System, list[range]]:
    system, ranges = System(), list[range]()
    for _ in range(rng.randint(1, 4)):
        low = rng.randint(-3, 2)
        ranges.append(range(low, low + rng.randint(1, 5)))
        system.unknown(ranges[-1][0], ranges[-1][-1])

    def constraint() -> FormConstraint:
        factors = {v: rng.randint(-4, 4) for v in range(len(ranges))}
        form = Affine({v: f for v, f in factors.items() if f}, rng.randint(-6, 6))
        return FormConstraint(form, rng.random() < 0.5)

    system.constraints = [constraint() for _ in range(rng.randint(0, 3))]
    system.choices = [
        [tuple(constraint() for _ in range(rng.randint(1, 2))) for _ in range(rng.randint(1, 3))]
        for _ in range(rng.randint(0, 2))
    ]
    return system, ranges


def _holds(one: FormConstraint, values: tuple[int, ...]) -> bool:
    value = one.form.value(values.__getitem__)
    return value == 0 if one.is_zero else value >= 0


def _solves(system: System, values: tuple[int, ...]) -> bool:
    return all(_holds(one, values) for one in system.constraints) and all(
        any(all(_holds(one, values) for one in case) for case in choice)
        for choice in system.choices
    )


def test_random_systems() -> None:
    rng = random.Random(3)
    undecided = 0
    for _ in range(500):
        system, ranges = _random_system(rng)
        found = solve(system)
        if found is None:
            assert not any(_solves(system, values) for values in product(*ranges)), system
        elif found.values is None:
            undecided += 1
        else:
            assert _solves(system, found.values), system
            assert all(v in r for v, r in zip(found.values, ranges, strict=True)), system
    assert undecided <= 1


def test_what_no_bound_is_needed_for() -> None:
    system = System()
    x, y = system.unknown(), system.unknown()
    system.constraints = [zero(x * 6 + y * 15 - 4)]  # 6 x + 15 y = 4
    assert solve(system) is None


def test_large_ranges_take_no_enumeration() -> None:
    system = System()
    i, gap, j, other = (system.unknown(0, 10**9) for _ in range(4))
    # i * 1000 + j = (i + gap) * 1000 + other, with both rests below 1000.
    system.constraints = [
        zero(gap * 1000 + other - j),
        at_least(gap, 1),
        at_least(Affine({}, 999), j),
        at_least(Affine({}, 999), other),
        at_least(i, 5),
    ]
    assert solve(system) is None
