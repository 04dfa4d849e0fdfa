"""Recording launches and replaying them in reverse."""
