"""Kernels written for the warps of CUDA, by name, for work that the language leaves slow.

None of them has a derivative: they stand inside operations whose kernels in the language are the
meaning, run everywhere else, and are the oracle of the tests.
"""
