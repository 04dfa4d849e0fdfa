"""Fields beside the arrays, ops and optimisers of NumPy, PyTorch, JAX and SciPy.

A file that needs a package begins with `pytest.importorskip`, so that it is skipped with the
reason where the package is missing.
"""
