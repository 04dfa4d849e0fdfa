"""The same programs as their peers would write them."""
