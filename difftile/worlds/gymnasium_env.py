"""Environments as those of Gymnasium; only this module imports it.

`metadata["autoreset_mode"]` of the vector is SAME_STEP: the step that ends an episode returns what
is seen of the next one, and `info["final_obs"]` what was seen last.
"""

from __future__ import annotations

from typing import Any, final

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

import difftile as dt
from difftile.worlds.environment import Environment
from difftile.worlds.robots import LOOK, BodyPoses, Robots, poses

_MOST_PICTURES = 64  # pictures of a step, each of which takes some milliseconds
_SIZE = 480, 320  # of a picture [pixels]


def wrapped(
    env: Environment, *, single: bool = False, render_mode: str | None = None
) -> GymnasiumVector | GymnasiumSingle:
    """Return an environment of Gymnasium; see `Environment.as_gymnasium`.

    Raises:
        FieldError: One world is wanted, or few for pictures, and there are more.
        ValueError: There is no such render mode.
    """
    if render_mode not in (None, "rgb_array"):
        raise ValueError(
            f'as_gymnasium(render_mode=...) is "rgb_array" or None, not {render_mode!r}.'
        )
    if single and env.worlds != 1:
        raise dt.FieldError(
            f"as_gymnasium(single=True) is of one world, and there are {env.worlds}: "
            "worlds.environment(..., worlds=1)."
        )
    if render_mode and env.worlds > _MOST_PICTURES:
        raise dt.FieldError(
            f"as_gymnasium(render_mode=...) draws {_MOST_PICTURES} worlds at most, and there are "
            f"{env.worlds}: make an environment of few worlds to look at."
        )
    return (GymnasiumSingle if single else GymnasiumVector)(env, render_mode)


class _GymnasiumFace:
    """What both have: spaces, metadata, seeds and pictures."""

    def __init__(self, env: Environment, render_mode: str | None) -> None:
        self.env, self.render_mode = env, render_mode
        kind = env.obs.to_numpy().dtype
        self.seen = Box(-np.inf, np.inf, (env.observations,), kind)
        self.acts = Box(-1.0, 1.0, (env.actions,), kind)
        self.metadata: dict[str, Any] = {
            "render_modes": ["rgb_array"],
            "render_fps": max(1, round(1.0 / env.decision)),
            "autoreset_mode": AutoresetMode.SAME_STEP,
        }
        self._robots: Robots | None = None

    def begin(self, seed: int | list[int] | None, options: dict[str, Any] | None) -> None:
        if seed is not None:
            self.env.seed(np.asarray(seed))
        self.env.reset((options or {}).get("reset_mask"))

    def accepted(self, actions: Any) -> np.ndarray:
        found = np.asarray(actions, self.acts.dtype)
        return np.ascontiguousarray(found.reshape(-1, self.env.actions))

    def picture(self, which: int) -> np.ndarray:
        """Return a picture of a world, whose camera follows it."""
        found = poses(self.env.sim, [which])
        if self._robots is None:
            self._robots = Robots(self.env.model, floor=(-50.0, -50.0, 50.0, 50.0))
            self._size = self._extent(found)
        middle, _ = self._corners(found)
        at = (middle[0], middle[1], self._size[0])
        look = {**LOOK, "at": at, "distance": self._size[1]}
        return self._robots.image(found, _SIZE, **look)

    def _corners(self, found: BodyPoses) -> tuple[np.ndarray, np.ndarray]:
        assert self._robots is not None
        vertices = self._robots.mesh(found)[0][: self._robots.vertices]
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        return 0.5 * (low + high), high - low

    def _extent(self, found: BodyPoses) -> tuple[float, float]:
        """Return the height that the camera looks at, and its distance [m]."""
        middle, size = self._corners(found)
        return float(middle[2]), 3.0 * float(np.linalg.norm(size))


@final
class GymnasiumVector(VectorEnv[Any, Any, Any]):
    """Many worlds.

    Args:
        env: The environment.
        render_mode: "rgb_array" or None.
    """

    def __init__(self, env: Environment, render_mode: str | None) -> None:
        self.parts = parts = _GymnasiumFace(env, render_mode)
        self.num_envs, self.render_mode, self.metadata = env.worlds, render_mode, parts.metadata
        self.single_observation_space, self.single_action_space = parts.seen, parts.acts
        self.observation_space = batch_space(parts.seen, env.worlds)
        self.action_space = batch_space(parts.acts, env.worlds)

    def reset(
        self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes; `options={"reset_mask": mask}` of some worlds."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        self.parts.begin(seed, options)
        return self.parts.env.obs.to_numpy(), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Go on by one decision of each world."""
        env = self.parts.env
        found = np.asarray(actions)
        if found.shape != self.action_space.shape:
            raise dt.FieldError(
                f"env.step(actions): the shape {found.shape}; expected {self.action_space.shape}."
            )
        env.step(self.parts.accepted(found))
        obs, reward, final_obs = (x.to_numpy() for x in (env.obs, env.reward, env.final_obs))
        done, truncated = (x.to_numpy() != 0 for x in (env.done, env.truncated))
        over = done | truncated
        info = {"final_obs": final_obs, "_final_obs": over} if over.any() else {}
        return obs, reward, done, truncated, info

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Return a picture of each world, (height, width, 3)."""
        if self.render_mode is None:
            return None
        return tuple(self.parts.picture(k) for k in range(self.num_envs))


@final
class GymnasiumSingle(gymnasium.Env[Any, Any]):
    """One world.

    Args:
        env: The environment, of one world.
        render_mode: "rgb_array" or None.
    """

    def __init__(self, env: Environment, render_mode: str | None) -> None:
        self.parts = parts = _GymnasiumFace(env, render_mode)
        self.render_mode, self.metadata = render_mode, parts.metadata
        self.observation_space, self.action_space = parts.seen, parts.acts

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a new episode."""
        super().reset(seed=seed)
        self.parts.begin(seed, options)
        return self.parts.env.obs.to_numpy()[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Go on by one decision."""
        env = self.parts.env
        env.step(self.parts.accepted(action), renew=False)
        ends = bool(env.done[0]), bool(env.truncated[0])
        return env.obs.to_numpy()[0], float(env.reward[0]), *ends, {}

    def render(self) -> Any:
        """Return a picture, (height, width, 3)."""
        return None if self.render_mode is None else self.parts.picture(0)
