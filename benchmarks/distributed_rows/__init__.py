"""The programs that `benchmarks.distributed` measures on ranks, and exchanges by hand."""
