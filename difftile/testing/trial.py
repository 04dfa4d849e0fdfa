"""A subject on copies: its gradient, and its outputs as a function of its fields."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import GradientCut, LaunchError
from difftile.fields.values import Values
from difftile.ir.types import is_float
from difftile.launch.random import STREAMS
from difftile.substrate.report import silence
from difftile.tape.counts import REPLAYS
from difftile.tape.tape import Tape
from difftile.testing.coordinates import Coordinates, Vector, leaf_of
from difftile.testing.doubles import Doubles
from difftile.testing.outputs import outputs_named, outputs_written
from difftile.testing.slopes import Sample
from difftile.testing.subject import Subject, leaves
from difftile.testing.watch import watching

_REPEATABLE = 1e-9


class Trial:
    """A subject on copies: its gradient, and its outputs as a function of its fields.

    Args:
        subject: What is checked.
        doubles: The copies, none so far.
        outputs: What the user asked for.
        memory: The limit of the tape.
        rng: Draws the weights of the outputs.
    """

    def __init__(
        self,
        subject: Subject,
        doubles: Doubles,
        outputs: Any,
        memory: str | int | None,
        rng: np.random.Generator,
    ) -> None:
        self._subject = subject
        self._doubles = doubles
        self._asked = outputs
        self._memory = memory
        self._given = [
            leaf for name, value in subject.arguments.items() for leaf in leaves(name, value)
        ]
        self._discover()
        self._attach_gradients()
        self.skipped: dict[str, str] = {}
        self.notes: tuple[str, ...] = ()
        self.output_names: list[str] = []
        self.weighted = True
        self.coordinates = self._choose()
        self._start = self.coordinates.read()
        with silence():
            self.gradient = self._differentiate(rng)
            self.base = self._sample(self._start)
        self._check_base()

    # The copies

    def _discover(self) -> None:
        """Run once, to see which fields are touched; let copies in double stand in for them."""
        self._doubles.take((n, v.base) for n, v in self._given if isinstance(v, Values))
        if self._subject.is_launch:
            self._doubles.widen()  # a launch takes fields of several types: nothing need match
        with STREAMS.given_back(), watching(self._doubles):
            result = self._subject.run()
        asked = self._named_outputs(result) or {}
        self._doubles.take((name, value.base) for name, value in asked.items())
        for value in asked.values():
            self._doubles.of(value.base).is_output = True
        del result, asked
        self._doubles.widen()

    def _attach_gradients(self) -> None:
        """Give gradients to outputs that have none; and to all fields if none has one."""
        floats = [s for s in self._doubles if is_float(s.element) and not s.is_gradient]
        none = not any(one.has_grads for one in floats)
        for one in floats:
            if not one.has_grads and (none or one.is_output):
                self._doubles.attach_gradient(one)

    def _choose(self) -> Coordinates:
        """Return the entries that the gradient is taken by; note what is skipped."""
        chosen: list[tuple[str, Values]] = []
        for given, value in self._given:
            if not isinstance(value, Values):
                if isinstance(value, (int, float)) and not isinstance(value, bool):
                    self.skipped[given] = "number"
                continue
            one = self._doubles.of(value.base)
            name = given or one.name
            if not is_float(value.element):
                self.skipped[name] = "integers"
            elif one.written and not one.read:
                continue  # what it held before is of no account
            elif not value.has_grads or value.grad_out is None:
                self.skipped[name] = "no gradient"
            elif self._subject.is_launch and not one.read:
                self.skipped[name] = "never read"
            else:
                chosen.append((name, value))
        if self._subject.takes_all:
            given = {value.base.storage for _, value in self._given if isinstance(value, Values)}
            for one in self._doubles:
                if one.storage in given:
                    continue
                if one.read and one.has_grads and not one.is_gradient and one.field is not None:
                    chosen.append((one.name, one.field))
        taken: dict[int, npt.NDArray[np.bool_]] = {}
        return Coordinates(leaf_of(name, value, taken) for name, value in chosen)

    def _reset(self, contents: Vector) -> None:
        for one in self._doubles:
            if one.written:
                one.reset()
        self.coordinates.write(contents)

    # Values and gradient

    def _outputs(self, result: Any) -> dict[str, Values]:
        named = self._named_outputs(result)
        return outputs_written(self._doubles) if named is None else named

    def _named_outputs(self, result: Any) -> dict[str, Values] | None:
        return outputs_named(self._subject, self._asked, result, self._doubles)

    def _run(self, contents: Vector) -> dict[str, Values]:
        self._reset(contents)
        with STREAMS.given_back():
            return self._outputs(self._subject.run())

    def _sample(self, contents: Vector) -> Sample:
        """Return the weighted sum of the outputs."""
        outputs = self._run(contents)
        value = size = 0.0
        for weights, output in zip(self._weights, outputs.values(), strict=True):
            terms = weights * output.to_numpy()
            value += float(np.sum(terms))
            size += float(np.sum(np.abs(terms)))
        return Sample(value, size)

    def function_along(self, direction: Vector) -> Callable[[float], Sample]:
        """Return the outputs as a function of the step along a direction."""

        def function(step: float) -> Sample:
            with silence(), np.errstate(all="ignore"):
                return self._sample(self._start + step * direction)

        return function

    def _differentiate(self, rng: np.random.Generator) -> Vector:
        """Run on a tape and return the gradient; draw the weights of the outputs."""
        passes = REPLAYS.count
        tape = Tape(accumulate=True, memory=self._memory)
        with self._noting_cuts(), tape:
            outputs = self._run(self._start)
        if not outputs:
            raise LaunchError(
                f"gradcheck(): {self._subject.title} writes no field with a gradient; give it "
                "one that has, or name the output: gradcheck(f, fields, outputs=loss)."
            )
        self.output_names = list(outputs)
        self.weighted = sum(output.to_numpy().size for output in outputs.values()) > 1
        self._weights = _weights(list(outputs.values()), rng)
        written = {field.storage for field in tape.written}
        seeds: dict[Values, Any] = {
            output: weight
            for output, weight in zip(outputs.values(), self._weights, strict=True)
            if output.base.storage in written
        }
        self._tape_value = sum(
            float(np.sum(weight * output.to_numpy()))
            for output, weight in zip(outputs.values(), self._weights, strict=True)
        )
        if seeds:
            tape.backward(seeds)
        tape.release()
        REPLAYS.count = passes
        return self.coordinates.gradient()

    @contextmanager
    def _noting_cuts(self) -> Generator[None]:
        """Keep what warns that a gradient is cut; other warnings are shown as ever."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", GradientCut)
            yield
        texts = [str(one.message) for one in caught if one.category is GradientCut]
        self.notes = tuple(dict.fromkeys(texts))
        for one in caught:
            if one.category is not GradientCut:
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)

    def _check_base(self) -> None:
        """Check that there is something to compare.

        Raises:
            LaunchError: Outputs are not finite, or differ from one run to the next.
        """
        if not np.isfinite(self.base.value):
            raise LaunchError(
                f"gradcheck(): outputs of {self._subject.title} hold values that are not finite."
            )
        if abs(self.base.value - self._tape_value) > _REPEATABLE * self.base.size:
            raise LaunchError(
                f"gradcheck(): {self._subject.title} gives other results when it runs again: "
                f"{self._tape_value:.9g}, then {self.base.value:.9g}. Draw from a generator that "
                "it makes itself, and set fields that it adds to in the function."
            )


def _weights(outputs: list[Values], rng: np.random.Generator) -> list[npt.NDArray[np.float64]]:
    """Draw the weights of outputs; where there are several, each counts alike."""
    found: list[npt.NDArray[np.float64]] = []
    for output in outputs:
        values = output.to_numpy()
        drawn = rng.uniform(0.5, 1.5, values.shape) * rng.choice((-1.0, 1.0), values.shape)
        if len(outputs) == 1 and values.size == 1:
            drawn = np.ones(values.shape)
        elif len(outputs) > 1:
            typical = float(np.sqrt(np.mean(values**2)))
            drawn = drawn / (typical or 1.0) if np.isfinite(typical) else drawn
        found.append(drawn)
    return found
