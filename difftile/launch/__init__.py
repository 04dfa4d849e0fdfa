"""From a function and arguments to compiled stages, and what launching them takes."""
