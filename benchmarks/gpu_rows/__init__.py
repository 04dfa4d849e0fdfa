"""The parts of `benchmarks.gpu`: rows with their targets, who runs them, clocks, and tables."""
