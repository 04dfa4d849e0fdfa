"""Golden texts: the compiled form of a few kernels, read by people and compared by a test."""
