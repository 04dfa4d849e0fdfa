"""The rows of `benchmarks.substrates`."""
