"""Data shared by demos, tests and benchmarks: frozen dataclasses of NumPy arrays in SI units."""
