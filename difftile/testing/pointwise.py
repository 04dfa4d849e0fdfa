"""Rules of funcs at many samples at once: each sample is an element of the same fields."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from difftile.testing.coordinates import Vector
from difftile.testing.evaluator import Evaluator
from difftile.testing.probing import GradientTolerance, compare
from difftile.testing.rulecheck_report import Comparison, shown
from difftile.testing.slopes import Sample

Array = npt.NDArray[np.float64]
_SIGNS = {-1.0: "< 0", 0.0: "= 0", 1.0: "> 0"}


class Pointwise:
    """The derivatives of a func at samples, by its rule and by differences.

    Args:
        evaluator: The func, mapped over the samples.
        samples: The samples by argument, along the first axis.
    """

    def __init__(self, evaluator: Evaluator, samples: Mapping[str, Array]) -> None:
        self._evaluator = evaluator
        self._samples = samples
        self._count = next((len(values) for values in samples.values()), 0)
        start = evaluator.start
        self._scales = np.where(start == 0, 1.0, np.abs(start))
        self._runs: dict[tuple[int, float], list[Array]] = {}

    def places(self) -> Iterator[tuple[str, int, npt.NDArray[np.int64]]]:
        """Yield each component of each argument, and its entries of all samples."""
        for block, where in self._evaluator.coordinates.parts():
            values = self._samples.get(block.name)
            if values is not None:
                entries = np.arange(where.start, where.stop).reshape(self._count, -1)
                for component in range(entries.shape[1]):
                    yield block.name, component, entries[:, component]

    def compare(
        self, weights: list[Array], gradient: Vector, tolerance: GradientTolerance
    ) -> Iterator[Comparison]:
        """Yield a comparison for each sample and each component of an argument.

        Args:
            weights: The adjoints of the results.
            gradient: The gradient by the rule.
            tolerance: The tolerance.
        """
        places = list(self.places())
        parts = [np.abs(gradient[e] * self._scales[e]) for _, _, e in places]
        typical = np.max(np.nan_to_num(np.array(parts), posinf=0.0), axis=0, initial=0.0)
        for number, (name, component, entries) in enumerate(places):
            for k in range(self._count):
                entry = int(entries[k])
                scale = float(self._scales[entry])
                function = self._function(number, entries, weights, k)
                base = function(0.0)
                if not math.isfinite(base.value):
                    continue
                analytic = float(gradient[entry]) * scale
                slope, verdict = compare(function, base, analytic, float(typical[k]), tolerance)
                arguments = {n: shown(values[k]) for n, values in self._samples.items()}
                yield Comparison(
                    k,
                    arguments,
                    self._signs(k),
                    ", ".join(shown(np.asarray(one[k])) for one in weights),
                    self._by(name, component),
                    analytic / scale,
                    slope.both.value / scale,
                    slope.both.error / scale,
                    verdict,
                    self._order(k),
                )

    def sums(self, entries: Vector) -> Array:
        """Return the sum of the entries of each sample."""
        return np.sum([entries[e] for _, _, e in self.places()], axis=0)

    def at(self, sample: int) -> str:
        """Return the arguments of a sample as a text."""
        return ", ".join(f"{name} = {shown(v[sample])}" for name, v in self._samples.items())

    def simplest(self, samples: npt.NDArray[np.bool_]) -> int:
        """Return the simplest of some samples."""
        return min(np.flatnonzero(samples).tolist(), key=self._order)

    def _function(
        self, number: int, entries: npt.NDArray[np.int64], weights: list[Array], sample: int
    ) -> Callable[[float], Sample]:
        """Return the weighted result of a sample as a function of a step in one component."""

        def function(step: float) -> Sample:
            outputs = self._outputs(number, entries, step)
            terms = [w[sample] * out[sample] for w, out in zip(weights, outputs, strict=True)]
            value = float(sum(np.sum(one) for one in terms))
            return Sample(value, float(sum(np.sum(np.abs(one)) for one in terms)))

        return function

    def _outputs(self, number: int, entries: npt.NDArray[np.int64], step: float) -> list[Array]:
        """Return the results of all samples after the same step in one component."""
        key = (number if step else -1, step)
        found = self._runs.get(key)
        if found is None:
            contents = self._evaluator.start.copy()
            contents[entries] += step * self._scales[entries]
            found = self._runs[key] = list(self._evaluator.outputs_at(contents).values())
        return found

    def _signs(self, sample: int) -> dict[str, str]:
        return {
            name: _SIGNS[float(np.sign(values[sample]))]
            for name, values in self._samples.items()
            if values.ndim == 1
        }

    def _by(self, name: str, component: int) -> str:
        shape = self._samples[name].shape[1:]
        if not shape:
            return name
        return f"{name}[{', '.join(str(int(k)) for k in np.unravel_index(component, shape))}]"

    def _order(self, sample: int) -> float:
        """Return the complexity of the arguments: their distance from one, in powers of ten."""
        parts = np.concatenate([np.ravel(values[sample]) for values in self._samples.values()])
        sizes = np.where(parts == 0, 1e-3, np.abs(parts))
        plain = np.sum(np.abs(np.log10(sizes))) + 0.1 * np.sum(parts < 0)
        return float(plain + 0.5 * np.sum(parts != np.round(parts, 3)))
