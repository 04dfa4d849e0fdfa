"""The programs of `benchmarks.first_gradient`, each imported only in the processes that measure it.

A module of difftile has a function `run`, which returns the fields of the value and of the
gradients. It takes what `quick` stands for: smaller sizes.
"""
