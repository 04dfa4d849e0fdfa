"""From a function and the types of its arguments to stages of compiled code."""
