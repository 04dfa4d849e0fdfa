"""The hopper that jumps by a plan, and its demo."""

from pathlib import Path

import numpy as np
import pytest

from demos.hopper_plan import main
from demos.support.plans import (
    Course,
    CrossEntropy,
    Planner,
    backwards,
    jacobian_of,
)
from difftile import worlds
from scenes.hop import (
    CONTROLS,
    EFFORT,
    MODEL,
    NU,
    NX,
    SUBSTEPS,
    WEIGHTS,
    Pieces,
    Shots,
    Slopes,
    arc,
    loss_of,
    robot,
    split,
    standing,
)


def slopes(seed: int = 0) -> Slopes:
    """Linear pieces that neither grow nor vanish."""
    rng = np.random.default_rng(seed)
    by_state = np.eye(NX) + 0.1 * rng.normal(size=(CONTROLS, NX, NX))
    return Slopes(
        rng.normal(size=(CONTROLS, NX)), by_state, 0.3 * rng.normal(size=(CONTROLS, NX, NU))
    )


def test_the_hopper_stands_on_the_floor() -> None:
    model = worlds.load_arrays(MODEL)
    lengths = -model.body_pos[2:5, 2]
    foot, pitch, knee = model.id("geom", "foot"), standing()[2], standing()[4]
    height = lengths[0] * np.cos(pitch) + lengths[1] * np.cos(pitch)
    height += lengths[2] * np.cos(pitch - knee) - model.geom_pos[foot, 2] + model.geom_size[foot, 0]
    assert standing()[1] == pytest.approx(height)
    assert pitch - standing()[3] - knee - standing()[5] == pytest.approx(0.0)  # a level foot
    assert CONTROLS * SUBSTEPS * model.timestep == pytest.approx(1.2)


def test_the_first_guess_falls_freely() -> None:
    path = arc(0.45)
    np.testing.assert_allclose(path[[0, -1], 0], [0.0, 1.0])
    rise = np.diff(path[:, :2], axis=0) / 0.02
    middle = 0.5 * (path[1:, 6:8] + path[:-1, 6:8])
    flying = (path[1:, 6] > 0.0) & (path[:-1, 6] > 0.0)
    assert flying.sum() > 20
    np.testing.assert_allclose(rise[flying], middle[flying], rtol=1e-9, atol=1e-12)
    assert (np.abs(split(path)[1][~np.append(flying, False)][[0, -1]]) < 1e-12).all()


def test_dynamic_programming_finds_the_minimum_of_all_unknowns() -> None:
    """Beside one dense least-squares problem in controls, with the states eliminated."""
    linear, rng = slopes(), np.random.default_rng(1)
    plan, gaps = 0.3 * rng.normal(size=(CONTROLS, NU)), 0.1 * rng.normal(size=(CONTROLS, NX))
    last = standing(0.4)
    change, gain = backwards(linear, last, plan, gaps, 0.0)
    x, moved, found = np.zeros(NX), [], np.zeros((NX, CONTROLS * NU))
    offset = np.zeros(NX)
    for k in range(CONTROLS):
        u = change[k] + gain[k] @ x
        moved.append(u)
        x = linear.by_state[k] @ x + linear.by_control[k] @ u + gaps[k]
        found = linear.by_state[k] @ found
        found[:, NU * k : NU * (k + 1)] += linear.by_control[k]
        offset = linear.by_state[k] @ offset + gaps[k]
    price, squashed = np.sqrt(EFFORT / CONTROLS), np.tanh(plan.ravel())
    left = np.concatenate([WEIGHTS[:, None] * found, np.diag(price * (1.0 - squashed**2))])
    right = np.concatenate([WEIGHTS * (last + offset - standing(1.0)), price * squashed])
    best = -np.linalg.lstsq(left, right, rcond=None)[0]
    np.testing.assert_allclose(np.ravel(moved), best, rtol=1e-5, atol=1e-6 * np.abs(best).max())


