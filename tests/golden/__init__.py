"""Golden texts: what the compiler makes of a few kernels, read by people and compared by a test."""
