"""The robots of rigid bodies in NumPy: an independent reference for losses and gradients.

Complex numbers pass through (branches look at real parts), hence `derivative` is a complex step:
exact to rounding, without a step size to choose.
"""

import numpy as np

from scenes.rigid_body import RigidBodyScene

_CORNERS = np.array([(-1, -1), (1, -1), (-1, 1), (1, 1)])


def simulate(
    scene: RigidBodyScene, params: dict[str, np.ndarray], steps: int, *, impacts: bool = True
) -> tuple[complex | float, np.ndarray]:
    """Run `steps` updates from rest.

    Args:
        scene: Robot and world.
        params: w1, b1, w2, b2; real or complex.
        steps: Number of updates.
        impacts: Whether bodies move on as before until a corner reaches the floor.

    Returns:
        The loss, the distance of the head from the goal [m], and all x, y and angles,
        (steps + 1, n, 3).
    """
    robot, dt = scene.robot, scene.time_step
    dtype = np.result_type(*params.values(), np.float64)
    n = len(robot.boxes)
    x, theta = (
        np.array([part(box) for box in robot.boxes], dtype)
        for part in (lambda box: box.center, lambda box: box.angle)
    )
    v, omega = np.zeros_like(x), np.zeros_like(theta)
    half = np.array([box.half for box in robot.boxes])
    m_inv = 1 / (4 * half[:, 0] * half[:, 1])
    i_inv = 1 / (4 / 3 * half[:, 0] * half[:, 1] * (half**2).sum(axis=1))
    inverse = np.column_stack([m_inv, m_inv, i_inv])
    fall = np.array([0, scene.gravity * dt])
    track = [np.column_stack([x, theta])]
    for t in range(steps):
        waves = scene.clock_rate * t * dt + 2 * np.pi / scene.n_clock * np.arange(scene.n_clock)
        told = np.column_stack([x - x[robot.head], v, theta, omega]).ravel()
        inputs = np.concatenate([np.sin(waves), scene.sense_gain * told, scene.goal])
        hidden = np.tanh(params["w1"] @ inputs + params["b1"])
        act = np.tanh(params["w2"] @ hidden + params["b2"])

        # Increments of x, y and angle, and of their rates.
        x_inc, v_inc = np.zeros((2, n, 3), dtype)

        def apply(i, impulse, at, tau, x=x, x_inc=x_inc, v_inc=v_inc) -> None:
            gain = inverse[i] * [impulse[0], impulse[1], _cross(at - x[i], impulse)]
            v_inc[i] += gain
            x_inc[i] -= tau * gain

        for i in range(n):
            for corner in _CORNERS:
                rho = _rotate(corner * half[i], theta[i])
                c, u = x[i] + rho, v[i] + omega[i] * _normal(rho) + fall
                k_n, k_t = (m_inv[i] + _cross(rho, e) ** 2 * i_inv[i] for e in np.eye(2)[::-1])
                moved = c + dt * u
                if moved[1].real >= scene.floor:
                    continue
                if u[1].real < 0:
                    p_n, p_t = -u[1] / k_n, -u[0] / k_t
                    bound = scene.friction * p_n
                    if abs(p_t.real) > bound.real:
                        p_t = bound * np.sign(p_t.real)
                    tau = 0.0
                    if c[1].real > scene.floor:
                        tau = (c[1] - scene.floor) / (-u[1] if u[1].real < -1e-3 else 1e-3)
                        tau = tau if tau.real < dt else dt
                    apply(i, np.array([p_t, p_n]), moved, tau if impacts else 0.0)
                lift = -dt * scene.penalty * (moved[1] - scene.floor) / k_n
                apply(i, np.array([0, lift]), moved, 0.0)

        for s, link in enumerate(robot.links):
            a, b = link.a, link.b
            rho_a, rho_b = _rotate(link.at_a, theta[a]), _rotate(link.at_b, theta[b])
            p_a, p_b = x[a] + rho_a, x[b] + rho_b
            d = p_a - p_b
            length = np.sqrt((d * d).sum()) + 1e-4
            target = link.rest_length * (1 + act[s] * link.actuation)
            impulse = dt * (length - target) * link.stiffness / length * d
            if link.rest_length == 0:
                w = v[a] + omega[a] * _normal(rho_a) - v[b] - omega[b] * _normal(rho_b)
                size = (w * w).sum()
                # The root has no slope at 0, where the bodies are at the start.
                nu = (np.sqrt(size) if size != 0 else 0.0) + 0.1
                along = w / nu
                give_a = m_inv[a] + _cross(along, rho_a) ** 2 * i_inv[a]
                give_b = m_inv[b] + _cross(along, rho_b) ** 2 * i_inv[b]
                impulse = impulse + nu / (give_a + give_b) * along
            apply(a, -impulse, p_a, 0.0)
            apply(b, impulse, p_b, 0.0)

        decay = np.exp(-scene.drag * dt)
        v = decay * v + v_inc[:, :2] + fall
        omega = decay * omega + v_inc[:, 2]
        x = x + dt * v + x_inc[:, :2]
        theta = theta + dt * omega + x_inc[:, 2]
        track.append(np.column_stack([x, theta]))
    miss = x[robot.head] - scene.goal
    return np.sqrt((miss * miss).sum()), np.array(track)


def derivative(
    scene: RigidBodyScene,
    params: dict[str, np.ndarray],
    direction: dict[str, np.ndarray],
    steps: int,
    *,
    impacts: bool = True,
) -> float:
    """Return the derivative of the loss along `direction`."""
    moved = {name: value + 1e-30j * direction[name] for name, value in params.items()}
    return complex(simulate(scene, moved, steps, impacts=impacts)[0]).imag / 1e-30


def _cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


def _normal(r: np.ndarray) -> np.ndarray:
    return np.array([-r[1], r[0]])


def _rotate(r, angle) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * r[0] - s * r[1], s * r[0] + c * r[1]])