def test_the_jacobian_of_joined_pieces_is_that_of_differences() -> None:
    linear, rng = slopes(2), np.random.default_rng(3)
    plan = rng.normal(size=(CONTROLS, NU))
    weights = rng.uniform(0.5, 2.0, size=(CONTROLS, NX))
    states, controls = rng.normal(size=(CONTROLS - 1, NX)), rng.normal(size=(CONTROLS, NU))

    def residuals(far: float) -> np.ndarray:
        path = np.concatenate([np.zeros((1, NX)), far * states, np.zeros((1, NX))])
        moved = plan + far * controls
        ends = np.einsum("kij,kj->ki", linear.by_state, path[:-1])
        ends += np.einsum("kij,kj->ki", linear.by_control, moved - plan)
        effort = np.sqrt(EFFORT / CONTROLS) * np.tanh(moved)
        return np.concatenate([(weights * (ends - path[1:])).ravel(), effort.ravel()])

    by_hand = jacobian_of(linear, weights, plan) @ np.append(states, controls)
    by_differences = (residuals(1e-5) - residuals(-1e-5)) / 2e-5
    np.testing.assert_allclose(by_hand, by_differences, atol=1e-8)


def test_a_course_keeps_what_is_better() -> None:
    course = Course()
    for steps, loss in ((10, 3.0), (20, 4.0), (30, 2.0), (40, np.nan)):
        course.steps = steps
        course.see(loss)
    assert course.points == [(10, 3.0), (30, 2.0)]


@pytest.mark.slow  # rollouts are compiled
def test_losses_are_those_of_the_last_states() -> None:
    shots, rng = Shots(8), np.random.default_rng(0)
    plans = rng.normal(size=(8, CONTROLS, NU))
    losses = shots.play(plans)
    np.testing.assert_allclose(losses, loss_of(shots.states(), plans), rtol=1e-5)
    shooting = CrossEntropy(count=40)
    for _ in range(4):
        shooting.step()
    assert shooting.course.best < np.min(losses)
    np.testing.assert_allclose(shots.play(np.tile(shooting.best, (8, 1, 1))), shooting.course.best)


@pytest.mark.slow  # gradients of worlds are compiled
def test_slopes_of_pieces_are_those_of_differences() -> None:
    """In flight, where states are smooth enough for differences in single precision."""
    path, plan = arc(0.45), np.full((CONTROLS, NU), 0.1)
    found, pieces = Pieces(NX).slopes(path[:-1], plan), Pieces()
    np.testing.assert_allclose(found.ends, pieces.run(path[:-1], plan), atol=1e-5)
    way, turn, k = np.linspace(-1.0, 1.0, NX), np.array([0.5, -1.0, 0.7]), 30
    ends = [pieces.run(path[:-1] + h * way, plan + h * turn)[k] for h in (0.01, -0.01)]
    by_tape = found.by_state[k] @ way + found.by_control[k] @ turn
    np.testing.assert_allclose(by_tape, (ends[0] - ends[1]) / 0.02, rtol=2e-3, atol=2e-3)


@pytest.mark.slow  # the whole plan
def test_the_plan_lands_a_metre_ahead_in_mujoco_too() -> None:
    mujoco = pytest.importorskip("mujoco", reason="plays the plan")
    planner = Planner()
    while not planner.done:
        planner.step()
    assert planner.gradients <= 100
    assert planner.course.best < 0.3
    model = mujoco.MjModel.from_xml_path(str(MODEL.with_suffix(".xml")))
    model.jnt_solimp[:], model.geom_solimp[:] = robot().jnt_solimp, robot().geom_solimp
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = split(standing())
    for control in np.tanh(planner.best):
        data.ctrl[:] = control
        mujoco.mj_step(model, data, SUBSTEPS)
    assert data.qpos[0] == pytest.approx(1.0, abs=0.15)
    assert data.qpos[1] == pytest.approx(standing()[1], abs=0.1)


@pytest.mark.slow  # gradients of worlds are compiled
def test_the_demo_compares_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--iterations", "40", "--times", "1", "--out", str(tmp_path)]) == 0
    assert "cross-entropy: loss" in capsys.readouterr().out
    for name in ("strip.png", "curve.png"):
        assert (tmp_path / name).stat().st_size > 10_000


@pytest.mark.slow  # a gradient in double precision is compiled
def test_gradient_of_a_plan_is_that_of_differences() -> None:
    assert main(["--check"]) == 0
