"""Evaluation of a subject on copies: its outputs as a function of its fields, and its gradient."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import GradientCut, LaunchError, RankError, TapeError
from difftile.fields.array_like import ArrayLike
from difftile.fields.derived import DerivedField
from difftile.fields.gradients import zero_grads
from difftile.ir.types import is_float
from difftile.launch.streams import STREAMS
from difftile.ranks import current
from difftile.recording.tapes import TAPES
from difftile.runtime.tape import Tape
from difftile.substrate import silence
from difftile.testing.chosen_outputs import outputs_named, outputs_written
from difftile.testing.coordinates import Coordinates, Vector, block_of
from difftile.testing.shadow_fields import ShadowField, ShadowFields
from difftile.testing.slopes import Sample
from difftile.testing.subject import Subject, held, leaves
from difftile.testing.watch import watching

Array = npt.NDArray[Any]
_REPEATABLE = 1e-9
# Reasons why a field is not checked, and the message if the field was requested.
_REFUSED = {
    "integers": "it holds integers, which have no derivative.",
    "no gradient": "it has no gradient; create it with grad=True, or use x = x.with_grads().",
    "follows from other fields": "it follows from other fields; request those instead.",
    "never read": "{} never reads it.",
    "not used": "{} does not use it.",
}


class Evaluator:
    """Evaluates a subject on copies: its outputs as a function of its fields, and its gradient.

    Args:
        subject: The function to check.
        shadows: The copies, empty at first.
        outputs: The outputs that the user requested.
        memory: The memory limit of the tape.
        rng: Draws the weights of the outputs.
        finite: Refuse outputs that are not finite.
    """

    def __init__(
        self,
        subject: Subject,
        shadows: ShadowFields,
        outputs: Any,
        memory: str | int | None,
        rng: np.random.Generator,
        *,
        finite: bool = True,
    ) -> None:
        self._subject = subject
        self._shadows = shadows
        self._asked = outputs
        self._memory = memory
        self._finite = finite
        self._given = [
            leaf for name, value in subject.arguments.items() for leaf in leaves(name, value)
        ]
        self._held: list[tuple[str, ArrayLike]] = []
        if not subject.takes_all:
            self._held = [leaf for name, value in self._given for leaf in held(name, value)]
        self.skipped: dict[str, str] = {}
        self.notes: tuple[str, ...] = ()
        self._discover()
        self._attach_gradients()
        self.coordinates = self._choose()
        self.start = self.coordinates.read()
        for block, where in self.coordinates.parts():
            count = int(np.sum(~np.isfinite(self.start[where])))
            if count:
                entries = "entry is" if count == 1 else "entries are"
                text = f"{count} {entries} not finite in '{block.name}', and not checked."
                self.notes = (*self.notes, text)
        with silence():
            self._first = self._check_outputs(self.outputs_at(self.start))
            self.weights = _weights(list(self._first.values()), rng)
            self.gradient = self.pull(self.weights)
        self.base = self._sum(self._first, self.weights)

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        return list(self._first)

    @property
    def weighted(self) -> bool:
        """Whether there is more than one output number."""
        return sum(values.size for values in self._first.values()) > 1

    # The copies

    def _discover(self) -> None:
        """Run once to find the used fields; replace them by copies in double precision."""
        self._shadows.take((n, v.base) for n, v in self._given if isinstance(v, ArrayLike))
        self._shadows.take((name, value.base) for name, value in self._held)
        if self._subject.is_launch:
            self._shadows.widen()  # a launch takes fields of any float types
        waiting = current().waiting
        before = waiting.begun
        with STREAMS.given_back(), watching(self._shadows) as watch:
            try:
                result = self._subject.run()
            except TapeError as error:
                raise TapeError(
                    f"gradcheck() opens a tape for {self._subject.title}, which must open no tape "
                    f"and not call backward() itself: {error}"
                ) from error
        if current().size > 1 and waiting.begun > before:
            raise RankError(
                f"gradcheck(): {self._subject.title} communicates with other ranks, and how often "
                "a check runs it depends on the numbers of this rank. Check it on one rank, by the "
                "same program without a launcher, where exchanges and sums are the same steps."
            )
        self.notes = tuple(watch.notes)
        self._touched = watch.touched
        asked = self._named_outputs(result) or {}
        self._shadows.take((name, value.base) for name, value in asked.items())
        for value in asked.values():
            self._shadows.of(value.base).is_output = True
        del result, asked
        self._shadows.widen()
        for one in self._shadows:
            # Old results would hide a rule that mistakes them for the results of this run.
            pure_output = one.written and one.storage not in watch.used and not one.is_scratch
            one.spoiled = pure_output and is_float(one.element) and not one.is_gradient
            if one.spoiled:
                one.reset()
        self._shadows.name_apart(self._subject.names())

    def _attach_gradients(self) -> None:
        """Give gradients to outputs without one, and to all fields if no field has one."""
        floats = [s for s in self._shadows if is_float(s.element) and not s.is_gradient]
        none = not any(one.has_grads and not one.is_scratch for one in floats)
        for one in floats:
            if not one.has_grads and (none or one.is_output):
                self._shadows.attach_gradient(one)

    def _choose(self) -> Coordinates:
        """Return the coordinates of the gradient; note the skipped fields.

        Raises:
            LaunchError: A requested field cannot be checked.
        """
        chosen: list[tuple[str, ArrayLike]] = []
        for given, value in self._given:
            if not isinstance(value, ArrayLike):
                self._skip_object(given, value)
                continue
            one = self._shadows.of(value.base)
            name = given or one.name
            reason = self._why_not(one, value)
            if one.written and not one.read and not self._subject.each and reason != "integers":
                continue  # its former contents do not matter
            if not reason:
                chosen.append((name, value))
                continue
            if self._subject.each and (reason != "integers" or given in self._subject.arguments):
                raise LaunchError(
                    f"gradcheck(): '{name}' was requested but cannot be checked: "
                    f"{_REFUSED[reason].format(self._subject.title)}"
                )
            self.skipped[name] = reason
        known = {value.base.storage for _, value in self._given if isinstance(value, ArrayLike)}
        for name, value in self._held:
            one = self._shadows.find(value.base)
            if one is None or one.storage in known or one.storage not in self._touched:
                continue
            known.add(one.storage)
            reason = self._why_not(one, value)
            if reason:
                self.skipped[name] = reason
            elif not one.is_scratch and (one.read or not one.written):
                chosen.append((name, value))
        if self._subject.takes_all:
            chosen += [
                (one.name, one.field)
                for one in self._shadows
                if one.storage not in known
                and one.read
                and one.is_parameter
                and one.field is not None
            ]
        taken: dict[int, npt.NDArray[np.bool_]] = {}
        return Coordinates(block_of(name, value, taken) for name, value in chosen)

    def _why_not(self, one: ShadowField, value: ArrayLike) -> str:
        """Return the reason why a field is not checked, a key of `_REFUSED`, or ''."""
        if not is_float(value.element):
            return "integers"
        if not value.has_grads or value.grad_out is None:
            return "no gradient"
        if isinstance(value.base, DerivedField):
            return "follows from other fields"
        if self._subject.is_launch:
            return "" if one.read else "never read"
        return "" if one.storage in self._touched else "not used"

    def _skip_object(self, name: str, value: Any) -> None:
        """Note that an argument is not a field.

        Raises:
            LaunchError: The argument was requested, but holds no field.
        """
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            self.skipped[name] = "number"
        if self._subject.each and not held(name, value):
            raise LaunchError(
                f"gradcheck(): {value!r} was requested, but it is not a field and holds none."
            )

    def _reset(self, contents: Vector) -> None:
        for one in self._shadows:
            if one.written:
                one.reset()
        self.coordinates.write(contents)

    # Outputs and gradient

    def _outputs(self, result: Any) -> dict[str, ArrayLike]:
        named = self._named_outputs(result)
        return outputs_written(self._shadows) if named is None else named

    def _named_outputs(self, result: Any) -> dict[str, ArrayLike] | None:
        return outputs_named(self._subject, self._asked, result, self._shadows)

    def _run(self, contents: Vector) -> dict[str, ArrayLike]:
        self._reset(contents)
        with STREAMS.given_back():
            return self._outputs(self._subject.run())

    def outputs_at(self, contents: Vector) -> dict[str, Array]:
        """Return the contents of the outputs for some contents of the fields."""
        with silence(), np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the first run has shown them
            return {name: one.to_numpy() for name, one in self._run(contents).items()}

    def _sum(self, outputs: Mapping[str, Array], weights: Sequence[Array]) -> Sample:
        value = size = 0.0
        for factors, output in zip(weights, outputs.values(), strict=True):
            terms = factors * output
            value += float(np.sum(terms))
            size += float(np.sum(np.abs(terms)))
        return Sample(value, size)

    def push(self, tangents: Vector) -> list[Array]:
        """Return the tangents of the outputs for some tangents of the fields.

        Only for a subject with `push`.
        """
        self._clear_gradients()
        self._reset(self.start)
        self.coordinates.write_gradient(tangents)
        assert self._subject.push is not None
        with silence(), STREAMS.given_back():
            self._subject.push()
        outputs = self._outputs(None)
        return [one.grad_in.to_numpy() for one in outputs.values() if one.grad_in is not None]

    def along(self, direction: Vector) -> Callable[[float], Sample]:
        """Return the weighted sum of the outputs as a function of the step along a direction."""
        return lambda step: self._sum(self.outputs_at(self.start + step * direction), self.weights)

    def pull(self, weights: Sequence[Array]) -> Vector:
        """Return the gradient for some adjoints of the outputs, by a tape.

        Raises:
            LaunchError: The outputs on the tape differ from the first run.
        """
        self._clear_gradients()
        passes = TAPES.replays
        tape = Tape(accumulate=True, memory=self._memory)
        with silence(), self._noting_cuts(), tape:
            outputs = self._run(self.start)
        try:
            for name, output in outputs.items():
                self._check_same(name, self._first[name], output.to_numpy())
            written = {field.storage for field in tape.written}
            seeds: dict[ArrayLike, Any] = {
                output: weight
                for output, weight in zip(outputs.values(), weights, strict=True)
                if output.base.storage in written
            }
            with silence():
                if seeds:
                    tape.backward(seeds)
        finally:
            tape.release()
            TAPES.replays = passes
        return self.coordinates.gradient()

    def _clear_gradients(self) -> None:
        for one in self._shadows:
            if one.is_gradient:
                one.storage.buffer.fill(0.0)
            elif one.field is not None and one.has_grads:
                zero_grads(one.field)

    @contextmanager
    def _noting_cuts(self) -> Generator[None]:
        """Record warnings of cut gradients; the first run has shown all others."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", GradientCut)
            yield
        texts = [str(one.message) for one in caught if one.category is GradientCut]
        self.notes = tuple(dict.fromkeys((*self.notes, *texts)))

    def _check_outputs(self, outputs: dict[str, Array]) -> dict[str, Array]:
        """Return outputs that can be differentiated.

        Raises:
            LaunchError: There are no outputs, or their values are not finite.
        """
        if not outputs:
            raise LaunchError(
                f"gradcheck(): {self._subject.title} writes no field with a gradient; pass one, or "
                "name the output: gradcheck(f, fields, outputs=loss)."
            )
        for name, values in outputs.items():
            if self._finite and not np.all(np.isfinite(values)):
                raise LaunchError(
                    f"gradcheck(): output '{name}' of {self._subject.title} holds values that are "
                    "not finite."
                )
        return outputs

    def _check_same(self, name: str, first: Array, again: Array) -> None:
        """Check that two runs agree.

        Raises:
            LaunchError: They do not.
        """
        if np.allclose(first, again, rtol=_REPEATABLE, atol=0.0, equal_nan=True):
            return
        worst = np.unravel_index(np.argmax(np.abs(first - again)), first.shape)
        raise LaunchError(
            f"gradcheck(): {self._subject.title} gives different results when it runs again: in "
            f"'{name}' {first[worst]:.9g}, then {again[worst]:.9g}. Create random generators, and "
            "reset fields that are accumulated into, inside the function."
        )


def _weights(outputs: Sequence[Array], rng: np.random.Generator) -> list[Array]:
    """Draw the weights of outputs, normalised so that several outputs count equally."""
    found: list[Array] = []
    for values in outputs:
        drawn = rng.uniform(0.5, 1.5, values.shape) * rng.choice((-1.0, 1.0), values.shape)
        if len(outputs) == 1 and values.size == 1:
            drawn = np.ones(values.shape)
        elif len(outputs) > 1:
            typical = float(np.sqrt(np.mean(values**2)))
            drawn = drawn / typical if typical and math.isfinite(typical) else drawn
        found.append(drawn)
    return found
