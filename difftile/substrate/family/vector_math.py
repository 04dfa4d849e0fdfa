"""Functions that loops compute as vectors: straight lines of arithmetic, without calls.

Errors are below 2 units in the last place in both precisions, for all arguments: subnormal numbers,
zeros of both signs, infinities and NaN included, with fast math and without. Only sines, cosines
and tangents have a limit, from which on their results mean nothing. Results below the smallest
normal number are flushed to 0 where the processor is set to do that.
"""

from difftile.substrate.family.vector_erf import erf, erfc
from difftile.substrate.family.vector_exp import exp, exp2, expm1, log1pexp, sigmoid, tanh
from difftile.substrate.family.vector_inverse import acos, asin, atan, atan2, rsqrt
from difftile.substrate.family.vector_log import log, log1p, log2, log10, logit
from difftile.substrate.family.vector_pow import pow
from difftile.substrate.family.vector_trig import cos, sin, tan

__all__ = [
    "acos",
    "asin",
    "atan",
    "atan2",
    "cos",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "log1pexp",
    "log2",
    "log10",
    "logit",
    "pow",
    "rsqrt",
    "sigmoid",
    "sin",
    "tan",
    "tanh",
]
