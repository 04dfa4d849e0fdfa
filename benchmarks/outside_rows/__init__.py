"""The programs that `benchmarks.outside` times, and what it prints of them."""
