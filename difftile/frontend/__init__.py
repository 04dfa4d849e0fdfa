"""Python functions to typed programs."""
