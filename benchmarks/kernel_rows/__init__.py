"""The parts of `benchmarks.kernels`: kernels with their arguments, who runs them, and tables."""
