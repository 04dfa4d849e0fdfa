"""Questions about statements of programs."""

from __future__ import annotations

import pytest

from difftile.ir.facts import has_effects
from difftile.ir.parse import parse

RULED = """\
program f(x: field<f32, 1>, y: field<f32, 1>, n: i32)
  a: f32 = x[n]
  b = ruled 'kept'(a):
{body}    c: f32 = mul(a, a)
    yield c
  backward(b_bar: f32):
{rule}    yield b_bar
"""


@pytest.mark.parametrize("effect", ["    y[n] += a\n", "    x[n] = a\n", "    print a\n"])
def test_effects_of_a_rule_are_none_of_the_call(effect: str) -> None:
    for body, rule in (("", ""), ("", effect), (effect, ""), (effect, effect)):
        assert has_effects(parse(RULED.format(body=body, rule=rule)).body) == bool(body)
