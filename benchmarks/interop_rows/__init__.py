"""The rows of `benchmarks.interop`: one module for each kind of bridge, with a table `ROWS`."""
