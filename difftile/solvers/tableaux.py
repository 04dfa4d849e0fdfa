"""Explicit Runge-Kutta methods as tables of their coefficients.

Sources: Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I (2nd edition, 1993),
tables II.1.2 and II.5.2 and section II.6; Dormand and Prince, A family of embedded Runge-Kutta
formulae (1980).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tableau:
    """An explicit method with stages k_s = f(t + c_s h, y + h sum_r a_sr k_r).

    Args:
        name: The name of the method.
        order: The power of h with which the error of the result falls.
        nodes: c, one for each stage.
        rows: a, for each stage the weights of the stages before it.
        weights: b, in y(t + h) = y + h sum_s b_s k_s.
        embedded: The weights of a result of another order, for the error estimate; one stage more,
            k at t + h, which is the first stage of the next step. None: steps are fixed.
        dense: For each stage a polynomial in theta, from its first power on: y(t + theta h) is
            y + h sum_s dense_s(theta) k_s. With `embedded`, the additional stage has one too.
    """

    name: str
    order: int
    nodes: tuple[float, ...]
    rows: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    dense: tuple[tuple[float, ...], ...]
    embedded: tuple[float, ...] | None = None

    @property
    def stages(self) -> int:
        """The number of stages that the result needs."""
        return len(self.nodes)

    def between(self, theta: float) -> tuple[float, ...]:
        """Return the weights of the stages for the place theta h into a step."""
        return tuple(
            sum(factor * theta**power for power, factor in enumerate(polynomial, 1))
            for polynomial in self.dense
        )


def _dense_of_fifth_order(
    b: tuple[float, ...], d: tuple[float, ...]
) -> tuple[tuple[float, ...], ...]:
    """Return the polynomials of Dormand and Prince's continuous extension, of order 4.

    The polynomial of degree 4 that matches y and y' at both ends, with `d` in its middle (Hairer,
    Norsett and Wanner, the code DOPRI5): with B = theta and C = 1 - theta
    y + B (D + C (h k_1 - D + B (2 D - h k_1 - h k_7 + C h sum d_s k_s))), D = h sum b_s k_s.
    """
    polynomials: list[tuple[float, ...]] = []
    for stage, (b_s, d_s) in enumerate(zip((*b, 0.0), d, strict=True)):
        first, last = float(stage == 0), float(stage == len(b))
        rise = first - b_s
        bend = 2.0 * b_s - first - last
        # theta (b + (1 - theta) (rise + theta (bend + (1 - theta) d))), by powers of theta
        polynomials.append((b_s + rise, bend + d_s - rise, -bend - 2.0 * d_s, d_s))
    return tuple(polynomials)


EULER = Tableau("euler", 1, (0.0,), ((),), (1.0,), ((1.0,),))

RK4 = Tableau(
    "rk4",
    4,
    (0.0, 1 / 2, 1 / 2, 1.0),
    ((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)),
    (1 / 6, 1 / 3, 1 / 3, 1 / 6),
    ((1.0, -3 / 2, 2 / 3), (0.0, 1.0, -2 / 3), (0.0, 1.0, -2 / 3), (0.0, -1 / 2, 2 / 3)),
)

_B = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
DOPRI5 = Tableau(
    "dopri5",
    5,
    (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0),
    (
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    ),
    _B,
    _dense_of_fifth_order(
        _B,
        (
            -12715105075 / 11282082432,
            0.0,
            87487479700 / 32700410799,
            -10690763975 / 1880347072,
            701980252875 / 199316789632,
            -1453857185 / 822651844,
            69997945 / 29380423,
        ),
    ),
    (5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40),
)

METHODS = {tableau.name: tableau for tableau in (EULER, RK4, DOPRI5)}
