"""Checking gradients: adjoints against differences, rules against what they belong to."""
