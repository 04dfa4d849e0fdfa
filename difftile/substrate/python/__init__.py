"""Programs run by Python itself: no compiler, no threads, and breakpoints in kernels."""
