"""Random programs of repeated launches, fused and unfused; `tests/run_programs.py` runs more."""

from __future__ import annotations

from unittest import mock

from tests.fusing import FORMS
from tests.run_actions import Launch
from tests.run_programs import SAME_PERIODS, draw, observe, run


def test_fused_programs_show_what_unfused_ones_show() -> None:
    said: list[str] = []
    numbers = [k + SAME_PERIODS * form for form in range(len(FORMS)) for k in range(4)]
    assert not run(numbers, said.append), "\n".join(said)


def test_a_lost_launch_is_seen() -> None:
    launch, seen, lost = Launch.run, 0, 0
    for number in range(10_000, 10_020):
        count = 0

        def lose_one(self: Launch, world: object) -> None:
            nonlocal count
            count += 1
            if count != 5:
                launch(self, world)  # type: ignore[arg-type]

        wanted = observe(draw(number), False)
        with mock.patch.object(Launch, "run", lose_one):
            found = observe(draw(number), False)
        lost += count >= 5
        seen += count >= 5 and repr(wanted) != repr(found)
    assert seen >= 0.7 * lost > 10  # the others overwrite what they wrote with the same
