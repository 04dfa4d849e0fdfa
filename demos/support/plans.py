"""Plans of controls: by Gauss-Newton, over pieces of time that are joined, and by CEM.

The unknowns are the controls of a plan and the states between its pieces. At first the pieces do
not fit together: their gaps are residuals of a least-squares problem with a growing weight
(multiple shooting). Then each iteration solves the linearised problem from the last piece to the
first, plays the plan with the feedback that comes out, and closes a share of the gaps
(feasibility-driven dynamic programming: Mastalli et al., ICRA 2020). The floor is soft at first.
"""

from dataclasses import dataclass, field

import numpy as np

from scenes.hop import (
    AHEAD,
    CONTROLS,
    EFFORT,
    LARGEST,
    NU,
    NX,
    SHARP,
    SUBSTEPS,
    WEIGHTS,
    Lanes,
    Pieces,
    Shots,
    Slopes,
    arc,
    loss_of,
    soften,
    standing,
)

SHARES = np.array([1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02])  # of a step, tried at once
WEIGHTS_OF_GAPS = 1.0, 3.0
# Time constants of contacts [s], and the share of the gradients that each is given.
FLOORS = (0.06, 0.45), (0.03, 0.25), (SHARP, 0.3)
FLIGHT = 0.45  # in the first guess [s]
TRIES = 8  # with more and more damping
JOINED = 1e-2  # the weighted sum of gaps below which pieces count as one motion
SETTLED = 6  # iterations without an improvement of 1 %
_SCALES = np.concatenate([np.full(NX // 2, 1.0), np.full(NX // 2, 0.01)])  # of damping
_UNKNOWN = NX * (CONTROLS - 1)  # numbers of the states between pieces


@dataclass(slots=True)
class Course:
    """The least loss of a rollout from rest, over simulated time steps of all worlds.

    Attributes:
        steps: The number of time steps so far.
        best: The least loss so far.
        points: Both, each time that the loss was lower.
    """

    steps: int = 0
    best: float = np.inf
    points: list[tuple[int, float]] = field(default_factory=list)

    def see(self, loss: float) -> bool:
        """Note a loss; return whether it is the least so far."""
        better = loss < self.best
        if better:
            self.best = loss
            self.points.append((self.steps, loss))
        return better


class Planner:
    """Gauss-Newton over pieces of time.

    Attributes:
        path: The states before each piece, and after the last one, (61, 12).
        plan: Controls before they are squashed, (60, 3).
        best: Those of the rollout with the least loss.
        gap: Weighted sum of the gaps between pieces.
        gradients: Reverse passes so far, each through all pieces.
        course: Losses of rollouts whose pieces are joined, on the floor of the model.
        before: The same on softer floors.
        done: Whether the gradients are used up, or nothing improves any more.

    Args:
        gradients: The most that are taken.
    """

    def __init__(self, gradients: int = 100) -> None:
        self._most = gradients
        self._rows, self._ends, self._lanes = Pieces(NX), Pieces(), Lanes(SHARES)
        self.start()

    def start(self) -> None:
        """Begin with the first guess, and without controls."""
        self.path, self.plan = arc(FLIGHT), np.zeros((CONTROLS, NU))
        self.best, self.course, self.before = self.plan, Course(), Course()
        self.gradients, self.gap, self.done = 0, np.inf, False
        self._stage, self._floor = 0, -1
        self._next_floor()
        self._damping = 1.0

    def _next_floor(self) -> None:
        self._floor += 1
        self.done = self._floor == len(FLOORS)
        if self.done:
            return
        seconds, _ = FLOORS[self._floor]
        for one in (self._rows, self._ends, self._lanes):
            soften(one.sim, seconds)
        shares = sum(share for _, share in FLOORS[: self._floor + 1])
        self._until = round(shares * self._most)
        self._damping, self._price = 1e-3, 1.0
        self._merits: list[float] = []

    @property
    def sharp(self) -> bool:
        """Whether the floor is the model's."""
        return self._floor >= len(FLOORS) - 1

    @property
    def joining(self) -> bool:
        """Whether gaps are still residuals."""
        return self._stage < len(WEIGHTS_OF_GAPS)

    def step(self) -> None:
        """Take one gradient and move along it."""
        if self.gradients >= self._until:
            self._next_floor()
        if self.done:
            return
        slopes = self._rows.slopes(self.path[:-1], self.plan)
        self.gradients += 1
        self.course.steps += self._rows.steps
        if self.joining:
            self._join(slopes)
        else:
            self._close(slopes)

    def _join(self, slopes: Slopes) -> None:
        """Step by Levenberg and Marquardt, in states and controls together."""
        weights = np.tile(WEIGHTS_OF_GAPS[self._stage] * WEIGHTS, (CONTROLS, 1))
        weights[-1] = WEIGHTS
        self.path[-1] = standing(AHEAD)

        def residuals(path: np.ndarray, plan: np.ndarray, ends: np.ndarray) -> np.ndarray:
            effort = np.sqrt(EFFORT / CONTROLS) * np.tanh(plan)
            return np.concatenate([(weights * (ends - path[1:])).ravel(), effort.ravel()])

        r = residuals(self.path, self.plan, slopes.ends)
        jacobian = jacobian_of(slopes, weights, self.plan)
        hessian, slope, cost = jacobian.T @ jacobian, jacobian.T @ r, float(r @ r)
        scales = np.append(np.tile(_SCALES, CONTROLS - 1), np.full(NU * CONTROLS, 0.01))
        for _ in range(TRIES):
            step = -np.linalg.solve(hessian + np.diag(self._damping * scales), slope)
            path, plan = self.path.copy(), self.plan + step[_UNKNOWN:].reshape(CONTROLS, NU)
            path[1:-1] += step[:_UNKNOWN].reshape(-1, NX)
            plan = np.clip(plan, -LARGEST, LARGEST)
            ends = self._ends.run(path[:-1], plan)
            self.course.steps += self._ends.steps
            new = residuals(path, plan, ends)
            if new @ new < cost:  # False for NaN
                break
            self._damping *= 4.0
        else:
            self._next_stage()
            return
        expected = cost - float(np.sum((r + jacobian @ step) ** 2))
        ratio = (cost - float(new @ new)) / expected
        self._damping *= 0.25 if ratio > 0.5 else 1.0 if ratio > 0.2 else 2.0
        self.path, self.plan = path, plan
        self.gap = float(np.abs(WEIGHTS * (ends - path[1:]))[:-1].sum())
        if expected < 0.05 * cost:
            self._next_stage()

    def _next_stage(self) -> None:
        self._stage, self._damping = self._stage + 1, 1.0
        if not self.joining:
            self.path[-1], self._damping = np.nan, 1e-3

    def _close(self, slopes: Slopes) -> None:
        """Step by dynamic programming, and close a share of the gaps."""
        if np.isnan(self.path[-1]).any():  # the last state is where the last piece ends
            self.path[-1] = slopes.ends[-1]
        gaps = slopes.ends - self.path[1:]
        gap = float(np.abs(WEIGHTS * gaps).sum())
        merit = float(loss_of(self.path[-1], self.plan)) + self._price * gap
        for _ in range(TRIES):
            change, gain = backwards(slopes, self.path[-1], self.plan, gaps, self._damping)
            given = self.path[:-1], self.plan, change, gain, gaps
            paths, plans = self._lanes.run(*given)
            self.course.steps += self._lanes.steps
            left = (1.0 - SHARES) * gap
            losses = loss_of(paths[:, -1], plans)
            merits = np.nan_to_num(losses + self._price * left, nan=np.inf)
            self._note(left, losses, plans)
            lane = int(np.argmin(merits))
            if merits[lane] < merit:
                break
            self._damping = min(8.0 * self._damping, 1e6)
        else:
            if gap < JOINED:
                self._next_floor()
                return
            self._price, self._damping = 3.0 * self._price, 1e-3
            self._merits.clear()
            return
        share = SHARES[lane]
        if share <= 0.1:
            self._damping *= 4.0
        elif share >= 0.5:
            self._damping = max(0.25 * self._damping, 1e-6)
        self.path, self.plan, self.gap = paths[lane], plans[lane], float(left[lane])
        self._merits.append(float(merits[lane]))
        recent = self._merits[-SETTLED:]
        if len(recent) == SETTLED and self.gap < JOINED and recent[-1] > 0.99 * recent[0]:
            self._next_floor()

    def _note(self, left: np.ndarray, losses: np.ndarray, plans: np.ndarray) -> None:
        """Keep the best of the rollouts in which no gap is left open: the first lane."""
        course = self.course if self.sharp else self.before
        course.steps = self.course.steps
        if left[0] == 0.0 and course.see(float(losses[0])):
            self.best = plans[0]


def jacobian_of(slopes: Slopes, weights: np.ndarray, plan: np.ndarray) -> np.ndarray:
    """Return the derivatives of gaps and efforts by the states between pieces and by controls."""
    found = np.zeros((CONTROLS * (NX + NU), _UNKNOWN + CONTROLS * NU))
    for k in range(CONTROLS):
        rows, before = slice(NX * k, NX * (k + 1)), slice(NX * (k - 1), NX * k)
        scale, first = weights[k][:, None], _UNKNOWN + NU * k
        if k > 0:
            found[rows, before] = scale * slopes.by_state[k]
        if k < CONTROLS - 1:
            found[rows, rows] = -np.diag(weights[k])
        found[rows, first : first + NU] = scale * slopes.by_control[k]
    efforts = np.sqrt(EFFORT / CONTROLS) * (1.0 - np.tanh(plan.ravel()) ** 2)
    found[NX * CONTROLS :, _UNKNOWN:] = np.diag(efforts)
    return found


def backwards(
    slopes: Slopes, last: np.ndarray, plan: np.ndarray, gaps: np.ndarray, damping: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return changes of controls (60, 3) and feedback (60, 3, 12) that minimise the loss.

    The loss is quadratic around the path, by Gauss-Newton, and the pieces linear.
    """
    squared = 2.0 * WEIGHTS**2
    slope, curve = squared * (last - standing(AHEAD)), np.diag(squared)
    change, gain = np.empty((CONTROLS, NU)), np.empty((CONTROLS, NU, NX))
    price = 2.0 * EFFORT / CONTROLS
    for k in reversed(range(CONTROLS)):
        by_state, by_control = slopes.by_state[k], slopes.by_control[k]
        squashed = np.tanh(plan[k])
        steepness = 1.0 - squashed**2
        after = slope + curve @ gaps[k]
        of_state = by_state.T @ after
        of_control = price * squashed * steepness + by_control.T @ after
        own = np.diag(price * steepness**2) + by_control.T @ curve @ by_control
        mixed = by_control.T @ curve @ by_state
        firm = damping * by_control.T * WEIGHTS**2
        damped = own + firm @ by_control + 0.01 * damping * np.eye(NU)
        found = np.linalg.solve(damped, np.column_stack([of_control, mixed + firm @ by_state]))
        change[k], gain[k] = -found[:, 0], -found[:, 1:]
        slope = of_state + gain[k].T @ (own @ change[k] + of_control) + mixed.T @ change[k]
        curve = by_state.T @ curve @ by_state + gain[k].T @ own @ gain[k]
        curve += gain[k].T @ mixed + mixed.T @ gain[k]
        curve = 0.5 * (curve + curve.T)
    return change, gain


class CrossEntropy:
    """Shooting: plans drawn around those of the best of the last draw.

    Args:
        count: Plans of each draw.
        knots: Of each control, with straight lines between them.
        seed: Of the draws.

    Attributes:
        best: The plan with the least loss, (60, 3).
        course: Losses.
    """

    def __init__(self, count: int = 128, knots: int = 10, seed: int = 0) -> None:
        self.shots, self._knots, self._seed = Shots(count), knots, seed
        self._count, self._elite = count, max(count // 10, 4)
        times = (np.arange(CONTROLS) + 0.5) / CONTROLS
        self._between = np.stack(
            [np.interp(times, np.linspace(0.0, 1.0, knots), row) for row in np.eye(knots)], axis=1
        )
        self.start()

    def start(self) -> None:
        """Begin with draws around no controls."""
        self.best, self.course = np.zeros((CONTROLS, NU)), Course()
        self._rng = np.random.default_rng(self._seed)
        self._mean, self._spread = np.zeros((self._knots, NU)), np.ones((self._knots, NU))

    def step(self) -> None:
        """Draw, play, and move to the best tenth."""
        count = self._count
        drawn = self._rng.normal(size=(count, *self._mean.shape))
        knots = self._mean + self._spread * drawn
        plans = np.clip(self._between @ knots, -LARGEST, LARGEST)
        losses = self.shots.play(plans)
        self.course.steps += count * CONTROLS * SUBSTEPS
        order = np.argsort(losses)[: self._elite]
        if self.course.see(float(losses[order[0]])):
            self.best = plans[order[0]]
        self._mean = 0.2 * self._mean + 0.8 * knots[order].mean(axis=0)
        self._spread = np.maximum(0.2 * self._spread + 0.8 * knots[order].std(axis=0), 0.02)
