"""Code shared by the demos: arguments and pictures."""
