"""The report of `dt.check_rule` and its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import GradientMismatch, Label, counted, render
from difftile.markup import html_block, html_text
from difftile.testing.gradcheck_report import Verdict, table

_ROWS = 6
_JUDGED = (Verdict.RIGHT, Verdict.WRONG)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A derivative by a rule and by differences.

    Args:
        sample: The index of the sample.
        arguments: The arguments as text, by name.
        signs: The sign of each scalar argument, as text.
        d_out: The adjoint of the result.
        by: The differentiated argument, or component of one.
        analytic: The derivative by the rule.
        numeric: The derivative by differences.
        error: The estimated error of the numeric value.
        verdict: The verdict.
        order: The complexity of the arguments; the simplest ones are shown.
    """

    sample: int
    arguments: Mapping[str, str]
    signs: Mapping[str, str]
    d_out: str
    by: str
    analytic: float
    numeric: float
    error: float
    verdict: Verdict
    order: float

    @property
    def difference(self) -> float:
        """The difference of both values, relative to the larger one."""
        larger = max(abs(self.analytic), abs(self.numeric))
        return abs(self.analytic - self.numeric) / larger if 0 < larger < np.inf else np.inf


@dataclass(frozen=True, slots=True, repr=False)
class RuleCheck:
    """The result of `dt.check_rule`: true if the rule passed, and readable as text.

    Args:
        subject: The func, kernel or op with the rule.
        label: The source of the rule.
        approximate: Whether the rule is approximate by design.
        comparisons: All derivatives that were compared.
        faults: Further faults, in words.
    """

    subject: str
    label: Label | None
    approximate: bool
    comparisons: tuple[Comparison, ...]
    faults: tuple[str, ...]

    @property
    def wrong(self) -> tuple[Comparison, ...]:
        """The wrong derivatives, at the simplest arguments first."""
        found = [one for one in self.comparisons if one.verdict is Verdict.WRONG]
        return tuple(sorted(found, key=lambda one: one.order))

    @property
    def passed(self) -> bool:
        """Whether some derivatives are right and none is wrong, or the rule is approximate."""
        right = any(one.verdict is Verdict.RIGHT for one in self.comparisons)
        return self.approximate or (right and not self.wrong and not self.faults)

    def __bool__(self) -> bool:
        return self.passed

    def raise_if_failed(self) -> RuleCheck:
        """Return the result.

        Raises:
            GradientMismatch: The rule did not pass; its text is this report.
        """
        if not self.passed:
            raise GradientMismatch(str(self))
        return self

    def __str__(self) -> str:
        labels = [] if self.label is None else [self.label]
        head = render(f"check_rule of {self.subject}: {self._title()}", labels, (), None)
        return "\n".join((head, *(f"  {line}" for line in self._lines())))

    def __repr__(self) -> str:
        return f"<check_rule of {self.subject}: {self._title()}>"

    def _repr_html_(self) -> str:
        title, _, rest = str(self).partition("\n")
        return html_block(title, html_text(rest) if rest else "")

    def _title(self) -> str:
        right = sum(one.verdict is Verdict.RIGHT for one in self.comparisons)
        if self.approximate:
            return "approximate by design"
        if not self.passed:
            return "wrong" if self.wrong or self.faults else "nothing could be verified"
        return f"passed, {right} of {counted(len(self.comparisons), 'derivative')} verified"

    def _lines(self) -> Iterator[str]:
        if self.wrong:
            yield self._summary()
            rows = [
                (
                    ", ".join(f"{name} = {text}" for name, text in one.arguments.items()),
                    one.d_out,
                    one.by,
                    f"{one.analytic:.8g}",
                    f"{one.numeric:.8g}",
                )
                for one in self._shown()
            ]
            head = ("at", "d_out", "by", "rule", "differences")
            yield from (f"  {line}" for line in table([head, *rows]))
        for fault in self.faults:
            yield from fault.splitlines()

    def _summary(self) -> str:
        compared = {one.sample for one in self.comparisons if one.verdict in _JUDGED}
        wrong = {one.sample for one in self.wrong}
        text = (
            f"The rule is not the derivative at {len(wrong)} of {counted(len(compared), 'sample')}"
        )
        if not all(one.arguments for one in self.wrong):
            total = len(self.comparisons)
            text = f"The rule is not the derivative: {len(self.wrong)} of {total} values differ"
        if self.approximate:
            return f"{text}: it differs by up to {max(one.difference for one in self.wrong):.0%}."
        by_sign: dict[tuple[str, str], set[int]] = {}
        for one in self.comparisons:
            for item in one.signs.items() if one.verdict in _JUDGED else ():
                by_sign.setdefault(item, set()).add(one.sample)
        where = [
            f"all {len(some)} with {name} {sign}"
            for (name, sign), some in by_sign.items()
            if some <= wrong and 1 < len(some) < len(wrong | compared)
        ]
        if wrong == compared or not where:
            return f"{text}."
        return f"{text}: at {', '.join(where)}."

    def _shown(self) -> list[Comparison]:
        """Return wrong derivatives of all kinds: for each argument and each sign."""
        found: dict[object, Comparison] = {}
        for one in self.wrong:
            found.setdefault((one.by, tuple(one.signs.items())), one)
        return sorted(found.values(), key=lambda one: one.order)[:_ROWS]


def shown(values: npt.NDArray[np.float64]) -> str:
    """Return numbers as text: `0.5`, `(1, 2)`."""
    if values.ndim == 0:
        return f"{float(values):.6g}"
    return f"({', '.join(shown(np.asarray(part)) for part in values)})"
