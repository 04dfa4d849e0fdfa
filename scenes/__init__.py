"""What demos, tests and benchmarks share: frozen dataclasses of NumPy arrays in SI units."""
