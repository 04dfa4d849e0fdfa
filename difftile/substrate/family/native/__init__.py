"""Kernels written for the warps of CUDA, by name, for work that the language leaves slow.

None of them has a derivative: they stand inside operations whose kernels in the language are the
meaning, run everywhere else, and are the oracle of the tests.

Shared arrays of the tasks of one kernel have one size and type: Taichi names them by the number of
their statement in the task, and arrays of one name are one array, as large as either.
"""
